// SPDX-License-Identifier: Apache-2.0
// One test for each mistake that was found in a lock once, so that it does not come back.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>

namespace {

constinit txsync::mutex guarded;
constinit int entered = 0;

[[gnu::noipa]] void fail_if(bool wanted) {
  if (wanted) throw std::runtime_error("wanted");
}

[[gnu::noipa]] void enter_and_maybe_fail(bool fails) {
  std::lock_guard guard(guarded);
  ++entered;
  fail_if(fails);
}

/// The compiler puts the guard's landing pad, and whole cold functions, into .text.unlikely. The restart code of the
/// inlined release must not get in their way there. (Seen with GCC -O2: the exception ended the program.)
TEST(Release, WorksInALandingPad) {
  enter_and_maybe_fail(false);
  EXPECT_THROW(enter_and_maybe_fail(true), std::runtime_error);
  ASSERT_TRUE(guarded.try_lock()) << "the landing pad gave the lock up";
  guarded.unlock();
  EXPECT_EQ(entered, 2);
}

[[gnu::cold, gnu::noipa]] void lock_and_unlock_in_a_cold_function() {
  guarded.lock();
  guarded.unlock();
}

TEST(Release, WorksInAColdFunction) {
  lock_and_unlock_in_a_cold_function();
  ASSERT_TRUE(guarded.try_lock());
  guarded.unlock();
}

using namespace std::chrono_literals;

void await(const std::atomic<bool>& flag) {
  while (!flag.load()) std::this_thread::sleep_for(100us);
}

/// Its unlock() returns when it is told to, which holds a waiter between "counted" and "asleep".
struct slow_lock {
  std::atomic<bool>& reached;
  std::atomic<bool>& may_go;
  const std::atomic<bool>& destroyed;
  bool& too_early;
  void lock() {}
  void unlock() {
    reached = true;
    await(may_go);
    std::this_thread::sleep_for(20ms);
    too_early = destroyed.load();
  }
};

/// Two threads wait, one is notified and the other's time runs out just then, so that both leave on one notification.
void leave_both_on_one_notification(txsync::condition_variable& changed) {
  txsync::mutex lock;
  int waiting = 0;
  const auto wait_for = [&](std::chrono::nanoseconds time) {
    std::unique_lock guard(lock);
    ++waiting;
    (void)changed.wait_for(guard, time);
  };
  const auto arrived = [&](int count) {
    const std::lock_guard guard(lock);
    return waiting == count;
  };
  std::thread patient([&] { wait_for(100h); });
  while (!arrived(1)) std::this_thread::yield();
  std::this_thread::sleep_for(10ms);
  std::thread impatient([&] { wait_for(100ms); });
  while (!arrived(2)) std::this_thread::yield();
  changed.notify_one();
  impatient.join();
  patient.join();
}

/// A waiter that was notified and has not left holds the destructor up, whatever happened before. (Once, a thread that
/// had left on another's notification stayed in the count of those that wait, and hid the next one.)
TEST(ConditionVariable, DestructorWaitsForTheNotified) {
  for (const bool after_timeout : {false, true}) {
    SCOPED_TRACE(after_timeout);
    auto changed = std::make_unique<txsync::condition_variable>();
    if (after_timeout) leave_both_on_one_notification(*changed);
    std::atomic<bool> reached{false}, may_go{false}, destroyed{false};
    bool too_early = false;
    std::thread waiter([&, raw = changed.get()] {
      slow_lock lock{reached, may_go, destroyed, too_early};
      EXPECT_TRUE(raw->wait_with(lock));
    });
    await(reached);
    changed->notify_one();
    std::thread destroyer([&] {
      may_go = true;
      changed.reset();
      destroyed = true;
    });
    waiter.join();
    destroyer.join();
    EXPECT_FALSE(too_early);
  }
}

// ---- parking_lot#212: a thread reads again while it reads, and a writer has come in between

/// `expected`: whether the lock lets it.
template <class Lock>
void read_again_beside_a_writer(bool expected) {
  Lock lock;
  lock.lock_shared();
  std::atomic<bool> wrote{false};
  std::thread writer([&] {
    lock.lock();
    wrote = true;
    lock.unlock();
  });
  // Until the writer keeps readers out, where that is its way; else for long enough to have slept.
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(expected ? 5 : 30'000);
  bool again = true;
  while (again && std::chrono::steady_clock::now() < until) {
    again = lock.try_lock_shared();
    if (again) lock.unlock_shared();
  }
  EXPECT_EQ(again, expected);
  if constexpr (requires { lock.try_lock_shared_for(std::chrono::milliseconds(2)); }) {
    again = lock.try_lock_shared_for(std::chrono::milliseconds(2));
    EXPECT_EQ(again, expected) << "lock_shared() would wait for ever";
    if (again) lock.unlock_shared();
  }
  EXPECT_FALSE(wrote) << "beside a reader";
  lock.unlock_shared();
  writer.join();
  EXPECT_TRUE(wrote);
  EXPECT_TRUE(lock.try_lock_shared());
}

TEST(ReadingAgain, WaitsBehindAWriterAsTheHeadersSay) {
  read_again_beside_a_writer<txsync::shared_mutex>(false);
  read_again_beside_a_writer<txsync::occ_rwlock>(false);
}
TEST(ReadingAgain, IsLetInByFutexRwlock) { read_again_beside_a_writer<txsync::futex_rwlock>(true); }

}  // namespace
