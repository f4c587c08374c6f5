// SPDX-License-Identifier: Apache-2.0
// Waits with any mutex and condition variable, for explorations.
#pragma once

#include <cstdint>
#include <mutex>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

enum class telling : std::uint8_t { one, all };

/// A place for one thing: thread 0 puts, the others take. With several takers a notification may reach the wrong one,
/// so all are notified.
template <class Lock, class Condition, unsigned threads, unsigned takes, telling how,
          class Held = std::unique_lock<Lock>>
struct handing_test {
  Lock lock{};
  Condition changed{};
  bool full = false;
  std::uint64_t taken = 0;

  void notify() noexcept { how == telling::one ? changed.notify_one() : changed.notify_all(); }
  void change(bool to) {
    Held held(lock);
    changed.wait(held, [&] { return full != to; });
    full = to;
    if (!to) ++taken;
    notify();
  }
  static void body(handing_test& me, unsigned index) {
    const unsigned changes = index == 0 ? takes * (threads - 1) : takes;
    for (unsigned i = 0; i < changes; ++i) me.change(index == 0);
  }
  const char* check() const { return taken != std::uint64_t{takes} * (threads - 1) ? "a hand-over was lost" : nullptr; }
};

/// A wait in critical sections of two locks. Meanwhile the outer lock's invariant is broken, and no thread may see
/// that.
template <class Lock, class Condition>
struct nested_wait_test {
  Lock outer{};
  Lock inner{};
  Condition changed{};
  std::uint64_t first = 0, second = 0;
  bool told = false;
  bool seen_half = false;

  void wait() {
    std::unique_lock held(inner);
    changed.wait(held, [&] { return told; });
  }
  void notify() {
    const std::lock_guard held(inner);
    told = true;
    changed.notify_all();
  }
  static void body(nested_wait_test& me, unsigned index) {
    if (index == 1) return me.notify();
    const std::lock_guard held(me.outer);
    if (index == 2) {
      if (me.first != me.second) me.seen_half = true;
      return;
    }
    ++me.first;
    me.wait();
    ++me.second;
  }
  const char* check() const {
    if (seen_half) return "a section was seen half done";
    return first != 1 || second != 1 ? "an update was lost" : nullptr;
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
