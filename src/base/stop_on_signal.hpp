// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace txsync::base {

/// While it lives, SIGINT and SIGTERM only set a flag: asked() becomes true. A second signal ends the program. At most
/// one object at a time.
class stop_on_signal {
 public:
  stop_on_signal();
  stop_on_signal(const stop_on_signal&) = delete;
  stop_on_signal& operator=(const stop_on_signal&) = delete;
  ~stop_on_signal();

  static bool asked() noexcept;
  /// For a child that a signal has ended. The signal may be for this process, too, and arrive a moment later: waits up
  /// to 0.1 s.
  static bool asked_soon() noexcept;

 private:
  void (*interrupt_)(int);
  void (*terminate_)(int);
};

}  // namespace txsync::base
