// SPDX-License-Identifier: Apache-2.0
// What the library says of mistakes: one line for each place and kind of mistake, with the caller, and no crash. POSIX
// leaves most of them undefined.
#include <algorithm>
#include <cerrno>

#include "support.hpp"

namespace {

using namespace preload_tests;

/// What `body` leaves on the standard error, in a process of its own, which must end well.
std::string said_by(const std::function<bool()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = start_child([&] {
    dup2(ends[1], STDERR_FILENO);
    return body();
  });
  close(ends[1]);
  std::string said;
  char part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  EXPECT_TRUE(child_succeeded(child)) << said;
  return said;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void expect_one_line(const std::string& said, const char* words) {
  EXPECT_EQ(lines_of(said), 1U) << said;
  EXPECT_NE(said.find(words), std::string::npos) << said;
  EXPECT_EQ(said.rfind("txsync: ", 0), 0U) << said;
  EXPECT_NE(said.find("/preload_misuse+0x"), std::string::npos) << said;
}

TEST(misuse, double_unlock) {
  expect_one_line(said_by([] {
                    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
                    bool right = true;
                    pthread_mutex_lock(&mutex);
                    pthread_mutex_unlock(&mutex);
                    for (int i = 0; i < 10; ++i) {
                      errno = 4711;
                      right &= pthread_mutex_unlock(&mutex) == 0 && errno == 4711;
                    }
                    return right && pthread_mutex_lock(&mutex) == 0 && pthread_mutex_trylock(&mutex) == EBUSY;
                  }),
                  "while no thread held it");
}

TEST(misuse, unlock_by_non_owner) {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP})
    expect_one_line(said_by([type] {
                      typed_mutex mutex(type);
                      bool right = true;
                      for (int i = 0; i < 5; ++i) {
                        pthread_mutex_lock(mutex.get());
                        right &= elsewhere([&] { return pthread_mutex_unlock(mutex.get()); }) == 0;
                      }
                      return right;
                    }),
                    "that did not hold it");
}

// The signaller keeps the mutex, and another thread gives it up: the wake-up that the signaller deferred is made.
TEST(misuse, unlock_by_non_owner_after_a_signal) {
  expect_one_line(said_by([] {
                    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
                    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
                    static bool waits = false, told = false;
                    std::thread waiter([] {
                      pthread_mutex_lock(&mutex);
                      waits = true;
                      while (!told) pthread_cond_wait(&condition, &mutex);
                      pthread_mutex_unlock(&mutex);
                    });
                    for (bool seen = false; !seen; sleep_ms(1)) {
                      pthread_mutex_lock(&mutex);
                      seen = waits;
                      pthread_mutex_unlock(&mutex);
                    }
                    sleep_ms(5);
                    pthread_mutex_lock(&mutex);
                    told = true;
                    pthread_cond_signal(&condition);
                    const int status = elsewhere([] { return pthread_mutex_unlock(&mutex); });
                    waiter.join();
                    return status == 0;
                  }),
                  "that did not hold it");
}

// The checking kinds answer with an error, and the program knows.
TEST(misuse, checked_kinds_say_it_by_themselves) {
  EXPECT_EQ(said_by([] {
              typed_mutex mutex(PTHREAD_MUTEX_ERRORCHECK);
              pthread_mutex_lock(mutex.get());
              const bool right = elsewhere([&] { return pthread_mutex_unlock(mutex.get()); }) == EPERM;
              return pthread_mutex_unlock(mutex.get()) == 0 && right;
            }),
            "");
}

TEST(misuse, destroyed_locked) {
  expect_one_line(said_by([] {
                    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
                    pthread_mutex_lock(&mutex);
                    bool right = true;
                    for (int i = 0; i < 3; ++i) right &= pthread_mutex_destroy(&mutex) == EBUSY;
                    return right && pthread_mutex_unlock(&mutex) == 0;
                  }),
                  "destroyed while");
}

TEST(misuse, wait_without_mutex) {
  expect_one_line(said_by([] {
                    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
                    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
                    bool right = true;
                    for (int i = 0; i < 3; ++i) {
                      const timespec soon = in_ms(CLOCK_REALTIME, 20);
                      right &= pthread_cond_timedwait(&condition, &mutex, &soon) == ETIMEDOUT;
                      right &= has_come(CLOCK_REALTIME, soon) && pthread_mutex_unlock(&mutex) == 0;
                    }
                    return right;
                  }),
                  "waits for a condition");
}

TEST(misuse, each_place_and_kind_once) {
  const std::string said = said_by([] {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_spinlock_t spinlock;
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    bool right = true;
    for (int i = 0; i < 4; ++i) {
      right &= pthread_mutex_unlock(&mutex) == 0;
      right &= pthread_mutex_unlock(&mutex) == 0;
      right &= pthread_rwlock_unlock(&rwlock) == 0;
      right &= pthread_spin_unlock(&spinlock) == 0;
    }
    return right;
  });
  EXPECT_EQ(lines_of(said), 4U) << said;
}

// Reporting is no cancellation point either.
TEST(misuse, reported_by_a_cancelled_thread) {
  expect_one_line(said_by([] {
                    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
                    return elsewhere([&] {
                             pthread_cancel(pthread_self());
                             pthread_mutex_unlock(&mutex);
                             const int status = pthread_mutex_lock(&mutex);
                             pthread_mutex_unlock(&mutex);
                             pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
                             return status;
                           }) == 0;
                  }),
                  "while no thread held it");
}

}  // namespace
