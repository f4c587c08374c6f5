// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include <txsync/machine/thread.hpp>

#include "permit.hpp"

namespace txsync::inline TXSYNC_BACKEND::machine {

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

constexpr unsigned exit_slots = 8;
struct exit_call {
  thread::entry function;
  void* argument;
};
thread_local exit_call exit_calls[exit_slots];
thread_local unsigned exit_call_count = 0;

void run_exit_calls(void*) {
  while (exit_call_count > 0) {
    const exit_call call = exit_calls[--exit_call_count];
    call.function(call.argument);
  }
}

/// The key whose destructor runs the calls; made by the first caller.
pthread_key_t exit_key() noexcept {
  static pthread_key_t key;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    if (pthread_key_create(&key, run_exit_calls) != 0) std::abort();
  });
  return key;
}

}  // namespace

thread::~thread() {
  if (joinable_) std::abort();
}

bool thread::start(entry function, void* argument) noexcept {
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
  (void)detail::permitted(detail::system_call::join_thread);
  pthread_join(static_cast<pthread_t>(handle_), nullptr);
  joinable_ = false;
}

std::uint32_t thread_id() noexcept {
  static thread_local std::uint32_t id = 0;
  if (id == 0) {
    id = static_cast<std::uint32_t>(syscall(SYS_gettid));
    // The child of a fork has another number.
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, [] { pthread_atfork(nullptr, nullptr, [] { id = 0; }); });
  }
  return id;
}

namespace {
constinit std::atomic<std::uint32_t> forks{0};
[[gnu::constructor]] void count_forks() noexcept {
  // relaxed: the child has one thread
  pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
}
}  // namespace

std::uint32_t fork_count() noexcept { return forks.load(std::memory_order_relaxed); }

bool at_thread_exit(thread::entry function, void* argument) noexcept {
  if (exit_call_count == exit_slots) return false;
  if (exit_call_count == 0 && pthread_setspecific(exit_key(), exit_calls) != 0) return false;
  exit_calls[exit_call_count++] = {function, argument};
  return true;
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine
