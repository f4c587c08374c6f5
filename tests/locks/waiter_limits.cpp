// SPDX-License-Identifier: Apache-2.0
// Counts of threads that wait, as far as lock_limits.cpp has not: as many as each word can say, and one more. A thread
// that cannot be counted waits uncounted or is refused, and is never let in. Most of those counted are not there: the
// words are written as if they were.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include <txsync/barrier.hpp>
#include <txsync/locks/priority_tatas.hpp>

#include "harness/words.hpp"
#include "locks/left_tickets.hpp"
#include "locks_under_test.hpp"
#include "scenarios/exclusion.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;

constexpr std::uint32_t max_threads_of_linux = 1U << 22;  // PID_MAX_LIMIT

/// Threads that take a lock which the first of the team holds, and whose word counts as many waiters as it can.
template <class Lock>
struct crowd {
  Lock lock;
  std::atomic<unsigned> inside{0}, past{0};
  bool met = false;  // guarded by the lock
};

// ---- sleepers of futex_rwlock

using rwlock_crowd = crowd<txsync::futex_rwlock>;
enum class comes : bool { to_read, to_write };

void come_in(rwlock_crowd& all, comes how) {
  if (how == comes::to_read) {
    all.lock.lock_shared();
    ++all.past;
    return all.lock.unlock_shared();
  }
  all.lock.lock();
  if (all.inside.fetch_add(1) != 0) all.met = true;
  --all.inside;
  ++all.past;
  all.lock.unlock();
}

/// `room`: how many of the two that come can be counted. Nobody is overdue: those that are not there would be handed
/// the lock.
violation more_sleepers_than_count(comes how, unsigned room) {
  const unsigned shift = how == comes::to_read ? 32 : 44;
  const std::uint64_t full = std::uint64_t{0xFFF} << shift;
  const std::uint64_t counted = full - (std::uint64_t{room} << shift);
  const auto all = std::make_shared<rwlock_crowd>();
  txsync::detail::wait_with(txsync::detail::patience::endless);
  all->lock.lock();
  std::atomic<std::uint64_t>& word = word_of<std::uint64_t>(all->lock);
  word.fetch_or(counted);
  const std::uint64_t held_and_full = word.load() | full;
  const auto found = run_team(3, [=](seat& me) {
    me.at("lock() or lock_shared()");
    if (me.index() != 0) return come_in(*all, how);
    std::atomic<std::uint64_t>& watched = word_of<std::uint64_t>(all->lock);
    if (!me.await("those that can be counted", [&] { return watched.load() == held_and_full; })) return;
    let_others_park();
    if (watched.load() != held_and_full) me.fail("one more changed the word");
    if (all->past != 0) me.fail("a held lock was acquired");
    if (how == comes::to_read ? all->lock.try_lock_shared_until_ns(soon()) : all->lock.try_lock_until_ns(soon())) {
      me.fail("a held lock was acquired before a deadline");
    }
    all->lock.unlock();
    (void)me.await("the end of both", [&] { return all->past == 2; });
  });
  txsync::detail::wait_with(txsync::detail::patience::usual);
  if (!found.empty()) return found;
  if (all->met) return "two writers were inside";
  all->lock.forget_sleepers();  // those that are not there
  return word.load() == 0 ? "" : "the word counts what is gone";
}

TEST(SleepersOfAFutexRwlock, WritersBeyondTheCountWaitUncounted) {
  for (const unsigned room : {0U, 1U}) EXPECT_EQ(more_sleepers_than_count(comes::to_write, room), "") << room;
}
TEST(SleepersOfAFutexRwlock, ReadersBeyondTheCountWaitUncounted) {
  for (const unsigned room : {0U, 1U}) EXPECT_EQ(more_sleepers_than_count(comes::to_read, room), "") << room;
}

// ---- readers that wait for a shared_mutex

constexpr std::uint64_t waiting_readers = std::uint64_t{0xFF'FFFF} << 32;

/// So many readers wait, none of whom is there.
void put_waiting(txsync::shared_mutex& lock, std::uint64_t count) {
  std::atomic<std::uint64_t>& word = word_of<std::uint64_t>(lock);
  word.store((word.load() & ~waiting_readers) | count << 32);
}

TEST(ReadersThatWaitForASharedMutex, BeyondTheCountWaitUncounted) {
  constexpr std::uint32_t max_waiting = 0xFF'FFFF;
  for (const unsigned room : {0U, 1U}) {
    SCOPED_TRACE(room);
    const auto all = std::make_shared<crowd<txsync::shared_mutex>>();
    all->lock.lock();
    put_waiting(all->lock, max_waiting - room);
    const auto found = run_team(3, [=](seat& me) {
      if (me.index() != 0) {
        me.at("lock_shared()");
        all->lock.lock_shared();
        ++all->past;
        return;
      }
      const std::atomic<std::uint64_t>& word = word_of<std::uint64_t>(all->lock);
      const auto is_full = [&] { return (word.load() & waiting_readers) == waiting_readers; };
      if (!me.await("those that can be counted", is_full)) return;
      let_others_park();
      if (!is_full() || !all->lock.has_writer()) me.fail("one more changed the word");
      if (all->past != 0 || all->lock.readers() != 0) me.fail("a reader got in beside the writer");
      if (all->lock.try_lock_shared_until_ns(soon())) me.fail("a held lock was acquired before a deadline");
      all->lock.unlock();
      (void)me.await("both readers", [&] { return all->past == 2; });
    });
    EXPECT_EQ(found, "");
    EXPECT_EQ(all->lock.readers(), max_waiting - room + 2);
    EXPECT_FALSE(all->lock.try_lock()) << "beside readers";
  }
}

/// Those that wait come in where there is no room for others: the count has bits for that.
TEST(ReadersThatWaitForASharedMutex, ComeInThoughTheSharedHoldsAreAllTaken) {
  constexpr std::uint32_t max_holds = 1U << 30;
  txsync::shared_mutex lock;
  word_of<std::uint64_t>(lock).store(max_holds | std::uint64_t{max_threads_of_linux} << 32 | std::uint64_t{1} << 62);
  const auto writer_gives_up = [&lock] {  // as shared_mutex::withdraw()
    std::atomic<std::uint64_t>& word = word_of<std::uint64_t>(lock);
    word.fetch_and(~(std::uint64_t{1} << 62));
  };
  std::thread reader([&lock] { lock.lock_shared(); });
  const auto counted = [&lock] { return word_of<std::uint64_t>(lock).load() >> 32 & 0xFF'FFFF; };
  while (counted() != max_threads_of_linux + 1) std::this_thread::yield();
  writer_gives_up();
  txsync::machine::unpark_high(word_of<std::uint64_t>(lock), txsync::machine::everyone);
  reader.join();
  EXPECT_EQ(lock.readers(), max_holds + 1);
  EXPECT_FALSE(lock.try_lock_shared());
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.has_writer());
}

// ---- tickets that are left

constexpr unsigned max_left = 256;

TEST(LeftTickets, OneMoreThanTheListHasRoomForIsNotDrawn) {
  using namespace txsync::detail;
  ticket_queue queue;
  const std::uint32_t mine = queue.draw();
  ASSERT_TRUE(queue.is_served(mine));
  for (unsigned i = 0; i < max_left; ++i) ASSERT_EQ(draw_and_wait_until(queue, 0), timed_wait::expired) << i;
  EXPECT_EQ(tickets_left.load(), max_left);
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(draw_and_wait_until(queue, 0), timed_wait::no_room);
  EXPECT_EQ(queue.inside(), 1 + max_left) << "nothing more was drawn";
  ticket_queue another;
  EXPECT_EQ(draw_and_wait_until(another, soon()), timed_wait::no_room) << "the list is one for all";
  EXPECT_FALSE(another.is_held());
  queue.serve_next();
  pass_on_left(queue, ticket_queue::ticket_after(mine));
  EXPECT_FALSE(queue.is_held()) << "all of them are passed over";
  EXPECT_EQ(tickets_left.load(), 0u);
  EXPECT_EQ(draw_and_wait_until(another, soon()), timed_wait::served) << "and there is room again";
  another.serve_next();
}

/// A timed waiter of any lock, while the list is full of others' tickets.
TEST(LeftTickets, WithAFullListTimedWaitersLookNowAndThen) {
  using namespace txsync::detail;
  ticket_queue queue;
  const std::uint32_t mine = queue.draw();
  for (unsigned i = 0; i < max_left; ++i) ASSERT_EQ(draw_and_wait_until(queue, 0), timed_wait::expired) << i;
  const auto shared = std::make_shared<crowd<ticket_by_policy>>();
  const auto found = run_team(3, [=](seat& me) {
    if (me.index() != 0) {
      if (!me.await("the holder", [&] { return shared->lock.is_held(); })) return;
      if (shared->lock.try_lock_for(1ms)) return me.fail("a held lock was acquired");
      ++shared->past;
      me.at("try_lock_for()");
      if (!shared->lock.try_lock_for(60s)) return me.fail("a free lock was not acquired");
      if (shared->inside.fetch_add(1) != 0) me.fail("two threads were inside");
      --shared->inside;
      return shared->lock.unlock();
    }
    shared->lock.lock();
    (void)me.await("their first deadlines", [&] { return shared->past == 2; });
    shared->lock.unlock();
  });
  EXPECT_EQ(found, "");
  EXPECT_FALSE(shared->lock.is_held());
  queue.serve_next();
  pass_on_left(queue, ticket_queue::ticket_after(mine));
  EXPECT_EQ(tickets_left.load(), 0u);
}

// ---- the door of mcs_lock, and priority_tatas_lock

/// The numbers of those outside begin anew, and the count of acquisitions is as high as it goes.
TEST(WaitersOfAnMcsLock, NumbersOfItsDoorBeginAnew) {
  constexpr unsigned threads = 6;
  constexpr std::size_t door = 4;  // in words of 32 bits
  const auto shared = std::make_shared<guarded_by<txsync::mcs_lock>>();
  for (const std::size_t i : {door, door + 1}) word_of<std::uint32_t>(shared->lock, i).store(0xFFFF'FFFB);
  constexpr std::size_t passed = 2 * door + 5;  // in words of 16 bits
  word_of<std::uint16_t>(shared->lock, passed).store(0xFFFE);
  const unsigned sections = rounds(400);
  txsync::detail::lower_patience(8);
  const auto found = run_team(threads, [=](seat& me) {
    for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
      me.at("lock()");
      const txsync::mcs_lock::guard writing(shared->lock);
      shared->data.update(me, inside::nothing, round);
      me.tick();
    }
  });
  txsync::detail::lower_patience(0);
  EXPECT_EQ(found.empty() ? shared->data.count_is(long{threads} * sections) : found, "");
  EXPECT_FALSE(shared->lock.is_held());
}

/// Counts how often it is asked to use a wait.
struct asked_pastime final : txsync::pastime {
  std::atomic<unsigned> asked{0};
  spent spend(const txsync::lock_wait&) noexcept override {
    ++asked;
    return spent::time;
  }
};

TEST(WaitersOfAPriorityTatasLock, MoreThanMayBeReadyDoNotGetReadyAndNobodyPassesThem) {
  struct state {
    txsync::priority_tatas_lock lock;
    asked_pastime meanwhile;
    std::atomic<unsigned> past{0};
  };
  constexpr std::size_t ready = 1;
  for (const std::uint32_t count : {txsync::priority_tatas_lock::max_ready, max_threads_of_linux}) {
    SCOPED_TRACE(count);
    const auto all = std::make_shared<state>();
    word_of<std::uint32_t>(all->lock, ready).store(count);  // none of whom is there
    const auto found = run_team(3, [=](seat& me) {
      if (me.index() != 0) {
        me.at("lock()");
        if (me.index() == 1) {
          all->lock.lock();
        } else {
          (void)all->lock.lock(all->meanwhile);
        }
        ++all->past;
        return all->lock.unlock();
      }
      let_others_park();
      if (all->past != 0 || all->lock.try_lock()) me.fail("a thread passed those that are ready");
      if (all->meanwhile.asked != 0) me.fail("more got ready than may be");
      if (word_of<std::uint32_t>(all->lock, ready).load() != count) me.fail("the count of those ready has changed");
      all->lock.forget_ready();
      (void)me.await("both", [&] { return all->past == 2; });
    });
    EXPECT_EQ(found, "");
    EXPECT_FALSE(all->lock.has_ready());
  }
}

// ---- threads of a barrier

TEST(ThreadsOfABarrier, AsManyAsCanBeCountedAndNoMore) {
  constexpr std::uint32_t most = txsync::barrier::max_threads;
  txsync::barrier largest(most);
  constexpr std::size_t awaited = 1;
  EXPECT_EQ(word_of<std::uint32_t>(largest, awaited).load(), most);
  word_of<std::uint32_t>(largest, awaited).store(1);
  EXPECT_TRUE(largest.arrive_and_wait()) << "the last of all";
  EXPECT_EQ(word_of<std::uint32_t>(largest, awaited).load(), most);
  for (const std::uint32_t wrong : {std::uint32_t{0}, most + 1, 0xFFFF'FFFFU}) {
    EXPECT_DEATH((void)std::make_unique<txsync::barrier>(wrong), "txsync: a barrier for 0 threads or more than 2\\^31")
        << wrong;
  }
}

}  // namespace
