// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread.hpp>

#include "copies.hpp"
#include "permit.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

struct start_record {
  thread::entry function;
  void* argument;
  std::atomic<bool> taken{false};
};

void* run(void* raw) {
  auto& record = *static_cast<start_record*>(raw);
  const thread::entry function = record.function;
  void* const argument = record.argument;
  record.taken.store(true, std::memory_order_release);  // pairs with the acquire in start(): the record may go
  function(argument);
  return nullptr;
}

}  // namespace

thread::~thread() {
  TXSYNC_ASSERT(!joinable_, "a thread is joined before its object is destroyed");
  if (joinable_) std::abort();
}

bool thread::start(entry function, void* argument) noexcept {
  TXSYNC_ASSERT(!joinable_, "the object has no joinable thread when it starts one");
  if (!detail::permitted(detail::system_call::start_thread)) return false;
  start_record record{function, argument, {}};
  pthread_t id{};
  if (pthread_create(&id, nullptr, run, &record) != 0) return false;
  while (!record.taken.load(std::memory_order_acquire)) sched_yield();  // pairs with the release in run()
  handle_ = static_cast<std::uintptr_t>(id);
  joinable_ = true;
  return true;
}

void thread::join() noexcept {
  TXSYNC_ASSERT(joinable_, "the thread was started, and not yet joined");
  (void)detail::permitted(detail::system_call::join_thread);
  pthread_join(static_cast<pthread_t>(handle_), nullptr);
  joinable_ = false;
}

std::uint32_t thread_id() noexcept {
  static thread_local std::uint32_t id = 0;
  if (id == 0) {
    id = static_cast<std::uint32_t>(syscall(SYS_gettid));
    // In the child of a fork the thread has another number.
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, [] { pthread_atfork(nullptr, nullptr, [] { id = 0; }); });
  }
  return id;
}

namespace detail {
// One more than the number of forks, in a page that the kernel zeroes in the child of a fork. Handlers of
// pthread_atfork would be too late: handlers registered before ours use locks in the child already. _Fork() calls none.
constinit std::atomic<std::atomic<std::uint32_t>*> fork_page{nullptr};
}  // namespace detail

namespace {

constinit std::atomic<std::uint32_t> forks_given{0};
// Used where the kernel has no such pages (before 4.14).
constinit std::atomic<std::uint32_t> page_by_handler{0};

std::atomic<std::uint32_t>* make_fork_page() noexcept {
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return &page_by_handler;
  if (madvise(page, bytes, MADV_WIPEONFORK) == 0) return static_cast<std::atomic<std::uint32_t>*>(page);
  munmap(page, bytes);
  return &page_by_handler;
}

/// The first look at the count in this process.
[[gnu::noinline]] std::uint32_t count_fork() noexcept {
  const int saved_errno = errno;
  std::atomic<std::uint32_t>* page =
      detail::fork_page.load(std::memory_order_acquire);  // pairs with the exchange below
  if (page == nullptr) {
    std::atomic<std::uint32_t>* const mine = make_fork_page();
    // acq_rel: the page is set up before it becomes visible. The thread that comes second leaves its page unused.
    page = detail::fork_page.compare_exchange_strong(page, mine, std::memory_order_acq_rel) ? mine : page;
  }
  errno = saved_errno;
  // The number is taken before it is published, so that no fork in between can get the same. relaxed: numbers only
  const std::uint32_t number = forks_given.fetch_add(1, std::memory_order_relaxed) + 1;
  std::uint32_t shown = 0;
  return page->compare_exchange_strong(shown, number, std::memory_order_relaxed) ? number - 1 : shown - 1;
}

[[gnu::constructor]] void start() noexcept {
  detail::look_for_other_copies();
  (void)fork_count();
  if (detail::fork_page.load(std::memory_order_relaxed) != &page_by_handler) return;
  pthread_atfork(nullptr, nullptr, [] { page_by_handler.store(0, std::memory_order_relaxed); });
}

}  // namespace

std::uint32_t fork_count() noexcept {
  // acquire pairs with the exchange in count_fork()
  const std::atomic<std::uint32_t>* const page = detail::fork_page.load(std::memory_order_acquire);
  const std::uint32_t shown = page != nullptr ? page->load(std::memory_order_relaxed) : 0;
  return shown != 0 ? shown - 1 : count_fork();
}

bool after_fork(void (*function)()) noexcept { return pthread_atfork(nullptr, nullptr, function) == 0; }
bool around_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  return pthread_atfork(before, in_parent, in_child) == 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
