// SPDX-License-Identifier: Apache-2.0
// Condition variables, and the end of a lock's life.
#include <atomic>
#include <chrono>
#include <mutex>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>

#include "explorations/condition_waits.hpp"
#include "explorations/exploration.hpp"
#include "explorations/policy_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

/// Waiters whose deadlines pass, one that waits without a limit, and a notification for each.
struct deadline_test {
  mutex lock{};
  condition_variable changed{};
  unsigned posted = 0;

  static void body(deadline_test& me, unsigned index) {
    std::unique_lock held(me.lock);
    if (index == 0) {
      me.posted += 2;
      me.changed.notify_one();
      me.changed.notify_one();
      return;
    }
    while (me.posted == 0) {
      constexpr std::uint64_t patience_ns = 100;
      const std::uint64_t deadline = index == 1 ? machine::clock_ns() + patience_ns : machine::no_deadline;
      const bool late = me.changed.wait_until_ns(held, deadline) == std::cv_status::timeout;
      if (late && machine::clock_ns() < deadline) me.early = true;
    }
    --me.posted;
  }
  const char* check() const {
    if (early) return "a wait ended before its deadline";
    return posted != 0 ? "a post was not taken" : nullptr;
  }

  bool early = false;
};

/// Whether the notifier holds the mutex, or has released it.
enum class notifier : std::uint8_t { holds, has_unlocked };

/// Waiters that have checked and mostly sleep, before each gets its own notification, or one notifies all.
template <unsigned threads, telling how = telling::one, notifier who = notifier::holds>
struct late_telling_test {
  mutex lock{};
  condition_variable changed{};
  unsigned told = 0;
  unsigned taken = 0;

  void notify(unsigned more) {
    std::unique_lock held(lock);
    told += more;
    if (who == notifier::has_unlocked) held.unlock();
    how == telling::one ? changed.notify_one() : changed.notify_all();
  }
  static void body(late_telling_test& me, unsigned index) {
    if (index == 0) {
      constexpr std::uint64_t longer_than_anybody_looks = 1'000'000;
      const unsigned at_once = how == telling::one ? 1 : threads - 1;
      for (unsigned i = 1; i < threads; i += at_once) {
        const std::uint64_t start = machine::cycles();
        while (machine::cycles() - start < longer_than_anybody_looks) machine::relax();
        me.notify(at_once);
      }
      return;
    }
    std::unique_lock held(me.lock);
    me.changed.wait(held, [&] { return me.told != me.taken; });
    ++me.taken;
  }
  const char* check() const { return taken != threads - 1 ? "a notification was lost" : nullptr; }
};

/// The machine's clock, in the form that <chrono> needs.
struct virtual_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<virtual_clock>;
  static time_point now() noexcept { return time_point(duration(machine::clock_ns())); }
};

/// Waits for a time and until a time, with a predicate, for what another thread does in the end.
struct timed_test {
  mutex lock{};
  condition_variable changed{};
  bool told = false;
  bool wrong = false;

  static void body(timed_test& me, unsigned index) {
    std::unique_lock held(me.lock);
    if (index == 0) {
      me.told = true;
      return me.changed.notify_all();
    }
    constexpr std::chrono::nanoseconds patience(100);
    constexpr std::chrono::hours long_time(1'000'000'000);  // longer than a clock can represent
    const auto is_told = [&] { return me.told; };
    if (me.changed.wait_for(held, patience, [] { return false; })) me.wrong = true;
    const auto until = virtual_clock::now() + patience;
    const bool seen =
        index == 1 ? me.changed.wait_for(held, patience, is_told) : me.changed.wait_until(held, until, is_told);
    if (seen != me.told || (!seen && virtual_clock::now() < until)) me.wrong = true;
    if (!seen && me.changed.wait_until(held, until) != std::cv_status::timeout && !me.told) me.spurious = true;
    if (!me.changed.wait_for(held, long_time, is_told)) me.wrong = true;
  }
  const char* check() const {
    if (spurious) return "a wait until a time that has passed was notified by nobody";
    return wrong ? "a wait ended before its time" : nullptr;
  }

  bool spurious = false;
};

/// The same for locks. One thread holds, one tries to write and one to read, with short times that end without the lock
/// and with long ones.
struct timed_lock_test {
  shared_mutex lock{};
  std::uint64_t count = 0;
  bool wrong = false;

  static void body(timed_lock_test& me, unsigned index) {
    constexpr std::chrono::nanoseconds patience(100);
    constexpr std::chrono::hours long_time(1'000'000'000);
    if (index == 0) {
      me.lock.lock();
      machine::yield();
      ++me.count;
      return me.lock.unlock();
    }
    const auto until = virtual_clock::now() + patience;
    const auto far = std::chrono::time_point<virtual_clock, std::chrono::hours>(long_time);
    const bool got = index == 1 ? me.lock.try_lock_until(until) : me.lock.try_lock_shared_until(until);
    if (!got && virtual_clock::now() < until) me.wrong = true;
    if (index == 1) {
      if (!got && !me.lock.try_lock_for(patience) && !me.lock.try_lock_for(long_time)) me.wrong = true;
      ++me.count;
      return me.lock.unlock();
    }
    if (!got && !me.lock.try_lock_shared_for(patience) && !me.lock.try_lock_shared_until(far)) me.wrong = true;
    if (me.lock.readers() == 0) me.wrong = true;
    me.lock.unlock_shared();
  }
  const char* check() const {
    if (wrong) return "a wait ended before its time, or without the lock";
    return count != 2 ? "an update was lost" : nullptr;
  }
};

/// A thread gives up at its deadline, for good, while others lock without one. It leaves no thread asleep.
template <class Lock, bool shared, std::uint64_t patience_ns = 2'000>
struct patience_test {
  Lock lock{};
  std::uint64_t count = 0;
  std::uint64_t late = 0;
  bool early = false;

  bool try_until(std::uint64_t deadline) noexcept {
    if constexpr (shared) {
      return lock.try_lock_shared_until_ns(deadline);
    } else {
      return lock.try_lock_until_ns(deadline);
    }
  }
  static void body(patience_test& me, unsigned index) {
    if (index != 0) {
      me.lock.lock();
      ++me.count;
      if (index == 1) machine::yield();
      return me.lock.unlock();
    }
    const std::uint64_t deadline = machine::clock_ns() + patience_ns;
    if (!me.try_until(deadline)) {
      if (machine::clock_ns() < deadline) me.early = true;
    } else if constexpr (shared) {
      me.lock.unlock_shared();
    } else {
      me.lock.unlock();
    }
  }
  const char* check() const {
    if (early) return "a thread gave up before its deadline";
    if constexpr (requires { lock.is_waited_for(); }) {
      if (lock.is_waited_for()) return "a thread that is gone still counts as a waiter";
    }
    return count != 2 ? "an update was lost" : nullptr;
  }
};

/// The holder waits until the other thread has given up, and a third thread waits for the lock.
template <class Lock, bool shared>
struct giving_up_test : patience_test<Lock, shared> {
  std::atomic<bool> held{false};
  std::atomic<bool> gave_up{false};
  bool got_it = false;

  static void body(giving_up_test& me, unsigned index) {
    if (index == 0) {
      me.lock.lock();
      me.held.store(true);
      while (!me.gave_up.load()) machine::relax();
      ++me.count;
      return me.lock.unlock();
    }
    while (!me.held.load()) machine::relax();
    if (index == 2) {
      me.lock.lock();
      ++me.count;
      return me.lock.unlock();
    }
    const std::uint64_t deadline = machine::clock_ns() + 2'000;
    if (me.try_until(deadline)) me.got_it = true;
    if (machine::clock_ns() < deadline) me.early = true;
    me.gave_up.store(true);
  }
  const char* check() const { return got_it ? "a held lock was acquired" : patience_test<Lock, shared>::check(); }
};

/// A thread with a far deadline stands in the queue, where the holder sees it.
template <std::uint32_t word>
struct in_line_test {
  by_policy<word> lock{};
  std::atomic<bool> held{false};
  bool gave_up = false;

  static void body(in_line_test& me, unsigned index) {
    if (index == 0) {
      me.lock.lock();
      me.held.store(true);
      while (queue_of(me.lock).active() != 2) machine::relax();
      return me.lock.unlock();
    }
    while (!me.held.load()) machine::relax();
    constexpr std::uint64_t long_time_ns = 1'000'000'000'000;
    if (!me.lock.try_lock_until_ns(machine::clock_ns() + long_time_ns)) {
      me.gave_up = true;
      return;
    }
    me.lock.unlock();
  }
  const char* check() const { return gave_up ? "a thread gave up before its deadline" : nullptr; }
};

/// Readers that give way to sleeping writers.
class writers_first : public futex_rwlock {
 public:
  void lock_shared() noexcept { futex_rwlock::lock_shared(admit::after_writers); }
  bool try_lock_shared_until_ns(std::uint64_t deadline) noexcept {
    return futex_rwlock::try_lock_shared_until_ns(deadline, admit::after_writers);
  }
};

/// Its sleepers are past their deadlines at once.
template <class Lock>
class impatient : public Lock {
 public:
  impatient() noexcept { detail::wait_with(detail::patience::none); }
  ~impatient() { detail::wait_with(detail::patience::usual); }
};

/// A writer gives up while a reader is inside, and a reader that it kept out enters. The two readers wait for each
/// other.
template <class Lock>
struct way_made_test {
  Lock lock{};
  std::atomic<bool> inside{false};
  std::atomic<bool> second{false};

  static void body(way_made_test& me, unsigned index) {
    if (index == 0) {
      me.lock.lock_shared();
      me.inside.store(true);
      while (!me.second.load()) machine::relax();
      return me.lock.unlock_shared();
    }
    while (!me.inside.load()) machine::relax();
    if (index == 1) {
      if (me.lock.try_lock_until_ns(machine::clock_ns() + 2'000)) me.lock.unlock();
      return;
    }
    me.lock.lock_shared();
    me.second.store(true);
    me.lock.unlock_shared();
  }
  const char* check() const { return lock.readers() != 0 ? "the lock is not free at the end" : nullptr; }
};

/// Waits with a lock of another kind.
struct foreign_lock_test {
  tatas_lock lock{};
  condition_variable changed{};
  bool told = false;

  static void body(foreign_lock_test& me, unsigned index) {
    const std::unique_lock held(me.lock);
    if (index == 0) {
      me.told = true;
      return me.changed.notify_all();
    }
    while (!me.told) me.changed.wait_with(me.lock);
  }
  const char* check() const { return told ? nullptr : "nobody was told"; }
};

constexpr unsigned char poison = 0xA5;

/// Storage of an object that is destroyed while threads may be about to leave it. No thread may touch it afterwards.
template <class Thing>
struct mortal {
  alignas(Thing) unsigned char bytes[sizeof(Thing)];
  mortal() { new (bytes) Thing; }
  Thing& operator*() noexcept { return *reinterpret_cast<Thing*>(bytes); }
  void destroy() noexcept {
    (**this).~Thing();
    for (unsigned char& byte : bytes) byte = poison;
  }
  bool is_untouched() const noexcept {
    for (const unsigned char byte : bytes) {
      if (byte != poison) return false;
    }
    return true;
  }
};

/// The notifier destroys the variable as soon as it has notified all, before or after it releases the mutex.
template <unsigned threads, bool while_held = false>
struct destroyed_variable_test {
  mutex lock{};
  mortal<condition_variable> changed{};
  unsigned waiting = 0;
  bool told = false;

  static void body(destroyed_variable_test& me, unsigned index) {
    std::unique_lock held(me.lock);
    if (index != 0) {
      ++me.waiting;
      while (!me.told) (*me.changed).wait(held);
      return;
    }
    while (me.waiting != threads - 1) {
      held.unlock();
      machine::relax();
      held.lock();
    }
    me.told = true;
    (*me.changed).notify_all();
    if (!while_held) held.unlock();
    me.changed.destroy();
  }
  const char* check() const { return changed.is_untouched() ? nullptr : "a destroyed condition variable was written"; }
};

/// The notifier waits for the thread that destroys the variable, and holds the mutex meanwhile.
struct destroyed_elsewhere_test {
  mutex lock{};
  mortal<condition_variable> changed{};
  std::atomic<bool> waits{false}, told{false}, destroyed{false};

  static void body(destroyed_elsewhere_test& me, unsigned index) {
    if (index == 1) {
      while (!me.told.load()) machine::relax();
      me.changed.destroy();
      me.destroyed.store(true);
      return;
    }
    std::unique_lock held(me.lock);
    if (index == 2) {
      me.waits.store(true);
      while (!me.told.load()) (*me.changed).wait(held);
      return;
    }
    while (!me.waits.load()) {
      held.unlock();
      machine::relax();
      held.lock();
    }
    (*me.changed).notify_all();
    me.told.store(true);
    while (!me.destroyed.load()) machine::relax();
  }
  const char* check() const { return changed.is_untouched() ? nullptr : "a destroyed condition variable was written"; }
};

/// Both threads wait in turn, each on its own variable. Each notifies the other while it also holds another mutex,
/// which it acquired before or after.
struct two_mutexes_test {
  static constexpr unsigned turns = 4;

  mutex outer{};
  mutex lock{};
  mutex inner{};
  condition_variable changed[2]{};
  unsigned turn = 0;

  static void body(two_mutexes_test& me, unsigned index) {
    for (unsigned i = index; i < turns; i += 2) {
      const bool holds_outer = i == 0;
      if (holds_outer) me.outer.lock();
      std::unique_lock held(me.lock);
      while (me.turn != i) me.changed[index].wait(held);
      ++me.turn;
      if (i == 1) {
        me.inner.lock();
        me.changed[1 - index].notify_one();
        me.inner.unlock();
      } else {
        me.changed[1 - index].notify_one();
      }
      if (holds_outer) me.outer.unlock();
      me.changed[index].notify_all();
    }
  }
  const char* check() const { return turn != turns ? "a turn was lost" : nullptr; }
};

/// One section notifies more conditions than a thread can defer wake-ups for.
struct many_conditions_test {
  static constexpr unsigned waiters = 3;

  mutex lock{};
  condition_variable changed[waiters]{};
  bool told = false;
  unsigned left = 0;

  static void body(many_conditions_test& me, unsigned index) {
    if (index != 0) {
      std::unique_lock held(me.lock);
      me.changed[index - 1].wait(held, [&] { return me.told; });
      ++me.left;
      return;
    }
    constexpr std::uint64_t longer_than_anybody_looks = 1'000'000;
    const std::uint64_t start = machine::cycles();
    while (machine::cycles() - start < longer_than_anybody_looks) machine::relax();
    const std::lock_guard held(me.lock);
    me.told = true;
    for (condition_variable& one : me.changed) one.notify_all();
  }
  const char* check() const { return left != waiters ? "a notification was lost" : nullptr; }
};

/// The last owner destroys the lock right after releasing it.
template <class Lock, unsigned threads>
struct destroyed_lock_test {
  mortal<Lock> lock{};
  unsigned left = threads;

  static void body(destroyed_lock_test& me, unsigned) {
    (*me.lock).lock();
    const bool last = --me.left == 0;
    (*me.lock).unlock();
    if (last) me.lock.destroy();
  }
  const char* check() const { return lock.is_untouched() ? nullptr : "a destroyed lock was written"; }
};

constexpr unsigned sleeps = 1;
constexpr auto right = verdict::right;

constexpr exploration table[] = {
    {"condition_variable", "one puts, one takes", right,
     run_anew<handing_test<mutex, condition_variable, 2, 3, telling::one>, 2>},
    {"condition_variable-sleeping", "one puts, one takes, told that there is one CPU", right,
     run_anew<handing_test<mutex, condition_variable, 2, 3, telling::one>, 2>, sleeps},
    {"condition_variable-3", "one puts, two take, all are told", right,
     run_anew<handing_test<mutex, condition_variable, 3, 2, telling::all>, 3>},
    {"condition_variable-late", "one is told when it sleeps already", right, run_anew<late_telling_test<2>, 2>},
    {"condition_variable-late-3", "two are told when they sleep already", right, run_anew<late_telling_test<3>, 3>},
    {"condition_variable-late-all", "two that sleep are told by one notification", right,
     run_anew<late_telling_test<3, telling::all>, 3>},
    {"condition_variable-late-unlocked", "two are told by who has given up the mutex", right,
     run_anew<late_telling_test<3, telling::one, notifier::has_unlocked>, 3>},
    {"condition_variable-deadline", "one waits with deadlines, one without", right, run_anew<deadline_test, 3>},
    {"condition_variable-timed", "for a time and until one", right, run_anew<timed_test, 3>},
    {"condition_variable-any", "with a lock of another kind", right, run_anew<foreign_lock_test, 3>},
    {"condition_variable-destroyed", "destroyed by who has told all", right, run_anew<destroyed_variable_test<3>, 3>},
    {"condition_variable-destroyed-held", "destroyed by the notifier, which holds the mutex", right,
     run_anew<destroyed_variable_test<3, true>, 3>},
    {"condition_variable-destroyed-elsewhere", "destroyed by a thread that the notifier waits for", right,
     run_anew<destroyed_elsewhere_test, 3>},
    {"condition_variable-mutexes", "notified by a holder of two mutexes", right, run_anew<two_mutexes_test, 2>},
    {"condition_variable-mutexes-sleeping", "notified by a holder of two mutexes, with one CPU", right,
     run_anew<two_mutexes_test, 2>, sleeps},
    {"condition_variable-many", "one section notifies three conditions", right, run_anew<many_conditions_test, 4>},
    {"futex-patience", "one gives up, two do not", right, run_anew<patience_test<futex_mutex, false>, 3>, sleeps},
    {"futex-hasty", "one gives up after its first look, two do not", right,
     run_anew<patience_test<futex_mutex, false, 200>, 3>, sleeps},
    {"futex-patience-spinning", "the same where waiters spin first", right,
     run_anew<patience_test<futex_mutex, false>, 3>},
    {"futex-giving-up", "the holder waits until one gives up", right, run_anew<giving_up_test<futex_mutex, false>, 3>,
     sleeps},
    {"futex_rwlock-patience", "a writer gives up", right, run_anew<patience_test<futex_rwlock, false>, 3>, sleeps},
    {"futex_rwlock-giving-up", "the holder waits until a writer gives up", right,
     run_anew<giving_up_test<futex_rwlock, false>, 3>, sleeps},
    {"futex_rwlock-shared-patience", "a reader gives up", right, run_anew<patience_test<writers_first, true>, 3>,
     sleeps},
    {"futex_rwlock-shared-giving-up", "the holder waits until a reader gives up", right,
     run_anew<giving_up_test<futex_rwlock, true>, 3>, sleeps},
    {"futex_rwlock-after-writers-giving-up", "the same where writers come first", right,
     run_anew<giving_up_test<writers_first, true>, 3>, sleeps},
    {"futex_rwlock-way-made", "a writer gives up, and a reader that waited for it goes in", right,
     run_anew<way_made_test<writers_first>, 3>, sleeps},
    {"futex_rwlock-handed-patience", "a writer gives up that may have been handed the lock", right,
     run_anew<patience_test<impatient<futex_rwlock>, false>, 3>, sleeps},
    {"futex_rwlock-handed-shared-patience", "a reader does", right,
     run_anew<patience_test<impatient<futex_rwlock>, true>, 3>, sleeps},
    {"futex_rwlock-handed-giving-up", "the holder waits until a writer gives up, and hands over to another", right,
     run_anew<giving_up_test<impatient<futex_rwlock>, false>, 3>, sleeps},
    {"futex_rwlock-handed-way-made", "a writer gives up, and a reader that waited for it goes in", right,
     run_anew<way_made_test<impatient<writers_first>>, 3>, sleeps},
    {"occ_rwlock-way-made", "the same", right, run_anew<way_made_test<occ_rwlock>, 3>, sleeps},
    {"txsync::shared_mutex-way-made", "the same", right, run_anew<way_made_test<shared_mutex>, 3>, sleeps},
    {"txsync::shared_mutex-way-made-spinning", "the same where waiters spin first", right,
     run_anew<way_made_test<shared_mutex>, 3>},
    {"tatas-patience", "one gives up, two do not", right, run_anew<patience_test<tatas_lock, false>, 3>},
    {"policy_mutex-tatas-giving-up", "the holder waits until one gives up", right,
     run_anew<giving_up_test<by_policy<lock_policy::tatas>, false>, 3>},
    {"policy_mutex-ticket-giving-up", "the same, ticket", right,
     run_anew<giving_up_test<by_policy<lock_policy::ticket>, false>, 3>},
    {"policy_mutex-priority_tatas-giving-up", "the same, priority_tatas", right,
     run_anew<giving_up_test<by_policy<lock_policy::priority_tatas>, false>, 3>},
    {"policy_mutex-fifo_ticket-in-line", "the holder waits until a thread with a deadline is in the queue", right,
     run_anew<in_line_test<lock_policy::fifo_ticket>, 2>},
    {"occ_rwlock-patience", "a writer gives up", right, run_anew<patience_test<occ_rwlock, false>, 3>, sleeps},
    {"occ_rwlock-giving-up", "the holder waits until a writer gives up", right,
     run_anew<giving_up_test<occ_rwlock, false>, 3>, sleeps},
    {"occ_rwlock-shared-patience", "a reader gives up", right, run_anew<patience_test<occ_rwlock, true>, 3>, sleeps},
    {"occ_rwlock-shared-giving-up", "the holder waits until a reader gives up", right,
     run_anew<giving_up_test<occ_rwlock, true>, 3>, sleeps},
    {"txsync::shared_mutex-timed", "for a time and until one", right, run_anew<timed_lock_test, 3>, sleeps},
    {"txsync::shared_mutex-patience", "a writer gives up", right, run_anew<patience_test<shared_mutex, false>, 3>,
     sleeps},
    {"txsync::shared_mutex-giving-up", "the holder waits until a writer gives up", right,
     run_anew<giving_up_test<shared_mutex, false>, 3>, sleeps},
    {"txsync::shared_mutex-shared-patience", "a reader gives up", right, run_anew<patience_test<shared_mutex, true>, 3>,
     sleeps},
    {"txsync::shared_mutex-shared-giving-up", "the holder waits until a reader gives up", right,
     run_anew<giving_up_test<shared_mutex, true>, 3>, sleeps},
    {"futex-destroyed", "destroyed by its last owner", right, run_anew<destroyed_lock_test<futex_mutex, 3>, 3>, sleeps},
    {"txsync::mutex-destroyed", "destroyed by its last owner", right, run_anew<destroyed_lock_test<mutex, 2>, 2>},
    {"futex_rwlock-handed-destroyed", "destroyed by its last owner", right,
     run_anew<destroyed_lock_test<impatient<futex_rwlock>, 3>, 3>, sleeps},
    {"futex_rwlock-destroyed", "destroyed by its last owner", right, run_anew<destroyed_lock_test<futex_rwlock, 3>, 3>,
     sleeps},
};

}  // namespace

std::span<const exploration> waiting_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
