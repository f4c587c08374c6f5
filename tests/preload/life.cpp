// SPDX-License-Identifier: Apache-2.0
// Locks at the edges of lives: of the process, of threads, of libraries; and many of everything.
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <csignal>

#include "support.hpp"

namespace {

using namespace preload_tests;

pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER;
int before_main = 0;

[[gnu::constructor(101)]] void lock_before_main() {
  pthread_mutex_lock(&early);
  ++before_main;
  pthread_mutex_unlock(&early);
}

/// A static object whose destructor locks, after main, in whatever order.
struct locks_at_the_end {
  ~locks_at_the_end() {
    pthread_mutex_lock(&early);
    pthread_mutex_unlock(&early);
  }
};
const locks_at_the_end at_the_end;

TEST(life, before_main) { EXPECT_EQ(before_main, 1); }

TEST(life, atexit_and_static_destructors) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    atexit([] {
      pthread_mutex_lock(&early);
      pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
      const timespec soon = in_ms(CLOCK_REALTIME, 2);
      pthread_cond_timedwait(&condition, &early, &soon);
      pthread_mutex_unlock(&early);
      std::thread([] {
        pthread_mutex_lock(&early);
        pthread_mutex_unlock(&early);
      }).join();
    });
    exit(7);
  }
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(life, plugins) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> over{false};
    std::thread other([&] {
      while (!over) {
        pthread_mutex_lock(&early);
        pthread_mutex_unlock(&early);
      }
    });
    void* const library = dlopen(PLUGIN, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    auto* const call = reinterpret_cast<long (*)()>(dlsym(library, "plugin_call"));
    ASSERT_NE(call, nullptr);
    EXPECT_EQ(call(), 2);
    EXPECT_EQ(call(), 3);
    EXPECT_EQ(dlclose(library), 0);
    over = true;
    other.join();
  }
}

thread_local struct locks_when_thread_ends {
  bool touched = false;
  ~locks_when_thread_ends() {
    pthread_mutex_lock(&early);
    ++before_main;
    pthread_mutex_unlock(&early);
  }
} local_with_destructor;

TEST(life, destructors_of_keys_and_thread_locals) {
  static pthread_key_t keys[40];
  static std::atomic<int> ran{0};
  for (pthread_key_t& key : keys)
    ASSERT_EQ(pthread_key_create(&key,
                                 [](void* rounds_left) {
                                   pthread_mutex_lock(&early);
                                   pthread_mutex_unlock(&early);
                                   ++ran;
                                   // Comes again, after the exit handlers of every library.
                                   const auto left = reinterpret_cast<std::uintptr_t>(rounds_left);
                                   if (left > 1) pthread_setspecific(keys[0], reinterpret_cast<void*>(left - 1));
                                 }),
              0);
  before_main = 0;
  on_threads(16, [](int) {
    local_with_destructor.touched = true;
    pthread_mutex_lock(&early);
    pthread_mutex_unlock(&early);
    for (const pthread_key_t key : keys) pthread_setspecific(key, reinterpret_cast<void*>(1));
    pthread_setspecific(keys[0], reinterpret_cast<void*>(3));
  });
  EXPECT_EQ(ran.load(), 16 * 42);
  EXPECT_EQ(before_main, 16);
  for (const pthread_key_t key : keys) pthread_key_delete(key);
}

// Programs that use up the keys.
TEST(life, no_keys_left) {
  EXPECT_TRUE(in_child([] {
    pthread_key_t key{};
    int made = 0;
    while (pthread_key_create(&key, nullptr) == 0) ++made;
    std::thread([] {
      for (int i = 0; i < 1000; ++i) {
        pthread_mutex_lock(&early);
        pthread_mutex_unlock(&early);
      }
    }).join();
    return made > 900;
  }));
}

/// From now on other system calls of the process' threads end it.
bool allow_only(const std::vector<unsigned>& calls, bool by_prctl = false) {
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (by_prctl) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

/// Two threads that contend for a mutex and wait for a condition, in a process that may make these calls only.
bool go_on_with(const std::vector<unsigned>& calls) {
  return in_child([&calls] {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static int turn = -1, ready = 0, done = 0;
    for (int me = 0; me < 2; ++me)
      std::thread([me] {
        pthread_mutex_lock(&mutex);
        ++ready;
        for (int i = 0; i < 500; ++i) {
          while (turn != me) pthread_cond_wait(&condition, &mutex);
          turn = 1 - me;
          pthread_cond_broadcast(&condition);
        }
        for (int i = 0; i < 20'000; ++i) {
          pthread_mutex_unlock(&mutex);
          pthread_mutex_lock(&mutex);
        }
        ++done;
        pthread_cond_broadcast(&condition);
        while (done < 3) pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
      }).detach();
    pthread_mutex_lock(&mutex);
    while (ready < 2) {
      pthread_mutex_unlock(&mutex);
      sleep_ms(1);
      pthread_mutex_lock(&mutex);
    }
    if (!allow_only(calls)) return false;
    turn = 0;
    pthread_cond_broadcast(&condition);
    while (done < 2) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return true;
  });
}

TEST(life, sandboxed_threads) {
  EXPECT_TRUE(go_on_with({SYS_futex, SYS_read, SYS_membarrier, SYS_sched_yield, SYS_clock_nanosleep,
                          SYS_sched_getscheduler, SYS_madvise, SYS_getpid, SYS_gettid, SYS_exit_group}));
}

// What the C library's locks need is enough.
TEST(life, sandboxed_threads_with_locks_only) { EXPECT_TRUE(go_on_with({SYS_futex, SYS_exit_group})); }

// The first locks of a site, and of a thread that has taken none before, come after the filter.
TEST(life, first_locks_in_a_sandbox) {
  EXPECT_TRUE(in_child([] {
    static std::atomic<int> started{0}, go{0}, done{0};
    static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
    std::thread([] {
      started = 1;
      while (go == 0) {
      }
      for (int i = 0; i < 1000; ++i) {
        pthread_mutex_lock(&shared);
        pthread_mutex_t own;
        pthread_mutex_init(&own, nullptr);
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
        pthread_mutex_destroy(&own);
        pthread_mutex_unlock(&shared);
      }
      done = 1;
      while (true) {
      }
    }).detach();
    while (started == 0) sleep_ms(1);
    if (!allow_only({SYS_futex, SYS_exit_group})) return false;
    go = 1;
    for (int i = 0; i < 1000 || done == 0; ++i) {
      pthread_mutex_lock(&shared);
      pthread_mutex_unlock(&shared);
    }
    return true;
  }));
}

// Programs ask in this way whether the kernel knows filters.
TEST(life, no_filter_is_no_sandbox) {
  errno = 0;
  EXPECT_EQ(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr), -1);
  EXPECT_EQ(errno, EFAULT);
  errno = 0;
  EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(syscall(SYS_gettid), gettid());
}

TEST(life, sandbox_by_prctl) {
  EXPECT_TRUE(in_child([] {
    if (!allow_only({SYS_futex, SYS_exit_group}, true)) return false;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 1000; ++i) {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
    return true;
  }));
}

TEST(life, many_mutexes_and_threads) {
  struct cell {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    long count = 0;
  };
  std::vector<cell> cells(20'000);
  std::atomic<long> done{0};
  on_threads(200, [&](int index) {
    unsigned random = static_cast<unsigned>(index) * 2654435761U + 1;
    for (int i = 0; i < 1000; ++i) {
      random = random * 1664525U + 1013904223U;
      cell& one = cells[random >> 8 % 12 & 0x3FFF];
      pthread_mutex_lock(&one.mutex);
      one.count = one.count + 1;
      pthread_mutex_unlock(&one.mutex);
      ++done;
    }
  });
  long sum = 0;
  for (cell& one : cells) {
    sum += one.count;
    EXPECT_EQ(pthread_mutex_destroy(&one.mutex), 0);
  }
  EXPECT_EQ(sum, done.load());
  EXPECT_EQ(sum, 200'000);
}

TEST(life, threads_that_come_and_go) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  long counter = 0;
  for (int i = 0; i < 100; ++i)
    on_threads(20, [&](int) {
      pthread_mutex_lock(&mutex);
      counter = counter + 1;
      pthread_mutex_unlock(&mutex);
    });
  EXPECT_EQ(counter, 2000);
}

// Signals that interrupt locking and unlocking everywhere; the handler uses a lock of its own, which nobody else does.
TEST(life, signal_handlers) {
  static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  static std::atomic<int> handled{0};
  struct sigaction action{};
  action.sa_handler = [](int) {
    if (pthread_mutex_trylock(&own) == 0) pthread_mutex_unlock(&own);
    ++handled;
  };
  sigaction(SIGUSR1, &action, nullptr);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  long counter = 0;
  std::atomic<int> running{4};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 30'000; ++k) {
        pthread_mutex_lock(&mutex);
        counter = counter + 1;
        if (k % 1000 == i) {
          const timespec soon = in_ms(CLOCK_REALTIME, 1);
          pthread_cond_timedwait(&condition, &mutex, &soon);
        }
        pthread_mutex_unlock(&mutex);
      }
      --running;
      while (running > 0) sleep_ms(1);
    });
  while (running > 0) {
    for (std::thread& thread : threads) pthread_kill(thread.native_handle(), SIGUSR1);
    usleep(50);
    if (running == 0) break;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 120'000);
  EXPECT_GT(handled.load(), 0);
  signal(SIGUSR1, SIG_DFL);
}

}  // namespace
