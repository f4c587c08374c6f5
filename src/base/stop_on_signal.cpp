// SPDX-License-Identifier: Apache-2.0
#include "base/stop_on_signal.hpp"

#include <chrono>
#include <csignal>
#include <thread>

namespace txsync::base {
namespace {

volatile std::sig_atomic_t stop_asked = 0;  // the signal

void ask_to_stop(int signal) {
  stop_asked = signal;
  // The second signal ends the program. A terminal that is closed may send two at once.
  if (signal != SIGHUP) std::signal(signal, SIG_DFL);
}

}  // namespace

stop_on_signal::stop_on_signal() {
  stop_asked = 0;
  interrupt_ = std::signal(SIGINT, ask_to_stop);
  terminate_ = std::signal(SIGTERM, ask_to_stop);
  hang_up_ = std::signal(SIGHUP, SIG_IGN);
  if (hang_up_ != SIG_IGN) std::signal(SIGHUP, ask_to_stop);
}

stop_on_signal::~stop_on_signal() {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
  std::signal(SIGHUP, hang_up_);
}

bool stop_on_signal::asked() noexcept { return stop_asked != 0; }

int stop_on_signal::status() noexcept { return asked() ? 128 + stop_asked : 0; }

bool stop_on_signal::handles(int signal) noexcept { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

bool stop_on_signal::asked_soon() noexcept {
  constexpr unsigned looks = 100;
  constexpr std::chrono::milliseconds look_distance{1};
  for (unsigned i = 0; i < looks && !asked(); ++i) std::this_thread::sleep_for(look_distance);
  return asked();
}

}  // namespace txsync::base
