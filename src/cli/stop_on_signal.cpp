// SPDX-License-Identifier: Apache-2.0
#include "cli/stop_on_signal.hpp"

#include <csignal>

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

void ask_to_stop(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);  // the second time is not a question
}

}  // namespace

stop_on_signal::stop_on_signal() {
  stop_asked = 0;
  interrupt_ = std::signal(SIGINT, ask_to_stop);
  terminate_ = std::signal(SIGTERM, ask_to_stop);
}

stop_on_signal::~stop_on_signal() {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
}

bool stop_on_signal::asked() noexcept { return stop_asked != 0; }

}  // namespace txsync::inline TXSYNC_BACKEND::cli
