// SPDX-License-Identifier: Apache-2.0
// The memory that the processes of a generated program share.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <ctime>
#include <string>
#include <vector>

#include "program.hpp"

namespace generated {

/// What belongs to one operation alone.
struct slot {
  pthread_mutex_t mutex;
  pthread_cond_t condition[2];
  pthread_barrier_t barrier;
  long ready;  ///< tokens that wait, or whose turn it is
  long made;
  std::atomic<long> done;
};

struct state {
  char message[400];  ///< what went wrong first
  std::atomic<int> failed;
  std::atomic<int> at[max_threads];  ///< the operation that a thread is at, from 1
  pthread_mutex_t mutex[mutexes];
  pthread_rwlock_t rwlock[rwlocks];
  pthread_spinlock_t spin[spins];
  counts counted;
  long mirror[rwlocks];
  slot slots[max_operations];
};

/// One thread of a program, or of its children.
struct place {
  const program& made;
  state& shared;
  const environment& around;
  int thread;
  int number = 0;  ///< of the operation
  const operation& now() const { return made.operations[static_cast<std::size_t>(number)]; }
  slot& own() const { return shared.slots[number]; }
};

/// Writes down what went wrong, and ends the whole group.
[[noreturn]] void fail(const place& here, const char* what, int got, int want);
inline void check(const place& here, const char* what, int got, int want) {
  if (got != want) fail(here, what, got, want);
}

void initialize(const program& made, state& shared);
void make(pthread_mutex_t& mutex, const object& as);
/// Takes and releases the mutex as asked.
void take(const place& here, pthread_mutex_t& mutex, how by);
/// What the mutex answers in the end, which is neither EBUSY nor that a millisecond has passed.
int answer_of(pthread_mutex_t& mutex, how by);
void release(const place& here, pthread_mutex_t& mutex, how by);
void count_under_mutexes(const place& here);
void read_and_write(const place& here);
void let_rwlock_expire(const place& here);
void ask_holders(const place& here);
void renew(const place& here);
void lose_owners(const place& here);
void inherit_priority(const place& here);
void wait_by_clocks(const place& here);
void fork_with_handlers(const place& here);
void cancel_at_points(const place& here);
void open_plugin(const place& here);
void open_plugins_in_turn(const place& here);
void switch_coroutines(const place& here);
void execute(const place& here);
/// The other program of execute().
[[noreturn]] void run_executed(place& here, bool with_threads);
void run(const place& here);
void run_alone(const place& here);

/// For deadlines that do not pass.
constexpr long patient_ms = 30'000;
timespec after_ms(clockid_t clock, long ms);

pthread_t start_thread(const place& here, void* (*body)(void*), void* argument);
/// What the thread has returned.
void* join_thread(const place& here, pthread_t thread);

/// What waitpid says of a child once it has ended.
int status_of(pid_t child);

/// This program again, with other arguments: made before a fork, as afterwards a child may not use the heap.
class command {
 public:
  command(const environment& around, std::vector<std::string> words);
  [[noreturn]] void become();
  char* const* arguments() const { return arguments_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> arguments_;
};

}  // namespace generated
