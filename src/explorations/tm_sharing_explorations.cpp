// SPDX-License-Identifier: Apache-2.0
// Atomic blocks: privatization, reclamation, waiting, actions; by every algorithm.
#include "explorations/tm_sharing.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using namespace explored;

/// Looks first, and waits if there is nothing. Its block never writes, so it begins without a record of reads.
struct watching_test {
  alignas(64) tm::var<std::uint64_t> first{0};
  alignas(64) tm::var<std::uint64_t> second{0};

  static void body(watching_test& me, unsigned index) {
    if (index == 0) {
      tm::atomically(blocks::writing, [&](auto& tx) { tx.write(me.first, 1); });
      tm::atomically(blocks::writing, [&](auto& tx) { tx.write(me.second, 1); });
      return;
    }
    tm::atomically(blocks::reading, [&](auto& tx) {
      if (tx.read(me.first) == 0) tx.retry();
      if (tx.read(me.second) == 0) tx.retry();
    });
  }
  const char* check() const { return nullptr; }
};

/// Takes from either of two places. Two threads fill one place each; one of them may do it irrevocably.
template <bool irrevocable>
struct either_test {
  alignas(64) tm::var<std::uint64_t> places[2] = {};
  tm::var<std::uint64_t> taken{0};

  template <class Transaction>
  static void take(either_test& me, Transaction& tx, unsigned which) {
    if (tx.read(me.places[which]) == 0) tx.retry();
    tx.write(me.places[which], 0);
  }
  static void body(either_test& me, unsigned index) {
    if (index < 2) {
      tm::atomically(irrevocable && index == 0 ? blocks::irrevocable : blocks::writing,
                     [&](auto& tx) { tx.write(me.places[index], 1); });
      return;
    }
    for (unsigned i = 0; i < 2; ++i) {
      tm::atomically(blocks::writing, [&](auto& tx) {
        tx.or_else([&](auto& inner) { take(me, inner, 0); }, [&](auto& inner) { take(me, inner, 1); });
        tx.write(me.taken, tx.read(me.taken) + 1);
      });
    }
  }
  const char* check() const { return taken.load() != 2 ? "something was not taken" : nullptr; }
};

/// The waiter has to run serially, and so does the thread that fills. Each writes something else before it looks.
struct waiting_alone_test {
  alignas(64) tm::var<std::uint64_t> full{0};
  apart looked[2] = {};

  static void body(waiting_alone_test& me, unsigned index) {
    tm::atomically(index == 1 ? blocks::at_once : blocks::alone, [&](auto& tx) {
      tx.write(me.looked[index].value, 1);
      if ((tx.read(me.full) == 0) != (index == 0)) tx.retry();
      tx.write(me.full, index == 0 ? 1 : 0);
    });
  }
  const char* check() const { return full.load() != 0 ? "what was there was not taken" : nullptr; }
};

/// Counts, and counts again in an action after the commit. One thread throws once.
template <unsigned threads>
struct counting_test {
  alignas(64) tm::var<std::uint64_t> count{0};
  alignas(64) tm::var<std::uint64_t> counted{0};
  alignas(64) tm::var<std::uint64_t> given_up{0};
  struct enough {};

  static void add_one(tm::var<std::uint64_t>& to) {
    tm::atomically(blocks::writing, [&](auto& tx) { tx.write(to, tx.read(to) + 1); });
  }
  static void body(counting_test& me, unsigned index) {
    for (unsigned i = 0; i < 2; ++i) {
      try {
        tm::atomically(blocks::writing, [&](auto& tx) {
          tx.on_commit([test = &me]() noexcept { add_one(test->counted); });
          tx.on_abort([test = &me]() noexcept { add_one(test->given_up); });
          tx.write(me.count, tx.read(me.count) + 1);
          if (index == 0 && i == 0) throw enough{};
        });
      } catch (const enough&) {  // NOLINT(bugprone-empty-catch): only the block was to end
      }
    }
  }
  const char* check() const {
    constexpr std::uint64_t committed = 2 * threads - 1;
    if (count.load() != committed) return "a count was lost, or what was given up was counted";
    return counted.load() != committed || given_up.load() != 1 ? "an action ran not once" : nullptr;
  }
};

/// Makes an object in an alternative that it abandons, repeatedly until another thread has written. Finally all must be
/// gone.
struct discarding_test {
  alignas(64) tm::var<std::uint64_t> ready{0};
  alignas(64) tm::var<std::uint64_t> seen{0};
  alignas(64) std::atomic<unsigned> alive{0};

  static void body(discarding_test& me, unsigned index) {
    if (index == 0) return tm::atomically(blocks::writing, [&](auto& tx) { tx.write(me.ready, 1); });
    tm::atomically(blocks::writing, [&](auto& tx) {
      tx.or_else(
          [&](auto& inner) {
            auto* const made = inner.template make<pair_of_equals>(index, &me.alive);
            change(inner, *made);
            look_at(inner, *made);
            inner.retry();
          },
          [&](auto& inner) {
            if (inner.read(me.ready) == 0) inner.retry();
          });
      tx.write(me.seen, tx.read(me.seen) + 1);
    });
  }
  const char* check() const {
    if (alive.load() != 0) return "an object that was given up is still there, or was destroyed twice";
    return seen.load() != 2 ? "a count was lost" : check_notes(0, nullptr, nullptr);
  }
};

// The explorations by one algorithm.
#define TXSYNC_SHARING_BY(name, ...)                                                                                   \
  explored_by<privatizing_test<2>, 2, __VA_ARGS__>("tm-privatizing-" name,                                             \
                                                   "one uses without blocks what it took out"),                        \
      explored_by<privatizing_test<3>, 3, __VA_ARGS__>("tm-privatizing-3-" name, "the same, and one looks"),           \
      explored_by<freeing_test, 3, __VA_ARGS__>("tm-freeing-" name, "one frees what it took out"),                     \
      explored_by<destroying_test, 3, __VA_ARGS__>("tm-destroying-" name, "two replace an object, one looks at it"),   \
      explored_by<discarding_test, 3, __VA_ARGS__>("tm-discarding-" name,                                              \
                                                   "objects of an alternative that is given up"),                      \
      explored_by<handing_test<2, 2>, 2, __VA_ARGS__>("tm-handing-" name, "one puts, one takes, by retry()"),          \
      explored_by<handing_test<3, 1>, 3, __VA_ARGS__>("tm-handing-3-" name, "one puts, two take"),                     \
      explored_by<watching_test, 3, __VA_ARGS__>("tm-watching-" name, "two that only read wait for two writes"),       \
      explored_by<either_test<false>, 3, __VA_ARGS__>("tm-either-" name, "one waits for either of two, by or_else()"), \
      explored_by<either_test<true>, 3, __VA_ARGS__>("tm-either-irrevocable-" name,                                    \
                                                     "one of which an irrevocable block fills"),                       \
      explored_by<waiting_alone_test, 2, __VA_ARGS__>("tm-waiting-alone-" name, "retry() by a block that runs alone"), \
      explored_by<counting_test<2>, 2, __VA_ARGS__>("tm-counting-" name, "a counter, actions, an exception"),          \
      explored_by<counting_test<3>, 3, __VA_ARGS__>("tm-counting-3-" name, "the same by three")

constexpr exploration table[] = {
    TXSYNC_EXPLORED_BY_ALL(TXSYNC_SHARING_BY),
};
#undef TXSYNC_SHARING_BY

}  // namespace

std::span<const exploration> tm_sharing_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
