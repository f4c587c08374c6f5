// SPDX-License-Identifier: Apache-2.0
// The heap of objects that blocks make, by itself: three threads take slots, and each frees what others have taken.
#include <array>
#include <atomic>
#include <span>

#include "explorations/tm_explored.hpp"
#include "tm/heap.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using tm::detail::free_slots;
using tm::detail::life;
using tm::detail::slab;

constexpr unsigned max_threads = 3;
constexpr std::size_t bytes = tm::detail::slot_sizes::max_bytes;  // a slab has seven of them

struct object {
  std::uint64_t first;
  std::uint64_t last;
};

free_slots& slots_of(unsigned thread) {
  static free_slots all[max_threads];
  return all[thread];
}

/// A slot is in use by one holder, and a slab whose slots have all come back is given up.
class slots_in_use {
 public:
  slots_in_use() noexcept {
    for (unsigned i = 0; i < max_threads; ++i) slots_of(i).forget();
  }
  object* take(unsigned by, std::uint64_t stamp) noexcept {
    auto* const one = static_cast<object*>(slots_of(by).take(bytes));
    one->first = one->last = stamp;
    return one;
  }
  void free(unsigned by, object* one) noexcept {
    if (one->first != one->last || one->first == 0) fault_ = "a slot was given to two";
    one->first = 0;
    if (slab::of(one)->life_of(one)->exchange(life::destroyed) != life::living) fault_ = "a slot was given back twice";
    slots_of(by).give(one);
  }
  /// When all slots have been given, and no thread runs any more. `taken`: all that ever were.
  const char* check(std::span<object* const> taken) noexcept {
    for (unsigned i = 0; i < max_threads; ++i) slots_of(i).give_back();
    for (unsigned i = 0; i < max_threads; ++i) use_again(i);
    for (unsigned i = 0; i < max_threads; ++i) slots_of(i).settle();
    for (object* const one : taken) {
      if (one != nullptr && slab::of(one)->life_of(one) != nullptr) fault_ = "a slab without objects is still there";
    }
    return fault_;
  }

 private:
  void use_again(unsigned thread) noexcept {
    std::array<object*, 15> all;  // more than two slabs
    for (object*& one : all) one = take(thread, 1);
    for (object* const one : all) free(thread, one);
  }
  const char* fault_ = nullptr;
};

/// Each thread hands what it has taken to the others, which free it.
struct handing_test {
  static constexpr unsigned taken_each = 10;
  static constexpr unsigned boxes = 3;
  slots_in_use slots;
  std::array<std::atomic<object*>, boxes> handed_on{};
  std::array<object*, std::size_t{max_threads} * taken_each> taken{};

  static void body(handing_test& me, unsigned thread) {
    for (unsigned i = 0; i < taken_each; ++i) {
      object* const one = me.slots.take(thread, thread * 100 + i + 1);
      me.taken[thread * taken_each + i] = one;
      object* const other = me.handed_on[(thread + i) % boxes].exchange(one);
      if (other != nullptr) me.slots.free(thread, other);
      if (i % 3 == thread) slots_of(thread).give_back();
    }
    slots_of(thread).give_back();
  }
  const char* check() noexcept {
    for (auto& box : handed_on) {
      object* const one = box.load();
      if (one != nullptr) slots.free(0, one);
    }
    return slots.check(taken);
  }
};

/// Two threads return slots of two slabs of the third one, which takes others meanwhile.
struct returning_test {
  static constexpr unsigned count = 21;  // three slabs
  slots_in_use slots;
  std::array<object*, count> first{};
  std::array<object*, 4> later{};

  returning_test() noexcept {
    for (unsigned i = 0; i < count; ++i) first[i] = slots.take(0, i + 1);
  }
  static bool is_second_turn(unsigned index) noexcept { return index >= count; }
  static void body(returning_test& me, unsigned thread) {
    if (thread == 0) {
      for (unsigned i = 0; i < me.later.size(); ++i) me.later[i] = me.slots.take(0, 100 + i);
    } else {
      for (unsigned i = thread - 1; i < 2 * count; i += 7) {
        me.slots.free(thread, me.first[is_second_turn(i) ? i - count + 2 : i]);
        slots_of(thread).give_back();
      }
    }
  }
  const char* check() noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (i % 7 > 3) slots.free(0, first[i]);
    }
    for (object* const one : later) slots.free(0, one);
    slots.check(first);
    return slots.check(later);
  }
};

/// A thread takes its own slots and frees them in many orders, so that slabs fill up, have room again, and empty.
struct churning_test {
  static constexpr unsigned count = 23;  // more than three slabs
  static constexpr unsigned turns = 3;
  slots_in_use slots;
  std::array<object*, std::size_t{2} * turns * count> taken{};

  static void body(churning_test& me, unsigned thread) {
    for (unsigned turn = 0; turn < turns; ++turn) {
      object** const mine = &me.taken[(std::size_t{thread} * turns + turn) * count];
      for (unsigned i = 0; i < count; ++i) mine[i] = me.slots.take(thread, i + 1);
      const unsigned stride = 5 + 3 * turn;  // has no factor in common with the number
      for (unsigned i = 0; i < count; ++i) me.slots.free(thread, mine[(i * stride + thread) % count]);
    }
  }
  const char* check() noexcept { return slots.check(taken); }
};

template <class Test, unsigned threads>
constexpr exploration explored_slots(const char* name, const char* summary) {
  return explored::explored_by<Test, threads, tm::detail::dctl>(name, summary);
}

constexpr exploration table[] = {
    explored_slots<handing_test, 2>("tm-slots", "two threads free each other's slots"),
    explored_slots<handing_test, 3>("tm-slots-3", "three threads free each other's slots"),
    explored_slots<returning_test, 3>("tm-slots-returning", "two threads return slots of the third one"),
    explored_slots<churning_test, 2>("tm-slots-churning", "two threads take and free their own slots"),
};

}  // namespace

std::span<const exploration> tm_slots_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
