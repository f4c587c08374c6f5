// SPDX-License-Identifier: Apache-2.0
// Atomic blocks that sleep: for more stripes than a set keeps, beside blocks that write more than is noted, and until a
// deadline.
#include <chrono>

#include "explorations/tm_explored.hpp"
#include "tm/stripe_set.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using namespace explored;

/// Sets keep two buckets while one exists.
struct small_sets {
  small_sets() noexcept { tm::detail::stripe_set::max_buckets = 2; }
  ~small_sets() { tm::detail::stripe_set::max_buckets = tm::detail::stripe_set::usual_max_buckets; }
  small_sets(const small_sets&) = delete;
  small_sets& operator=(const small_sets&) = delete;
};

/// Null, or what is wrong: all threads have ended.
const char* check_sleepers(const apart& awaited) {
  const auto& cell = *reinterpret_cast<const tm::word*>(&awaited.value);
  return tm::detail::count_sleepers_of(cell) != 0 ? "a sleeper that has gone on is still counted" : nullptr;
}

/// What blocks wait for. A wait is wide if it reads more stripes than a set keeps.
struct waited_for {
  small_sets limit;
  apart first;
  apart last;
  apart beside[3] = {};

  void wait(apart& what, bool wide) {
    tm::atomically(blocks::reading, [&](auto& tx) {
      if (wide) {
        for (const apart& one : beside) static_cast<void>(tx.read(one.value));
      }
      if (tx.read(what.value) == 0) tx.retry();
    });
  }
  static void set(apart& what) {
    tm::atomically(blocks::writing, [&](auto& tx) { tx.write(what.value, 1); });
  }
  const char* check() const {
    const char* const fault = check_sleepers(first);
    return fault != nullptr ? fault : check_sleepers(last);
  }
};

/// Thread 0 writes one word, and then more than are noted of hardware attempts and irrevocable blocks. Thread 1 waits for
/// both changes, thread 2 for the second one.
template <bool irrevocable>
struct wide_writer_test : waited_for {
  static constexpr unsigned count = tm::detail::direct_writes::max + 2;
  apart many[count] = {};

  static void body(wide_writer_test& me, unsigned index) {
    apart& last_of_many = me.many[count - 1];
    if (index == 0) {
      set(me.first);
      tm::atomically(irrevocable ? blocks::irrevocable : blocks::writing, [&](auto& tx) {
        for (apart& one : me.many) tx.write(one.value, 1);
      });
      return;
    }
    if (index == 1) me.wait(me.first, true);
    me.wait(last_of_many, index == 2);
  }
};

/// Thread 0 writes two words, one after the other. The others wait for one each, thread 2 widely.
template <bool both_wide>
struct wide_waiters_test : waited_for {
  static void body(wide_waiters_test& me, unsigned index) {
    if (index == 0) {
      set(me.first);
      set(me.last);
    } else {
      me.wait(index == 1 ? me.first : me.last, both_wide || index == 2);
    }
  }
};

/// An irrevocable block writes one word, after a block that has written another one. Both may be waited for.
struct irrevocable_writer_test {
  apart first;
  apart second;

  static void body(irrevocable_writer_test& me, unsigned index) {
    if (index == 0) {
      tm::atomically(blocks::writing, [&](auto& tx) { tx.write(me.first.value, 1); });
      tm::atomically(blocks::irrevocable, [&](auto& tx) { tx.write(me.second.value, 1); });
      return;
    }
    tm::var<std::uint64_t>& awaited = index == 1 ? me.second.value : me.first.value;
    tm::atomically(blocks::reading, [&](auto& tx) {
      if (tx.read(awaited) == 0) tx.retry();
    });
  }
  const char* check() const { return check_sleepers(second); }
};

/// One waits for what comes, and one for what never comes, each until a deadline. A schedule may let any time pass.
struct deadline_test {
  apart full;
  apart never;

  static bool comes(tm::var<std::uint64_t>& what, std::chrono::nanoseconds wait) {
    const auto deadline = std::chrono::steady_clock::now() + wait;
    const bool came = tm::atomically(blocks::reading, [&](auto& tx) {
      if (tx.read(what) != 0) return true;
      tx.retry_until(deadline);
      return false;
    });
    if (!came && std::chrono::steady_clock::now() < deadline) note_wrong();
    return came;
  }
  static void body(deadline_test& me, unsigned index) {
    if (index == 0) return tm::atomically(blocks::writing, [&](auto& tx) { tx.write(me.full.value, 1); });
    if (index == 1) return static_cast<void>(comes(me.full.value, std::chrono::hours(1)));
    if (comes(me.never.value, std::chrono::microseconds(1))) note_wrong();
  }
  const char* check() const {
    const char* const fault = check_sleepers(never);
    return fault != nullptr ? fault : check_notes(0, nullptr, nullptr);
  }
};

#define TXSYNC_WAITING_BY(name, ...)                                                                          \
  explored_by<wide_writer_test<false>, 3, __VA_ARGS__>("tm-wide-" name, "two wait for more than is kept"),    \
      explored_by<irrevocable_writer_test, 3, __VA_ARGS__>("tm-waiting-irrevocable-" name,                    \
                                                           "one waits for what an irrevocable block writes"), \
      explored_by<deadline_test, 3, __VA_ARGS__>("tm-waiting-until-" name, "retry_until(), in time and not")

constexpr exploration table[] = {
    // The other algorithms share what these do when they sleep.
    TXSYNC_WAITING_BY("dctl", tm::detail::dctl),
    TXSYNC_WAITING_BY("norec", tm::detail::norec),
    TXSYNC_WAITING_BY("htm_sgl_adaptive", tm::detail::htm_sgl_adaptive),
    TXSYNC_WAITING_BY("hydctl", mixed_hydctl),
    explored_by<wide_writer_test<true>, 3, tm::detail::dctl>("tm-wide-irrevocable-dctl",
                                                             "the same, and an irrevocable block writes"),
    explored_by<wide_waiters_test<false>, 3, tm::detail::dctl>("tm-wide-waiter-dctl",
                                                               "one waits for much, one for one word"),
    explored_by<wide_waiters_test<true>, 3, tm::detail::dctl>("tm-wide-waiters-dctl", "both wait for much"),
};
#undef TXSYNC_WAITING_BY

}  // namespace

std::span<const exploration> tm_waiting_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
