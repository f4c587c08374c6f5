// SPDX-License-Identifier: Apache-2.0
// The rest of the table of docs/other-tools.md, "Forks while other threads wait": where the child hangs, and how it
// still goes on. Also types that children_of_forks.cpp lacks. A child that hangs is ended.
#include <gtest/gtest.h>

#include <memory>

#include <speculate/scoped_site.hpp>
#include <txsync/barrier.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/speculate/elided.hpp>

#include "harness/forks.hpp"
#include "harness/words.hpp"
#include "locks_under_test.hpp"

namespace {

using namespace conformance;

class ForksByType : public testing::Test {
 protected:
  void SetUp() override {
    if (maybe_emulated) GTEST_SKIP() << no_forks;
    if (under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no thread in the child of a fork";
  }
};

/// A lock that this thread holds while others wait to write; ends that.
template <class Lock, class Unlock, class Test>
void beside_writers(Lock& lock, Unlock unlock, Test test) {
  std::vector<std::thread> others = start_waiting(2, [&lock] {
    lock.lock();
    lock.unlock();
  });
  test();
  unlock(lock);
  join(others);
}
constexpr auto as_writer = [](auto& lock) { lock.unlock(); };
constexpr auto as_reader = [](auto& lock) { lock.unlock_shared(); };

/// The parent's waiting writers keep out readers that wait for writers. That ends when the lock is left empty in the
/// child, or a reader there begins to sleep.
TEST_F(ForksByType, AFutexRwlocksReadersAfterWritersForgetTheParents) {
  using lock_type = txsync::futex_rwlock;
  constexpr auto after_writers = lock_type::admit::after_writers;
  const auto lock = std::make_unique<lock_type>();
  const auto read = [&lock] {
    lock->lock_shared(after_writers);
    lock->unlock_shared();
  };
  const auto try_in_children = [&](auto unlock) {
    EXPECT_TRUE(child_succeeds([&] {
      unlock(*lock);
      expect_in_child(lock->try_lock_shared(after_writers));
      lock->unlock_shared();
      read();
      use(*lock);
    }));
    EXPECT_TRUE(child_succeeds([&] {
      lock->forget_sleepers();
      unlock(*lock);
      read();
      use(*lock);
    }));
  };
  const auto is_waited_for = [&lock] { return lock->is_closed_to_readers(after_writers); };
  lock->lock_shared();
  beside_writers(*lock, as_reader, [&] {
    while (!is_waited_for()) std::this_thread::yield();
    try_in_children(as_reader);
    EXPECT_TRUE(child_succeeds([&] {
      expect_in_child(!lock->try_lock_shared(after_writers));
      read();
      expect_in_child(lock->try_lock_shared(after_writers));
      lock->unlock_shared();
      as_reader(*lock);
      use(*lock);
    })) << "beside a reader";
  });
  lock->lock();
  beside_writers(*lock, as_writer, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until both sleep
    try_in_children(as_writer);
  });
}

/// The parent's sleepers are overdue, and its next unlock hands the lock to them. The child's does not, and hands it to
/// its own.
TEST_F(ForksByType, AFutexRwlockHandsNothingToTheParentsSleepers) {
  const auto lock = std::make_unique<txsync::futex_rwlock>();
  lock->lock();
  std::vector<std::thread> readers = start_waiting(2, [&lock] {
    lock->lock_shared();
    lock->unlock_shared();
  });
  beside_writers(*lock, as_writer, [&] {
    EXPECT_TRUE(child_succeeds([&] {
      lock->unlock();
      expect_in_child(!lock->is_held());
      use(*lock);
    }));
    EXPECT_TRUE(child_succeeds([&] {
      std::vector<std::thread> own = start_waiting(2, [&lock] {
        lock->lock_shared();
        lock->unlock_shared();
        lock->lock();
        lock->unlock();
      });
      lock->unlock();
      join(own);
      expect_in_child(!lock->is_held());
      use(*lock);
    })) << "where threads of its own sleep";
  });
  join(readers);
}

template <class Lock>
void expect_held_shared_hangs() {
  const auto lock = std::make_unique<Lock>();
  lock->lock_shared();
  beside_writers(*lock, as_reader, [&] {
    while (!lock->has_writer()) std::this_thread::yield();
    EXPECT_TRUE(child_hangs([&] {
      lock->unlock_shared();
      lock->lock_shared();
    }));
    EXPECT_TRUE(child_hangs([&] {
      lock->unlock_shared();
      lock->lock();
    }));
    EXPECT_TRUE(child_succeeds([&] {
      lock->unlock_shared();
      expect_in_child(!lock->try_lock_shared_until_ns(soon()) && !lock->try_lock_until_ns(soon()));
      std::construct_at(lock.get());
      use(*lock);
      lock->lock_shared();
      lock->unlock_shared();
    })) << "made anew";
  });
}
TEST_F(ForksByType, ASharedMutexHeldSharedBesideAWriterHangs) { expect_held_shared_hangs<txsync::shared_mutex>(); }
TEST_F(ForksByType, AnOccRwlockHeldSharedBesideAWriterHangs) { expect_held_shared_hangs<txsync::occ_rwlock>(); }

/// What a thread that does not exist there holds.
template <class Lock>
void expect_lost(Lock& lock) {
  std::atomic<bool> held{false};
  std::atomic<bool> ends{false};
  std::thread holder([&] {
    turn<Lock> own{lock};
    own.take();
    held = true;
    while (!ends) std::this_thread::yield();
    own.give_up();
  });
  while (!held) std::this_thread::yield();
  EXPECT_TRUE(child_succeeds([&] {
    turn<Lock> mine{lock};
    expect_in_child(!mine.try_take());
  }));
  EXPECT_TRUE(child_hangs([&] {
    turn<Lock> mine{lock};
    mine.take();
  }));
  ends = true;
  holder.join();
}
TEST_F(ForksByType, ALockOfAThreadThatDidNotForkHangs) {
  expect_lost(*std::make_unique<txsync::mutex>());
  expect_lost(*std::make_unique<txsync::fifo_mcs_lock>());
  expect_lost(*std::make_unique<txsync::srwlock>());
}

TEST_F(ForksByType, APriorityTatasLockGoesOn) {
  const auto lock = std::make_unique<txsync::priority_tatas_lock>();
  lock->lock();
  beside_writers(*lock, as_writer, [&] {
    EXPECT_TRUE(child_succeeds([&] {
      lock->unlock();
      use(*lock);
    }));
    constexpr std::size_t ready = 1;
    EXPECT_TRUE(child_hangs([&] {
      word_of<std::uint32_t>(*lock, ready).store(1);  // as if one of the parent's had been ready
      lock->unlock();
      lock->lock();
    }));
    EXPECT_TRUE(child_succeeds([&] {
      word_of<std::uint32_t>(*lock, ready).store(1);
      lock->unlock();
      expect_in_child(!lock->try_lock() && lock->try_lock_past_ready());
      lock->forget_ready();
      lock->unlock();
      use(*lock);
    }));
  });
}

/// policy_mutex forgets those that were ready by itself.
TEST_F(ForksByType, APriorityTatasLockByPolicyGoesOn) {
  static constinit txsync::site place{"tests.priority_tatas"};
  place.set_policy(txsync::lock_policy::priority_tatas);
  const auto lock = std::make_unique<txsync::policy_mutex>(place);
  lock->lock();
  beside_writers(*lock, as_writer, [&] {
    EXPECT_TRUE(child_succeeds([&] {
      lock->unlock();
      use(*lock);
    }));
  });
}

template <class Lock>
void expect_elided_goes_on() {
  const auto lock = std::make_unique<txsync::elided<Lock>>();
  lock->lock();
  beside_writers(*lock, as_writer, [&] {
    EXPECT_TRUE(child_succeeds([&] {
      lock->unlock();
      use(*lock);
    }));
  });
}
TEST_F(ForksByType, ElidedLocksGoOn) {
  expect_elided_goes_on<txsync::mutex>();
  expect_elided_goes_on<txsync::futex_mutex>();
  expect_elided_goes_on<txsync::tatas_lock>();
  expect_elided_goes_on<txsync::ticket_lock>();
}
template <class Lock>
void expect_elided_shared_goes_on() {
  const auto lock = std::make_unique<txsync::elided_shared<Lock>>();
  lock->lock();
  beside_writers(*lock, as_writer, [&] {
    EXPECT_TRUE(child_succeeds([&] {
      lock->unlock();
      use(*lock);
      lock->lock_shared();
      lock->unlock_shared();
    }));
  });
}
TEST_F(ForksByType, ElidedReaderWriterLocksGoOn) {
  expect_elided_shared_goes_on<txsync::shared_mutex>();
  expect_elided_shared_goes_on<txsync::futex_rwlock>();
  expect_elided_shared_goes_on<txsync::occ_rwlock>();
  expect_elided_shared_goes_on<txsync::srwlock>();
}

/// The child's unlock ends the node's turn. A second one there is reported, and does not end that of another node.
template <class Lock>
void expect_elided_queue_goes_on() {
  using lock_type = txsync::elided_with_node<Lock>;
  static constexpr txsync::elision_policy takes_the_lock{.attempts = 0};
  txsync::scoped_site place{takes_the_lock};
  const auto lock = std::make_unique<lock_type>(place);
  turn<lock_type> mine{*lock};
  mine.take();
  std::vector<std::thread> others = start_waiting(2, [&lock] {
    turn<lock_type> own{*lock};
    own.take();
    own.give_up();
  });
  EXPECT_TRUE(child_succeeds([&] {
    mine.give_up();
    turn<lock_type> other{*lock};
    other.take();
    mine.give_up();
    turn<lock_type> third{*lock};
    expect_in_child(!third.try_take());
    other.give_up();
    use(*lock);
  }));
  mine.give_up();
  join(others);
}
TEST_F(ForksByType, ElidedQueueLocksGoOn) {
  expect_elided_queue_goes_on<txsync::mcs_lock>();
  expect_elided_queue_goes_on<txsync::fifo_mcs_lock>();
}

/// Who has arrived counts, there as here; the phases after that need as many threads as ever.
TEST_F(ForksByType, ABarrierCountsThoseThatHaveArrivedAndNeedsAllItsThreads) {
  constexpr unsigned threads = 3;
  const auto all = std::make_unique<txsync::barrier>(threads);
  std::vector<std::thread> others = start_waiting(threads - 1, [&all] { (void)all->arrive_and_wait(); });
  EXPECT_TRUE(child_succeeds([&] {
    expect_in_child(all->arrive_and_wait());  // the third of the parent's phase
    std::vector<std::thread> own = start_waiting(threads - 1, [&all] { (void)all->arrive_and_wait(); });
    expect_in_child(all->arrive_and_wait());
    join(own);
  }));
  EXPECT_TRUE(child_hangs([&] {
    (void)all->arrive_and_wait();
    (void)all->arrive_and_wait();  // alone
  }));
  EXPECT_TRUE(all->arrive_and_wait());
  join(others);
}

}  // namespace
