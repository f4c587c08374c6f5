// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace txsync::base {

/// While it lives, SIGINT, SIGTERM and SIGHUP only set a flag: asked() becomes true. A second signal ends the program.
/// SIGHUP stays ignored if it was (nohup). At most one object at a time.
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
  /// The exit status of a program that the signal has stopped, as shells have it: 130 after SIGINT. 0 if none came.
  static int status() noexcept;
  /// Whether it is one of these signals. A terminal sends them to a child, too.
  static bool handles(int signal) noexcept;

 private:
  void (*interrupt_)(int);
  void (*terminate_)(int);
  void (*hang_up_)(int);
};

}  // namespace txsync::base
