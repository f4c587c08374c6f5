// SPDX-License-Identifier: Apache-2.0
// pthread_cond_*: a queue of waiters, each of which sleeps on a word of its own stack. A signal wakes one thread that
// waited when the signal came: the one that waited longest. So a later waiter cannot take another thread's wake-up. A
// thread can be cancelled while it waits. If the mutex of the first wait is the C library's, so is the condition.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/speculate/elision.hpp>

#include "deadline.hpp"
#include "foreign_mutex.hpp"
#include "identity.hpp"
#include "interpose.hpp"
#include "locks/backoff.hpp"
#include "locks/watching.hpp"
#include "mutex_state.hpp"
#include "next.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

/// The end of a wait. A waiter leaves `waiting` in one of two ways, by compare-exchange. A thread that signals sets
/// `claimed`, and later `told`. The waiter itself sets `leaving`, at its deadline or when it is cancelled.
enum : std::uint32_t { waiting, claimed, told, leaving };
constexpr std::uint32_t asleep = 8;  // or'ed with one of them: the waiter may have to be woken

struct waiter {
  pthread_mutex_t* mutex;
  const void* condition;
  waiter* next = nullptr;
  waiter* before = nullptr;
  std::atomic<std::uint32_t> state{waiting};
  bool queued = false;
};

/// Decides how its wait ends, if it still waits.
bool becomes(waiter& thread, std::uint32_t state) noexcept {
  std::uint32_t before = thread.state.load(std::memory_order_relaxed);
  do {
    if ((before & ~asleep) != waiting) return false;
    // relaxed: decides which thread ends the wait; what the waiter has to see comes with `told`
  } while (!thread.state.compare_exchange_weak(before, state | (before & asleep), std::memory_order_relaxed));
  return true;
}

/// Called before the waiter sleeps. Returns the state to sleep on.
std::uint32_t falls_asleep(waiter& thread) noexcept {
  // acquire pairs with the release in wake_all()
  return thread.state.fetch_or(asleep, std::memory_order_acquire) | asleep;
}

/// Laid over a pthread_cond_t; all zero is a valid one.
struct condition_state {
  std::atomic<std::uint32_t> guard;  // of the queue; 0: free; else process_number() of the holder's process
  std::uint32_t process;             // whose threads are queued; 0: none yet
  std::atomic<waiter*> oldest;
  waiter* youngest;
  std::atomic<std::uint32_t> users;  // threads in a wait that may still access this
  std::uint32_t unused;
  /// The C library keeps a lock in the low two bits, and never sets both.
  std::atomic<std::uint32_t> owner;
  std::uint32_t flags;  // the C library's field, at its place; above the flags its number of waiters
  std::uint64_t last_unused;

  static constexpr std::uint32_t process_shared = 1;
  static constexpr std::uint32_t monotonic = 2;
  static constexpr unsigned waiters_shift = 3;
  static constexpr std::uint32_t lock_bits = 3;
  static constexpr std::uint32_t ours = 3;
  static constexpr std::uint32_t becomes_ours = 7;

  /// Requires, like all that follows: the guard is held.
  void forget() noexcept {
    // relaxed: ordered by the guard
    oldest.store(nullptr, std::memory_order_relaxed);
    youngest = nullptr;
    users.store(0, std::memory_order_relaxed);
  }
  // acquire pairs with the release in done_with()
  bool is_empty() const noexcept { return users.load(std::memory_order_acquire) == 0; }
};
static_assert(sizeof(condition_state) <= sizeof(pthread_cond_t));
#ifdef __x86_64__
static_assert(offsetof(condition_state, flags) == offsetof(pthread_cond_t, __data.__wrefs));
#endif

condition_state& state_of(pthread_cond_t* condition) noexcept {
  return *std::launder(reinterpret_cast<condition_state*>(condition));
}

/// False: it is the C library's, or nobody has waited on it.
bool is_ours(const condition_state& condition) noexcept {
  // acquire pairs with the release in make_ours()
  std::uint32_t owner = condition.owner.load(std::memory_order_acquire);
  while (owner == condition_state::becomes_ours) {
    machine::relax();
    owner = condition.owner.load(std::memory_order_acquire);  // as above
  }
  return owner == condition_state::ours;
}

/// Whether threads wait on it in the C library.
bool has_foreign_waiters(condition_state& condition) noexcept {
  // relaxed: as in notify_one()
  return std::atomic_ref(condition.flags).load(std::memory_order_relaxed) >> condition_state::waiters_shift != 0;
}

/// Called by a thread that is about to wait with a mutex of ours, which the C library would not understand. False if
/// threads wait there with a mutex of its own, which POSIX does not allow at the same time.
bool make_ours(condition_state& condition) noexcept {
  for (;;) {
    if (is_ours(condition)) return true;
    std::uint32_t owner = condition.owner.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    if ((owner & condition_state::lock_bits) != 0 || has_foreign_waiters(condition)) return false;
    // relaxed: the release below publishes what is stored between
    if (!condition.owner.compare_exchange_strong(owner, condition_state::becomes_ours, std::memory_order_relaxed))
      continue;
    condition.guard.store(0, std::memory_order_relaxed);
    condition.process = process_number();
    condition.forget();
    condition.owner.store(condition_state::ours, std::memory_order_release);  // pairs with the acquire in is_ours()
    return true;
  }
}

bool is_shared(const condition_state& condition) noexcept {
  return (condition.flags & condition_state::process_shared) != 0;
}

/// Holds the guard of a queue. In the child of a fork it takes over a guard that a thread of the parent held, and
/// forgets the parent's waiters. They do not exist here, and their stacks will be other threads'. A queue in memory
/// that another process uses, too, belongs to that process as long as its threads are in it. Then is_mine() is false,
/// and the queue must not be accessed.
template <class Queue>
class guarded {
 public:
  explicit guarded(Queue& queue) noexcept : queue_(queue) {
    const std::uint32_t process = process_number();
    if (!take(process)) [[unlikely]] {
      detail::exponential_backoff backoff(detail::spin_lock_waiting);
      do backoff.wait();
      while (!take(process));
    }
    if (queue_.process != process) [[unlikely]]
      take_over(process);
  }
  ~guarded() { queue_.guard.store(0, std::memory_order_release); }  // pairs with the acquire in take()
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  bool is_mine() const noexcept { return is_mine_; }

 private:
  bool take(std::uint32_t process) noexcept {
    std::uint32_t holder = queue_.guard.load(std::memory_order_relaxed);  // relaxed: only a look
    if (holder == process || (holder != 0 && is_shared() && !has_ended(holder))) return false;
    // acquire pairs with the release of the previous holder
    return queue_.guard.compare_exchange_strong(holder, process, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void take_over(std::uint32_t process) noexcept {
    is_mine_ = queue_.is_empty() || !is_shared();
    if (!is_mine_) return;
    queue_.forget();
    queue_.process = process;
  }
  bool is_shared() noexcept {
    if (memory_ == memory::unknown) memory_ = is_shared_memory(&queue_) ? memory::shared : memory::own;
    return memory_ == memory::shared;
  }

  Queue& queue_;
  bool is_mine_ = true;
  enum class memory : std::uint8_t { unknown, shared, own } memory_ = memory::unknown;
};

// ---- the queue; everything with the guard held

void put(condition_state& condition, waiter& thread) noexcept {
  thread.before = condition.youngest;
  thread.queued = true;
  // relaxed throughout: ordered by the guard; notify_one() says why it may read without it
  if (thread.before != nullptr) {
    thread.before->next = &thread;
  } else {
    condition.oldest.store(&thread, std::memory_order_relaxed);
  }
  condition.youngest = &thread;
  condition.users.fetch_add(1, std::memory_order_relaxed);
}

void remove(condition_state& condition, waiter& thread) noexcept {
  if (thread.before != nullptr) {
    thread.before->next = thread.next;
  } else {
    condition.oldest.store(thread.next, std::memory_order_relaxed);
  }
  if (thread.next != nullptr) {
    thread.next->before = thread.before;
  } else {
    condition.youngest = thread.before;
  }
  thread.next = thread.before = nullptr;
  thread.queued = false;
}

/// The oldest waiter, off the queue and claimed; null if there is none. A waiter that leaves does not count.
waiter* claim_oldest(condition_state& condition) noexcept {
  while (waiter* const thread = condition.oldest.load(std::memory_order_relaxed)) {
    remove(condition, *thread);
    if (becomes(*thread, claimed)) return thread;
  }
  return nullptr;
}

// ----

/// Wakes claimed waiters, linked by `next`. A waiter may be gone once it is `told`: nothing of it is read after that.
void wake_all(waiter* first) noexcept {
  while (first != nullptr) {
    std::atomic<std::uint32_t>& word = first->state;
    first = first->next;
    // release pairs with the acquire in sleep() and falls_asleep(); relaxed otherwise: says whether it sleeps
    if ((word.exchange(told, std::memory_order_release) & asleep) != 0) machine::unpark(word, 1);
  }
}

/// Waiters linked by `next`, in the order in which they were put there.
struct waiter_list {
  waiter* first = nullptr;
  waiter** end = nullptr;  // null: at `first`

  void put(waiter& thread) noexcept {
    thread.next = nullptr;
    *(end != nullptr ? end : &first) = &thread;
    end = &thread.next;
  }
};

/// Waiters that are woken when their mutex is given up. The mutex's holder has claimed them. Another thread may give
/// the mutex up.
struct alignas(machine::pad_bytes) signalled_waiters {
  std::atomic<std::uint32_t> guard;  // as in condition_state, both
  std::uint32_t process;
  waiter_list list;

  void forget() noexcept { list = {}; }
  bool is_empty() const noexcept { return list.first == nullptr; }
  /// Takes out the waiters for which the predicate is true, in their order.
  template <class Predicate>
  waiter* take(Predicate is_one) noexcept {
    waiter_list taken;
    waiter* rest = list.first;
    forget();
    while (waiter* const thread = rest) {
      rest = thread->next;
      (is_one(*thread) ? taken : list).put(*thread);
    }
    return taken.first;
  }
};
/// Chosen by the mutex's address. No destructor: threads may signal until the process ends.
constinit signalled_waiters signalled[16] = {};

signalled_waiters& signalled_of(const pthread_mutex_t* mutex) noexcept {
  return signalled[reinterpret_cast<std::uintptr_t>(mutex) / sizeof(pthread_mutex_t) % std::size(signalled)];
}

/// The unlock of its mutex will wake it. False: the caller no longer holds the mutex.
bool defer_wake(waiter& thread) noexcept {
  signalled_waiters& all = signalled_of(thread.mutex);
  const guarded queue(all);
  if (!ask_for_wakes(thread.mutex)) return false;
  all.list.put(thread);
  return true;
}

/// Wakes those among the deferred waiters.
template <class Predicate>
void wake_where(signalled_waiters& all, Predicate is_one) noexcept {
  waiter* first;
  {
    const guarded queue(all);
    first = all.take(is_one);
  }
  wake_all(first);
}

/// Waiters whose mutex this thread holds are woken when it gives the mutex up. They could not go on before. A wake-up
/// on the holder's CPU would cost two more context switches. The other waiters are left in `first`.
void wake_with_unlock(waiter*& first) noexcept {
  for (waiter** at = &first; *at != nullptr;) {
    waiter* const next = (*at)->next;
    if (is_held_by_caller((*at)->mutex) && defer_wake(**at)) {
      *at = next;
    } else {
      at = &(*at)->next;
    }
  }
}

/// In an attempt, they become claimed for other threads when it commits, and are woken then (leveldb paper, 4.1). A
/// claimed waiter stays until it is told, even if the condition is destroyed. The condition is not accessed any more.
void wake_claimed(waiter* first) noexcept {
  if (!machine::active()) wake_with_unlock(first);
  if (first != nullptr) on_commit([first]() noexcept { wake_all(first); });
}

void notify_one(condition_state& condition) noexcept {
  // relaxed: a waiter that the caller must know of entered the queue before it gave up the mutex. The caller has held
  // that mutex since. Within an attempt nothing more is done if nobody waits.
  if (condition.oldest.load(std::memory_order_relaxed) == nullptr) return;
  waiter* thread;
  {
    const guarded queue(condition);
    thread = queue.is_mine() ? claim_oldest(condition) : nullptr;
  }
  wake_claimed(thread);
}

void notify_all(condition_state& condition) noexcept {
  if (condition.oldest.load(std::memory_order_relaxed) == nullptr) return;  // relaxed: as in notify_one()
  // The waiters of this moment. A thread that comes now waits for the next signal.
  waiter* first = nullptr;
  {
    const guarded queue(condition);
    waiter** end = &first;
    while (waiter* const thread = queue.is_mine() ? claim_oldest(condition) : nullptr) {
      *end = thread;
      end = &thread->next;
    }
  }
  wake_claimed(first);
}

/// No wait within an attempt: the critical section starts again with its locks, and comes here again.
void end_attempt() noexcept {
  if (machine::active()) machine::abort<machine::attempt_status::code_fall_back>();
}

struct wait_record {
  condition_state& condition;
  waiter self;
  bool watches = false;
};

/// Ends a wait that nobody signalled. False if a signal is on its way: the record must stay until it is told.
bool leave(wait_record& wait) noexcept {
  if (!becomes(wait.self, leaving)) return false;
  const guarded queue(wait.condition);
  if (wait.self.queued && queue.is_mine()) remove(wait.condition, wait.self);
  return true;
}

void await_telling(waiter& self) noexcept {
  for (std::uint32_t seen; (seen = falls_asleep(self)) != (told | asleep);) machine::park(self.state, seen);
}

/// The last access of a waiting thread; release pairs with the acquire in destroy().
void done_with(condition_state& condition) noexcept { condition.users.fetch_sub(1, std::memory_order_release); }

/// Ends a wait without a result. If it was signalled, the signal goes to another waiter.
void abandon(wait_record& wait) noexcept {
  if (!leave(wait)) {
    await_telling(wait.self);
    notify_one(wait.condition);
  }
  done_with(wait.condition);
}

/// The thread was cancelled in its wait, and ends with the mutex held.
void clean_up(void* raw) {
  auto& wait = *static_cast<wait_record*>(raw);
  abandon(wait);
  int status = 0;
  take_after_wait(wait.self.mutex, status);
}

/// From the queue to a signal (0) or the deadline (ETIMEDOUT).
int sleep(wait_record& wait, machine::wait_clock clock, std::uint64_t deadline) {
  if (wait.watches) {
    // acquire pairs with the release in wake_all(). A deadline that passes during the watch is noticed a moment later.
    const auto is_told = [&]() noexcept { return wait.self.state.load(std::memory_order_acquire) == told; };
    if (detail::watch(is_told)) return 0;
  }
  for (;;) {
    const std::uint32_t state = falls_asleep(wait.self);
    if (state == (told | asleep)) return 0;
    const bool may_end = state == (waiting | asleep);
    if (machine::park_cancelably(wait.self.state, state, clock, may_end ? deadline : machine::no_deadline, clean_up,
                                 &wait) != machine::park_result::timed_out)
      continue;
    if (leave(wait)) return ETIMEDOUT;
  }
}

void take_again(void* raw) {
  int status = 0;
  take_after_wait(static_cast<pthread_mutex_t*>(raw), status);
}

/// Between processes only the C library's own object works, and only with its own mutex. With a mutex of ours a wait
/// returns early, as spurious returns may. The deadline is on machine::clock_ns().
int nap(pthread_mutex_t* mutex, std::uint64_t deadline) {
  end_attempt();
  if (const int status = release_for_wait(mutex); status != 0) return status;
  constexpr std::uint64_t nap_ns = 1'000'000;
  const std::atomic<std::uint32_t> never{0};
  const std::uint64_t until = std::min(deadline, machine::clock_ns() + nap_ns);
  (void)machine::park_cancelably(never, 0, machine::wait_clock::monotonic, until, take_again, mutex);
  int status = machine::clock_ns() >= deadline ? ETIMEDOUT : 0;
  take_after_wait(mutex, status);
  return status;
}

/// Threads of another process wait on the condition, which its attributes do not allow.
[[gnu::noinline]] int wait_beside(pthread_mutex_t* mutex, machine::wait_clock clock, std::uint64_t deadline) {
  report(diagnostic_kind::condition_of_two_processes, site_of(mutex));
  if (clock == machine::wait_clock::monotonic || deadline == machine::no_deadline) return nap(mutex, deadline);
  return nap(mutex, on_our_clock(CLOCK_REALTIME, from_ns(deadline)));
}

int wait_until(condition_state& condition, pthread_mutex_t* mutex, machine::wait_clock clock, std::uint64_t deadline) {
  end_attempt();
  wait_record wait{condition, {mutex, &condition}};
  const std::uint32_t site = site_of(mutex);
  {
    const guarded queue(condition);
    if (queue.is_mine()) {
      put(condition, wait.self);
      wait.watches = wait.self.before == nullptr && detail::may_watch();
    }
  }
  if (!wait.self.queued) return wait_beside(mutex, clock, deadline);
  if (const int status = release_for_wait(mutex); status != 0) {
    abandon(wait);
    return status;
  }
  const std::uint64_t start = machine::cycles();
  int status = sleep(wait, clock, deadline);
  done_with(condition);
  const std::uint64_t waited = machine::cycles() - start;
  observe::detail::condition_waited(site, waited);  // before an attempt may run
  take_after_wait(mutex, status);
  return status;
}

/// Wakes the signalled waiters of the condition now, whichever thread holds their mutex.
void wake_signalled_of(const condition_state& condition) noexcept {
  if (condition.users.load(std::memory_order_relaxed) == 0) return;  // relaxed: the caller knows of its waiters
  for (signalled_waiters& all : signalled)
    wake_where(all, [&](const waiter& one) noexcept { return one.condition == &condition; });
}

int destroy(condition_state& condition) noexcept {
  wake_signalled_of(condition);  // they are waited for below
  {
    const guarded queue(condition);
    if (!queue.is_mine()) return EBUSY;
    for (const waiter* one = condition.oldest.load(std::memory_order_relaxed); one != nullptr; one = one->next)
      if ((one->state.load(std::memory_order_relaxed) & ~asleep) == waiting) return EBUSY;
  }
  // Threads that were told or gave up may be on their way out. acquire pairs with the release in done_with()
  for (detail::doubling naps_ns(20'000, 1'000'000); condition.users.load(std::memory_order_acquire) != 0;)
    machine::sleep_ns(naps_ns.next());
  return 0;
}

/// `wait` is the C library's function, with a mutex of its own.
template <class Wait>
int wait_in_libc(pthread_mutex_t* mutex, Wait wait) {
  end_attempt();
  const lock_tag tag = decided_tag(mutex);
  before_foreign_wait(mutex, tag);
  const std::uint64_t start = machine::cycles();
  const int status = wait();
  observe::detail::condition_waited(tag.site(), machine::cycles() - start);
  after_foreign_wait(mutex, tag);
  return status;
}

/// Whether waits with the mutex are made in the C library.
bool waits_in_libc(const condition_state& condition, pthread_mutex_t* mutex) noexcept {
  return is_foreign(mutex) && (is_shared(condition) || !is_ours(condition));
}
/// Whether neither can make the wait: the condition is the C library's, and the mutex is not.
bool is_out_of_reach(condition_state& condition) noexcept { return is_shared(condition) || !make_ours(condition); }

/// Signals the threads that wait in the C library.
template <class Call>
int call_in_libc(condition_state& condition, Call call) noexcept {
  if (!is_shared(condition) && !has_foreign_waiters(condition)) return 0;
  end_attempt();
  return call();
}

machine::wait_clock own_clock(const condition_state& condition) noexcept {
  return (condition.flags & condition_state::monotonic) != 0 ? machine::wait_clock::monotonic
                                                             : machine::wait_clock::realtime;
}

}  // namespace

void wake_signalled(const pthread_mutex_t* mutex) noexcept {
  wake_where(signalled_of(mutex), [&](const waiter& one) noexcept { return one.mutex == mutex; });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync;
using namespace txsync::preload;

TXSYNC_INTERPOSE int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) noexcept {
  return next().cond_init(condition, attributes);
}

TXSYNC_INTERPOSE int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  condition_state& state = state_of(condition);
  if (!is_shared(state) && is_ours(state)) return destroy(state);
  return call_in_libc(state, [&]() noexcept { return next().cond_destroy(condition); });
}

TXSYNC_INTERPOSE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  condition_state& state = state_of(condition);
  if (waits_in_libc(state, mutex)) return wait_in_libc(mutex, [&] { return next().cond_wait(condition, mutex); });
  if (is_out_of_reach(state)) return nap(mutex, machine::no_deadline);
  return wait_until(state, mutex, machine::wait_clock::monotonic, machine::no_deadline);
}

TXSYNC_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
  if (!is_time(*time)) return EINVAL;
  condition_state& state = state_of(condition);
  const machine::wait_clock clock = own_clock(state);
  if (waits_in_libc(state, mutex))
    return wait_in_libc(mutex, [&] { return next().cond_timedwait(condition, mutex, time); });
  if (is_out_of_reach(state)) {
    const bool monotonic = clock == machine::wait_clock::monotonic;
    return nap(mutex, on_our_clock(monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, *time));
  }
  return wait_until(state, mutex, clock, to_ns(*time));
}

TXSYNC_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                            const timespec* time) {
  if (!is_time(*time) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)) return EINVAL;
  condition_state& state = state_of(condition);
  if (waits_in_libc(state, mutex)) {
    if (next().cond_clockwait == nullptr) return ENOTSUP;
    return wait_in_libc(mutex, [&] { return next().cond_clockwait(condition, mutex, clock, time); });
  }
  if (is_out_of_reach(state)) return nap(mutex, on_our_clock(clock, *time));
  return wait_until(state, mutex,
                    clock == CLOCK_MONOTONIC ? machine::wait_clock::monotonic : machine::wait_clock::realtime,
                    to_ns(*time));
}

TXSYNC_INTERPOSE int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  condition_state& state = state_of(condition);
  if (is_shared(state) || !is_ours(state))
    return call_in_libc(state, [&]() noexcept { return next().cond_signal(condition); });
  notify_one(state);
  return 0;
}

TXSYNC_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  condition_state& state = state_of(condition);
  if (is_shared(state) || !is_ours(state))
    return call_in_libc(state, [&]() noexcept { return next().cond_broadcast(condition); });
  notify_all(state);
  return 0;
}

TXSYNC_MOVED_IN_2_34(pthread_cond_clockwait, "GLIBC_2.30");
