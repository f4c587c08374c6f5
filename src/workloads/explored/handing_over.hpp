// SPDX-License-Identifier: Apache-2.0
// A hand-over by a mutex and a condition variable, for explorations.
#pragma once

#include <cstdint>
#include <mutex>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::workloads {

enum class telling : std::uint8_t { one, all };

/// A place for one thing: thread 0 puts, the others take. With several takers a notification may meet the wrong one, so
/// that all are told.
template <class Lock, class Condition, unsigned threads, unsigned takes, telling how>
struct handing_test {
  Lock lock{};
  Condition changed{};
  bool full = false;
  std::uint64_t taken = 0;

  void tell() noexcept { how == telling::one ? changed.notify_one() : changed.notify_all(); }
  void change(bool to) {
    std::unique_lock held(lock);
    changed.wait(held, [&] { return full != to; });
    full = to;
    if (!to) ++taken;
    tell();
  }
  static void body(handing_test& me, unsigned index) {
    const unsigned changes = index == 0 ? takes * (threads - 1) : takes;
    for (unsigned i = 0; i < changes; ++i) me.change(index == 0);
  }
  const char* check() const { return taken != std::uint64_t{takes} * (threads - 1) ? "a hand-over was lost" : nullptr; }
};

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
