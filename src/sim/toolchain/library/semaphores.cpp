// SPDX-License-Identifier: Apache-2.0
// sem_*: a count and the number of waiters, in the first bytes of sem_t.
#include <semaphore.h>
#include <sim/program.h>
#include <txsync_backend/runtime.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

namespace {

struct semaphore {
  std::atomic<std::uint32_t> count;
  std::atomic<std::uint32_t> waiters;
};
static_assert(sizeof(semaphore) <= sizeof(sem_t));
semaphore& of(sem_t* given) { return *reinterpret_cast<semaphore*>(given); }

bool take(semaphore& from) {
  std::uint32_t seen = from.count.load();
  while (seen > 0) {
    if (from.count.compare_exchange_weak(seen, seen - 1)) return true;
  }
  return false;
}

int fail(int error) {
  errno = error;
  return -1;
}

// The waiter is counted before it checks again, so that a post between the two wakes it.
int wait_until(semaphore& on, std::uint64_t deadline) {
  while (!take(on)) {
    on.waiters.fetch_add(1);
    const int woken = txsync_sim_park(&on.count, 0, deadline);
    on.waiters.fetch_sub(1);
    if (woken == 2) return take(on) ? 0 : fail(ETIMEDOUT);
  }
  return 0;
}

std::uint64_t in_nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

extern "C" {

int sem_init(sem_t* made, int, unsigned value) {
  if (value > SEM_VALUE_MAX) return fail(EINVAL);
  of(made).count.store(value);
  of(made).waiters.store(0);
  return 0;
}
int sem_destroy(sem_t*) { return 0; }
int sem_wait(sem_t* on) {
  txsync_sim_semaphore_asked(reinterpret_cast<const std::uint32_t*>(on));
  const int status = wait_until(of(on), ~std::uint64_t{0});
  txsync_sim_semaphore_asked(nullptr);
  return status;
}
int sem_trywait(sem_t* on) { return take(of(on)) ? 0 : fail(EAGAIN); }
int sem_clockwait(sem_t* on, clockid_t clock, const timespec* until) {
  if (take(of(on))) return 0;
  timespec now;
  clock_gettime(clock, &now);
  const std::uint64_t left =
      in_nanoseconds(*until) > in_nanoseconds(now) ? in_nanoseconds(*until) - in_nanoseconds(now) : 0;
  return wait_until(of(on), txsync_sim_clock_ns() + left);
}
int sem_timedwait(sem_t* on, const timespec* until) { return sem_clockwait(on, CLOCK_REALTIME, until); }
int sem_post(sem_t* to) {
  of(to).count.fetch_add(1);
  if (of(to).waiters.load() > 0) txsync_sim_unpark(&of(to).count, 1);
  return 0;
}
int sem_getvalue(sem_t* of_which, int* value) {
  *value = static_cast<int>(of(of_which).count.load());
  return 0;
}

}  // extern "C"
