// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::cli {

/// While it lives, SIGINT and SIGTERM are questions: asked() becomes true. A second one ends the program. At most one
/// at a time.
class stop_on_signal {
 public:
  stop_on_signal();
  stop_on_signal(const stop_on_signal&) = delete;
  stop_on_signal& operator=(const stop_on_signal&) = delete;
  ~stop_on_signal();

  static bool asked() noexcept;

 private:
  void (*interrupt_)(int);
  void (*terminate_)(int);
};

}  // namespace txsync::inline TXSYNC_BACKEND::cli
