// SPDX-License-Identifier: Apache-2.0
// elided_exits: ways out of a section of a pthread mutex or reader-writer lock other than its end, and what programs do
// wrong with them. All come out the same whether the lock is elided or taken. Says "all right", or which line was not.
// Words: what is to be done that the library tells of; "sure": all that may be elided is.
#include <pthread.h>

#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <stdexcept>

extern "C" unsigned txsync_sim_depth();

namespace {

bool is_sure = false;  // that what may be elided is

/// What has gone wrong is said at the end: output would end the attempt that went wrong.
struct failure {
  int line;
  const char* what;
};
constexpr int max_failures = 20;
failure failures[max_failures];
int wrong = 0;

#define EXPECT(what)                                                                   \
  do {                                                                                 \
    if (!(what) && wrong < max_failures) failures[wrong++] = failure{__LINE__, #what}; \
  } while (false)

struct typed_mutex {
  pthread_mutex_t mutex;
  explicit typed_mutex(int type) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, type);
    pthread_mutex_init(&mutex, &how);
    pthread_mutexattr_destroy(&how);
  }
};

/// What `body` answers in another thread.
template <class Body>
int elsewhere(Body body) {
  struct call {
    Body& body;
    int answer;
  } made{body, 0};
  pthread_t thread;
  const auto run = [](void* raw) -> void* {
    auto* mine = static_cast<call*>(raw);
    mine->answer = mine->body();
    return nullptr;
  };
  pthread_create(&thread, nullptr, run, &made);
  pthread_join(thread, nullptr);
  return made.answer;
}

bool is_free(pthread_mutex_t& mutex) {
  return elsewhere([&] {
           const int status = pthread_mutex_trylock(&mutex);
           if (status == 0) pthread_mutex_unlock(&mutex);
           return status;
         }) == 0;
}

// ---- ways out

long value = 0;

void exceptions() {
  std::mutex mutex;
  for (long i = 0; i < 20; ++i) {
    value = 0;
    try {
      const std::lock_guard hold(mutex);
      value = i + 1;
      if (i % 2 == 0) throw std::runtime_error("out");
      value += 100;
    } catch (const std::runtime_error& error) {
      EXPECT(std::strcmp(error.what(), "out") == 0 && i % 2 == 0);
    }
    EXPECT(value == i + 1 + (i % 2 == 0 ? 0 : 100));
    EXPECT(!is_sure || txsync_sim_depth() == 0);
  }
  EXPECT(is_free(*mutex.native_handle()));
}

/// Caught where the lock is still held.
void exceptions_within() {
  std::mutex mutex;
  for (int i = 0; i < 5; ++i) {
    const std::lock_guard hold(mutex);
    try {
      value = 7;
      throw i;
    } catch (int caught) {
      value += caught;
    }
    EXPECT(value == 7 + i);
  }
  EXPECT(is_free(*mutex.native_handle()));
}

pthread_mutex_t jumped = PTHREAD_MUTEX_INITIALIZER;
std::jmp_buf out;

__attribute__((noinline)) void jump_out() {
  pthread_mutex_lock(&jumped);
  value = 42;
  std::longjmp(out, 1);
}

/// The lock stays taken, or the section goes on: it is the thread's until it unlocks.
void long_jumps() {
  for (int i = 0; i < 5; ++i) {
    value = 0;
    if (setjmp(out) == 0) jump_out();
    EXPECT(value == 42);
    EXPECT(pthread_mutex_trylock(&jumped) == EBUSY);
    EXPECT(pthread_mutex_unlock(&jumped) == 0);
    EXPECT(value == 42);
    EXPECT(is_free(jumped));
  }
  if (setjmp(out) == 0) jump_out();
  EXPECT(!is_free(jumped));  // making a thread ends the attempt: it is the lock that others see
  EXPECT(pthread_mutex_unlock(&jumped) == 0);
  EXPECT(is_free(jumped));
}

/// A thread that ends in its section leaves the mutex held.
void thread_exits() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  value = 0;
  pthread_t thread;
  const auto run = [](void*) -> void* {
    pthread_mutex_lock(&mutex);
    value = 5;
    pthread_exit(reinterpret_cast<void*>(9));
  };
  void* answer = nullptr;
  pthread_create(&thread, nullptr, run, nullptr);
  pthread_join(thread, &answer);
  EXPECT(answer == reinterpret_cast<void*>(9));
  EXPECT(value == 5);
  EXPECT(pthread_mutex_trylock(&mutex) == EBUSY);
}

// ---- what mutexes are, and what is done to them (thesis on TSX in InnoDB, 3.4 and B.1)

/// The whole life of a mutex, and whether it was elided.
void lives(pthread_mutex_t& mutex, bool may_elide) {
  bool elided = false;
  for (int i = 0; i < 3; ++i) {
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    elided |= txsync_sim_depth() != 0;
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    int status;
    while ((status = pthread_mutex_trylock(&mutex)) == EBUSY) {
    }
    EXPECT(status == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
  }
  EXPECT(!is_sure || elided == may_elide);
  EXPECT(pthread_mutex_destroy(&mutex) == 0);
  EXPECT(pthread_mutex_lock(&mutex) == EINVAL);
}

void types() {
  for (const int type : {PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP,
                         PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK}) {
    typed_mutex mutex(type);
    lives(mutex.mutex, type != PTHREAD_MUTEX_ERRORCHECK);
  }
  pthread_mutex_t as_it_is = PTHREAD_MUTEX_INITIALIZER;
  lives(as_it_is, true);
  static pthread_mutexattr_t never_initialised;  // all zero
  pthread_mutex_t mutex;
  EXPECT(pthread_mutex_init(&mutex, &never_initialised) == 0);
  lives(mutex, true);
}

void recursion() {
  typed_mutex made(PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t& mutex = made.mutex;
  for (int i = 0; i < 5; ++i) {
    constexpr int depth = 12;  // more than an attempt keeps account of
    for (int level = 0; level < depth; ++level) {
      EXPECT((level % 2 == 0 ? pthread_mutex_lock(&mutex) : pthread_mutex_trylock(&mutex)) == 0);
    }
    for (int level = 0; level < depth; ++level) EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    EXPECT(pthread_mutex_trylock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
  }
  EXPECT(is_free(mutex));
}

void tries() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  const timespec soon{2'000'000'000, 0};
  for (int i = 0; i < 5; ++i) {
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    EXPECT(pthread_mutex_trylock(&mutex) == EBUSY);
    EXPECT(pthread_mutex_trylock(&other) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&other) == 0);
    EXPECT(pthread_mutex_timedlock(&mutex, &soon) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
  }
}

void relocks() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const timespec long_ago{};
  for (int i = 0; i < 3; ++i) {
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    EXPECT(pthread_mutex_timedlock(&mutex, &long_ago) == ETIMEDOUT);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
  }
}

// ---- reader-writer locks

using way_in = int (*)(pthread_rwlock_t*);
constexpr way_in ways_in[] = {pthread_rwlock_rdlock, pthread_rwlock_wrlock};

/// Whether another thread can write, or read.
bool is_free(pthread_rwlock_t& lock, way_in try_in = pthread_rwlock_trywrlock) {
  return elsewhere([&] {
           const int status = try_in(&lock);
           if (status == 0) pthread_rwlock_unlock(&lock);
           return status;
         }) == 0;
}

void reader_writer_exits() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  for (const way_in enter : ways_in) {
    for (int i = 0; i < 5; ++i) {
      bool elided = false;
      value = 0;
      try {
        EXPECT(enter(&lock) == 0);
        elided = txsync_sim_depth() != 0;
        value = i;
        if (i % 2 == 0) throw i;
        EXPECT(pthread_rwlock_unlock(&lock) == 0);
      } catch (int caught) {
        EXPECT(caught == i && pthread_rwlock_unlock(&lock) == 0);
      }
      EXPECT(value == i);
      EXPECT(!is_sure || (elided && txsync_sim_depth() == 0));
      value = 0;
      if (setjmp(out) == 0) {
        EXPECT(enter(&lock) == 0);
        value = 42;
        std::longjmp(out, 1);
      }
      EXPECT(value == 42);
      EXPECT(pthread_rwlock_trywrlock(&lock) == EBUSY);
      EXPECT(!is_free(lock));
      EXPECT(is_free(lock, pthread_rwlock_tryrdlock) == (enter == pthread_rwlock_rdlock));
      EXPECT(pthread_rwlock_unlock(&lock) == 0);
      EXPECT(is_free(lock));
    }
  }
}

void reader_writer_thread_exits() {
  static pthread_rwlock_t locks[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
  pthread_t thread;
  const auto run = [](void*) -> void* {
    pthread_rwlock_rdlock(&locks[0]);
    pthread_rwlock_wrlock(&locks[1]);
    pthread_exit(nullptr);
  };
  pthread_create(&thread, nullptr, run, nullptr);
  pthread_join(thread, nullptr);
  EXPECT(pthread_rwlock_tryrdlock(&locks[0]) == 0 && pthread_rwlock_unlock(&locks[0]) == 0);
  EXPECT(pthread_rwlock_trywrlock(&locks[0]) == EBUSY);
  EXPECT(pthread_rwlock_tryrdlock(&locks[1]) == EBUSY);
}

/// What a thread is told that comes again.
void reader_writer_answers() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  const timespec long_ago{};
  for (int i = 0; i < 3; ++i) {
    constexpr int depth = 12;  // more than an attempt keeps account of
    for (int level = 0; level < depth; ++level) {
      EXPECT((level % 2 == 0 ? pthread_rwlock_rdlock(&lock) : pthread_rwlock_tryrdlock(&lock)) == 0);
      EXPECT(pthread_rwlock_trywrlock(&lock) == EBUSY);
    }
    for (int level = 0; level < depth; ++level) EXPECT(pthread_rwlock_unlock(&lock) == 0);
    EXPECT(pthread_rwlock_rdlock(&lock) == 0);
    EXPECT(pthread_rwlock_timedwrlock(&lock, &long_ago) == ETIMEDOUT);
    EXPECT(pthread_rwlock_timedrdlock(&lock, &long_ago) == 0);
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
    for (const way_in again : ways_in) {
      EXPECT(pthread_rwlock_wrlock(&lock) == 0);
      EXPECT(pthread_rwlock_tryrdlock(&lock) == EBUSY);
      EXPECT(pthread_rwlock_trywrlock(&lock) == EBUSY);
      EXPECT(again(&lock) == EDEADLK);
      EXPECT(pthread_rwlock_timedwrlock(&lock, &long_ago) == EDEADLK);
      EXPECT(pthread_rwlock_unlock(&lock) == 0);
    }
    EXPECT(is_free(lock));
  }
  EXPECT(pthread_rwlock_destroy(&lock) == 0);
}

/// In each other, ending in any order.
void sections_of_both_kinds() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  for (int i = 0; i < 6; ++i) {
    const way_in enter = ways_in[i % 2];
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    EXPECT(enter(&lock) == 0);
    EXPECT((i % 3 == 0 ? pthread_mutex_unlock(&mutex) : pthread_rwlock_unlock(&lock)) == 0);
    EXPECT((i % 3 == 0 ? pthread_rwlock_unlock(&lock) : pthread_mutex_unlock(&mutex)) == 0);
    EXPECT(!is_sure || txsync_sim_depth() == 0);
    EXPECT(enter(&lock) == 0);
    EXPECT(pthread_mutex_trylock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
  }
  EXPECT(is_free(mutex) && is_free(lock));
}

void reader_writer_double_unlocks() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_t around = PTHREAD_RWLOCK_INITIALIZER;
  for (const way_in enter : ways_in) {
    EXPECT(enter(&lock) == 0);
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
    EXPECT(enter(&around) == 0);
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
    EXPECT(pthread_rwlock_unlock(&around) == 0);
  }
  EXPECT(is_free(lock) && is_free(around));
}

void reader_writer_destroyed_while_held() {
  for (const way_in enter : ways_in) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    EXPECT(enter(&lock) == 0);
    EXPECT(pthread_rwlock_destroy(&lock) == 0);  // as the C library answers
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
    EXPECT(pthread_rwlock_destroy(&lock) == 0);
  }
}

// ----

/// As POSIX asks of a normal mutex: the thread waits for itself.
void waits_for_itself() {
  typed_mutex made(PTHREAD_MUTEX_NORMAL);
  EXPECT(pthread_mutex_lock(&made.mutex) == 0);
  EXPECT(pthread_mutex_lock(&made.mutex) == 0);
  EXPECT(pthread_mutex_unlock(&made.mutex) == 0);
  EXPECT(pthread_mutex_unlock(&made.mutex) == 0);
}

void destroyed_while_held() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  EXPECT(pthread_mutex_lock(&mutex) == 0);
  EXPECT(pthread_mutex_destroy(&mutex) == EBUSY);
  EXPECT(pthread_mutex_unlock(&mutex) == 0);
  EXPECT(pthread_mutex_destroy(&mutex) == 0);
}

void double_unlocks() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 3; ++i) {
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_mutex_lock(&around) == 0);
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&around) == 0);
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    EXPECT(pthread_mutex_trylock(&mutex) == EBUSY);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
  }
  EXPECT(is_free(mutex) && is_free(around));
  typed_mutex recursive(PTHREAD_MUTEX_RECURSIVE);
  EXPECT(pthread_mutex_lock(&recursive.mutex) == 0);
  EXPECT(pthread_mutex_unlock(&recursive.mutex) == 0);
  EXPECT(pthread_mutex_unlock(&recursive.mutex) == EPERM);
}

}  // namespace

int main(int count, char** words) {
  const char* const word = count > 1 ? words[1] : "";
  is_sure = std::strcmp(word, "sure") == 0;
  if (std::strcmp(word, "double-unlock") == 0) {
    double_unlocks();
    reader_writer_double_unlocks();
  } else if (std::strcmp(word, "destroy") == 0) {
    destroyed_while_held();
    reader_writer_destroyed_while_held();
  } else if (std::strcmp(word, "relock") == 0) {
    relocks();
  } else if (std::strcmp(word, "deadlock") == 0) {
    waits_for_itself();
  } else {
    exceptions();
    exceptions_within();
    long_jumps();
    thread_exits();
    types();
    recursion();
    tries();
    reader_writer_exits();
    reader_writer_thread_exits();
    reader_writer_answers();
    sections_of_both_kinds();
  }
  for (int i = 0; i < wrong; ++i) std::printf("line %d: %s\n", failures[i].line, failures[i].what);
  if (wrong == 0) std::puts("all right");
  return wrong != 0;
}
