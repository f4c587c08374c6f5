// SPDX-License-Identifier: Apache-2.0
// Reader-writer locks: no thread reads while another writes, readers can be inside together, and latches change their
// mode.
#include <atomic>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/shared_mutex.hpp>

#include "explorations/exploration.hpp"
#include "explorations/own_site.hpp"
#include "explorations/reading_and_writing.hpp"
#include "locks/waiter_limits.hpp"
#include "workloads/harness/adapters.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

/// futex_rwlock with the rule that does not starve writers.
class writers_first : public futex_rwlock {
 public:
  void lock_shared() noexcept { futex_rwlock::lock_shared(admit::after_writers); }
  bool try_lock_shared() noexcept { return futex_rwlock::try_lock_shared(admit::after_writers); }
  bool try_lock_shared_until_ns(std::uint64_t deadline) noexcept {
    return futex_rwlock::try_lock_shared_until_ns(deadline, admit::after_writers);
  }
};

/// Its sleepers are past their deadlines at once, so each is handed the lock.
template <class Lock>
class impatient : public Lock {
 public:
  impatient() noexcept { detail::wait_with(detail::patience::none); }
  ~impatient() { detail::wait_with(detail::patience::usual); }
};

/// At most one sleeper of each kind can be counted.
template <class Lock>
class few_sleepers : public impatient<Lock> {
 public:
  few_sleepers() noexcept { detail::max_waiters.asleep = 1; }
  ~few_sleepers() { detail::max_waiters = {}; }
};

/// Two readers wait for each other inside, after a writer that they have met is gone.
template <class Lock>
struct together_test {
  static constexpr unsigned writer = 2;

  Lock lock{};
  std::atomic<bool> gone{false};
  std::atomic<std::uint32_t> arrived{0};
  std::uint64_t value = 0;

  static void body(together_test& me, unsigned index) {
    if (index == writer) {
      me.lock.lock();
      ++me.value;
      me.lock.unlock();
      return me.gone.store(true);
    }
    me.lock.lock_shared();
    me.lock.unlock_shared();
    // A waiting writer may keep a second reader out. It would do so for ever if the first reader waits for that reader.
    while (!me.gone.load()) machine::relax();
    me.lock.lock_shared();
    me.arrived.fetch_add(1);
    while (me.arrived.load() != 2) machine::relax();
    me.lock.unlock_shared();
  }
  const char* check() const { return value != 1 ? "an update was lost" : nullptr; }
};

/// A reader enters a second time while it is inside, and a writer wants to enter.
template <class Lock>
struct twice_test {
  Lock lock{};
  std::uint64_t value = 0;
  bool torn = false;

  static void body(twice_test& me, unsigned index) {
    if (index != 0) {
      me.lock.lock();
      if (!me.lock.has_writer()) me.torn = true;
      ++me.value;
      return me.lock.unlock();
    }
    me.lock.lock_shared();
    const std::uint64_t seen = me.value;
    me.lock.lock_shared();
    if (me.value != seen || me.lock.has_writer() || me.lock.readers() < 2) me.torn = true;
    me.lock.unlock_shared();
    me.lock.unlock_shared();
  }
  const char* check() const {
    if (torn) return "a thread met a writer in its section, or the lock does not know who is inside";
    return value != 2 ? "an update was lost" : nullptr;
  }
};

/// A latch is upgraded from shared to exclusive if possible, and downgraded.
template <unsigned threads, unsigned sections, class Latch = srwlock>
struct upgrade_test {
  Latch lock{};
  std::uint64_t value = 0;
  std::uint64_t written[threads] = {};
  bool met = false;

  void write_and_share(unsigned index) noexcept {
    const std::uint64_t before = value;
    value = before + 1;
    ++written[index];
    lock.downgrade();
    if (value != before + 1) met = true;
  }
  static void body(upgrade_test& me, unsigned index) {
    for (unsigned i = 0; i < sections; ++i) {
      me.lock.lock_shared();
      const std::uint64_t before = me.value;
      if (me.lock.try_upgrade()) {
        if (me.value != before) me.met = true;
        me.write_and_share(index);
      }
      me.lock.unlock_shared();
      me.lock.lock();
      me.write_and_share(index);
      me.lock.unlock_shared();
    }
  }
  const char* check() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : written) sum += one;
    if (met) return "another thread wrote under a shared latch";
    if (value != sum) return "an update was lost";
    return lock.mode() != latch_mode::none || lock.readers() != 0 ? "the latch is not free at the end" : nullptr;
  }
};

/// One thread writes, the others read: readers fall asleep while a reader that has slept leaves.
template <class Lock>
struct sleeping_readers_test {
  static constexpr unsigned sections = 4;
  Lock lock{};
  std::uint64_t value = 0;
  std::uint64_t last[2] = {};

  static void body(sleeping_readers_test& me, unsigned index) {
    for (unsigned i = 0; i < sections; ++i) {
      if (index == 0) {
        me.lock.lock();
        ++me.value;
        me.lock.unlock();
      } else {
        me.lock.lock_shared();
        me.last[index - 1] = me.value;
        me.lock.unlock_shared();
      }
    }
  }
  const char* check() const {
    if (last[0] > value || last[1] > value) return "a reader saw what was never written";
    return value != sections ? "an update was lost" : nullptr;
  }
};

/// A lock with all but one of the shared holds that it can count. Those are never released. Two readers take turns with
/// the remaining one, and a writer checks whether it gets in.
template <class Lock, class Word, Word one, Word most>
struct crowded_test {
  static constexpr unsigned sections = 2;
  static constexpr unsigned writer = 2;

  Lock lock{};
  std::atomic<std::uint32_t> inside{0};
  std::atomic<bool> crowded{false};
  bool met = false;

  // Every lock here begins with the word that counts its readers.
  crowded_test() noexcept { reinterpret_cast<std::atomic<Word>&>(lock).store((most - 1) * one); }

  static void body(crowded_test& me, unsigned index) {
    for (unsigned i = 0; i < sections; ++i) {
      if (index == writer) {
        if (me.lock.try_lock()) me.met = true;
        continue;
      }
      if (index == 0 || !me.lock.try_lock_shared()) me.lock.lock_shared();
      if (me.inside.fetch_add(1) != 0) me.crowded.store(true);
      me.inside.fetch_sub(1);
      me.lock.unlock_shared();
    }
  }
  const char* check() const {
    if (met || lock.has_writer()) return "a writer got in beside readers";
    if (crowded.load()) return "more readers are inside than can be counted";
    return lock.readers() != most - 1 ? "a reader was lost" : nullptr;
  }
};

/// Shared sections that no thread has begun are ended beside a writer, a reader, or both. Such an unlock is refused, or
/// ends the reader's section; then the reader's own is refused. Afterwards the lock is free.
enum class beside : std::uint8_t { writer, reader, both };
template <class Lock, beside whom>
struct stray_unlocks_test {
  static constexpr unsigned rounds = 2;

  Lock lock{};

  static void body(stray_unlocks_test& me, unsigned index) {
    for (unsigned i = 0; i < rounds; ++i) {
      if (index == 0 && whom != beside::reader) {
        me.lock.lock();
        me.lock.unlock();
        continue;
      }
      if (index == 1 && whom != beside::writer) me.lock.lock_shared();
      (void)me.lock.unlock_shared_if_held();
    }
  }
  const char* check() {
    if (lock.readers() != 0 || lock.has_writer()) return "a lock that no thread holds says that it is held";
    return lock.try_lock() ? nullptr : "a lock that no thread holds cannot be taken";
  }
};

constexpr unsigned sleeps = 1;

template <class Lock>
constexpr exploration pair_of(const char* name) {
  return {name, "readers and writers, 2 threads x 3 sections", verdict::right,
          run_anew<read_write_test<Lock, 2, 3>, 2>};
}
template <class Lock, entry how = entry::waits>
constexpr exploration trio_of(const char* name, unsigned cpus = 0) {
  return {name, "readers and writers, 3 threads x 2 sections", verdict::right,
          run_anew<read_write_test<Lock, 3, 2, how>, 3>, cpus};
}
template <class Lock, class Word = std::uint64_t, Word one = 1, Word most = 1U << 30>
constexpr exploration crowded(const char* name) {
  return {name, "as many shared holds as can be counted", verdict::right,
          run_anew<crowded_test<Lock, Word, one, most>, 3>};
}
template <class Lock>
constexpr exploration together(const char* name, unsigned cpus) {
  return {name, "two readers are inside together", verdict::right, run_anew<together_test<Lock>, 3>, cpus};
}

template <class Lock, beside whom>
constexpr exploration stray_unlocks(const char* name, unsigned cpus) {
  return {name, "shared sections are ended that no thread has begun", verdict::right,
          run_anew<stray_unlocks_test<Lock, whom>, 3>, cpus};
}

constexpr exploration table[] = {
    pair_of<srwlock>("srwlock-shared"),
    trio_of<srwlock>("srwlock-shared-3"),
    trio_of<srwlock, entry::tries>("srwlock-shared-try"),
    together<srwlock>("srwlock-together", 0),
    crowded<srwlock, std::uint32_t, 4, 1U << 29>("srwlock-shared-full"),
    stray_unlocks<srwlock, beside::both>("srwlock-stray-unlocks", 0),
    {"srwlock-upgrade", "from shared to exclusive and back, 2 threads x 2", verdict::right,
     run_anew<upgrade_test<2, 2>, 2>},
    pair_of<occ_rwlock>("occ_rwlock-shared"),
    trio_of<occ_rwlock>("occ_rwlock-shared-sleeping", sleeps),
    trio_of<occ_rwlock, entry::tries>("occ_rwlock-shared-try", sleeps),
    trio_of<occ_rwlock, entry::hurries>("occ_rwlock-shared-deadline", sleeps),
    trio_of<occ_rwlock, entry::all_hurry>("occ_rwlock-deadlines", sleeps),
    {"occ_rwlock-sleeping-readers", "one writes, two read and sleep", verdict::right,
     run_anew<sleeping_readers_test<occ_rwlock>, 3>, sleeps},
    together<occ_rwlock>("occ_rwlock-together", sleeps),
    crowded<occ_rwlock, std::uint32_t>("occ_rwlock-shared-full"),
    stray_unlocks<occ_rwlock, beside::writer>("occ_rwlock-stray-unlocks", sleeps),
    stray_unlocks<occ_rwlock, beside::reader>("occ_rwlock-stray-unlocks-reader", sleeps),
    pair_of<futex_rwlock>("futex_rwlock-shared"),
    trio_of<futex_rwlock>("futex_rwlock-shared-sleeping", sleeps),
    trio_of<futex_rwlock, entry::tries>("futex_rwlock-shared-try", sleeps),
    trio_of<futex_rwlock, entry::hurries>("futex_rwlock-shared-deadline", sleeps),
    trio_of<futex_rwlock, entry::all_hurry>("futex_rwlock-deadlines", sleeps),
    {"futex_rwlock-twice", "a reader enters twice, two writers", verdict::right, run_anew<twice_test<futex_rwlock>, 3>,
     sleeps},
    together<futex_rwlock>("futex_rwlock-together", sleeps),
    crowded<futex_rwlock>("futex_rwlock-shared-full"),
    stray_unlocks<futex_rwlock, beside::both>("futex_rwlock-stray-unlocks", sleeps),
    pair_of<writers_first>("futex_rwlock-after-writers"),
    trio_of<writers_first>("futex_rwlock-after-writers-sleeping", sleeps),
    trio_of<writers_first, entry::hurries>("futex_rwlock-after-writers-deadline", sleeps),
    trio_of<impatient<futex_rwlock>>("futex_rwlock-shared-handed", sleeps),
    trio_of<impatient<futex_rwlock>>("futex_rwlock-shared-handed-spinning"),
    trio_of<impatient<futex_rwlock>, entry::hurries>("futex_rwlock-shared-handed-deadline", sleeps),
    trio_of<impatient<futex_rwlock>, entry::all_hurry>("futex_rwlock-handed-deadlines", sleeps),
    {"futex_rwlock-handed-twice", "a reader enters twice, two writers", verdict::right,
     run_anew<twice_test<impatient<futex_rwlock>>, 3>, sleeps},
    together<impatient<futex_rwlock>>("futex_rwlock-handed-together", sleeps),
    trio_of<impatient<writers_first>>("futex_rwlock-after-writers-handed", sleeps),
    trio_of<impatient<writers_first>, entry::all_hurry>("futex_rwlock-after-writers-handed-deadlines", sleeps),
    trio_of<few_sleepers<futex_rwlock>>("futex_rwlock-shared-few", sleeps),
    pair_of<shared_mutex>("txsync::shared_mutex-shared"),
    trio_of<shared_mutex>("txsync::shared_mutex-shared-sleeping", sleeps),
    trio_of<shared_mutex, entry::tries>("txsync::shared_mutex-shared-try", sleeps),
    trio_of<shared_mutex, entry::hurries>("txsync::shared_mutex-shared-deadline", sleeps),
    trio_of<shared_mutex, entry::all_hurry>("txsync::shared_mutex-deadlines", sleeps),
    trio_of<shared_mutex, entry::all_hurry>("txsync::shared_mutex-deadlines-spinning"),
    together<shared_mutex>("txsync::shared_mutex-together", sleeps),
    crowded<shared_mutex>("txsync::shared_mutex-shared-full"),
    pair_of<with_own_site<elided_shared<srwlock>>>("elided_srwlock-shared"),
    trio_of<with_own_site<elided_shared<srwlock>>, entry::tries>("elided_srwlock-shared-try"),
    {"elided_srwlock-upgrade", "from shared to exclusive and back, 2 threads x 2", verdict::right,
     run_anew<upgrade_test<2, 2, with_own_site<elided_shared<srwlock>>>, 2>},
    {"elided_srwlock-coarse", "readers and writers, 2 threads x 6 sections", verdict::right,
     run_anew<read_write_test<with_own_site<elided_shared<srwlock>, coarse>, 2, 6>, 2>},
    trio_of<with_own_site<elided_shared<occ_rwlock>>>("elided_occ_rwlock-shared", sleeps),
    trio_of<with_own_site<elided_shared<futex_rwlock>>>("elided_futex_rwlock-shared", sleeps),
    trio_of<with_own_site<elided_shared<shared_mutex>>>("elided_shared_mutex-shared", sleeps),
    trio_of<with_own_site<elided_shared<shared_mutex>>, entry::all_hurry>("elided_shared_mutex-deadlines", sleeps),
    trio_of<calling_shared<with_own_site<elided_shared<occ_rwlock>>>, entry::all_hurry>("elided_occ_rwlock-deadlines",
                                                                                        sleeps),
    {"elided_srwlock-kinds", "elided readers and writers, and some that call the system, 3 threads x 2 sections",
     verdict::right, run_anew<read_write_test<calling_shared<with_own_site<elided_shared<srwlock>>>, 3, 2>, 3>},
    {"elided_occ_rwlock-kinds", "the same", verdict::right,
     run_anew<read_write_test<calling_shared<with_own_site<elided_shared<occ_rwlock>>>, 3, 2>, 3>, sleeps},
    {"elided_futex_rwlock-kinds", "the same", verdict::right,
     run_anew<read_write_test<calling_shared<with_own_site<elided_shared<futex_rwlock>>>, 3, 2>, 3>, sleeps},
    {"elided_shared_mutex-kinds", "the same", verdict::right,
     run_anew<read_write_test<calling_shared<with_own_site<elided_shared<shared_mutex>>>, 3, 2>, 3>, sleeps},
};

}  // namespace

std::span<const exploration> sharing_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
