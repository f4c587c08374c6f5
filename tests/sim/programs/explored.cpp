// SPDX-License-Identifier: Apache-2.0
// Faults that some orders of execution show, by name: what txsync explore -- PROGRAM has to find.
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace {

std::mutex first;
std::mutex second;
/// Taken before main() begins.
const bool begun = [] {
  const std::lock_guard guard(first);
  return true;
}();
std::condition_variable changed;

struct lockable {
  int unused = 0;
  std::mutex lock;
};
struct account : lockable {
  std::array<int, 3> balances{};
};
struct bank {
  int unused = 0;
  account accounts[2];
};
bank small_bank;

/// Each waits for the other's lock.
int crossing_locks() {
  account& one = small_bank.accounts[0];
  account& two = small_bank.accounts[1];
  std::thread other([&] {
    const std::lock_guard outer(one.lock);
    const std::lock_guard inner(two.lock);
  });
  {
    const std::lock_guard outer(two.lock);
    const std::lock_guard inner(one.lock);
  }
  other.join();
  return 0;
}

/// Between its look and its wait the flag is set, and nobody wakes it.
int lost_wake_up() {
  static std::atomic<bool> ready{false};
  std::thread other([] {
    ready.store(true);
    changed.notify_one();
  });
  std::unique_lock lock(first);
  if (!ready.load()) changed.wait(lock);
  lock.unlock();
  other.join();
  return 0;
}

/// Two steps where it takes one.
int lost_update() {
  static std::atomic<int> count{0};
  const auto add = [] { count.store(count.load() + 1); };
  std::thread other(add);
  add();
  other.join();
  assert(count.load() == 2);
  return 0;
}

/// Both see the block before either forgets it.
int double_free() {
  static std::atomic<void*> shared;
  shared.store(std::malloc(64));
  const auto free_it = [] {
    if (shared.load() == nullptr) return;
    std::free(shared.load());
    shared.store(nullptr);
  };
  std::thread other(free_it);
  free_it();
  other.join();
  return 0;
}

/// The process ends with its last thread, and then all that was asked for at its end is done.
int main_ends_first() {
  std::atexit([] { std::puts("at the end"); });
  static const pthread_t main_thread = pthread_self();
  std::thread([] {
    void* answer = nullptr;
    if (pthread_join(main_thread, &answer) == 0 && answer == &first) std::puts("after main");
  }).detach();
  pthread_exit(&first);
}

/// The program ends with main(), which waits for nobody: both have to be done before it.
int never_joined() {
  static std::mutex one;
  static int balance = 1;
  static bool is_done = false;
  std::thread([] {
    const std::lock_guard guard(one);
    assert(!is_done || balance == 1);
  }).detach();
  std::thread([] {
    const std::lock_guard guard(one);
    balance += 2;
    is_done = true;
  }).detach();
  return 0;
}

/// Others see the pointer before what it points to. Nobody has used that memory before.
int published_too_early() {
  struct message {
    std::atomic<int> length;
    std::atomic<int> checksum;
  };
  static std::atomic<message*> published;
  std::thread other([] {
    auto* made = static_cast<message*>(std::calloc(1, sizeof(message)));
    published.store(made);
    made->length = 3;
    made->checksum = 3;
  });
  if (const message* seen = published.load()) assert(seen->length == seen->checksum);
  other.join();
  return 0;
}

/// The last of five comes first, and sees what the others have not done yet.
int reordered() {
  static int a = 0;
  static int b = 0;
  static const auto set = [] {
    a = 1;
    b = -1;
  };
  std::thread setters[4];
  for (std::thread& one : setters) one = std::thread(set);
  std::thread checker([] { assert((a == 0 && b == 0) || (a == 1 && b == -1)); });
  for (std::thread& one : setters) one.join();
  checker.join();
  return 0;
}

/// One of thirteen has to take the second lock before all others, and the first one after another.
int two_stages() {
  static int a = 0;
  static int b = 0;
  static const auto set = [] {
    {
      const std::lock_guard guard(first);
      a = 1;
    }
    const std::lock_guard guard(second);
    b = 1;
  };
  std::thread setters[12];
  for (std::thread& one : setters) one = std::thread(set);
  std::thread checker([] {
    {
      const std::lock_guard guard(first);
      if (a == 0) return;
    }
    const std::lock_guard guard(second);
    assert(b == 1);
  });
  for (std::thread& one : setters) one.join();
  checker.join();
  return 0;
}

/// Right, and nobody pauses: each waits for the other's turn in a loop.
int spins_without_pause() {
  static std::atomic<int> turn{0};
  static volatile bool is_over = false;
  const auto take_turns = [](int me) {
    for (int i = 0; i < 3; ++i) {
      while (turn.load(std::memory_order_relaxed) != me) {
      }
      turn.store(1 - me, std::memory_order_relaxed);
    }
  };
  std::thread other([&] {
    take_turns(1);
    is_over = true;
  });
  take_turns(0);
  while (!is_over) {
  }
  other.join();
  return 0;
}

/// Reads a block that the other thread may have freed.
int use_after_free() {
  static std::atomic<int*> shared;
  shared.store(new int(1));
  std::thread other([] { delete shared.exchange(nullptr); });
  int seen = 0;
  if (const int* value = shared.load()) seen = *value;
  other.join();
  return seen < 0 ? 1 : 0;
}

/// Two threads fill ten places. There may be no room any more when a place is taken.
int overflow() {
  static std::atomic<int> next{0};
  static char* const places = static_cast<char*>(std::malloc(10));
  const auto fill = [] {
    for (int i = 0; i < 6; ++i) {
      if (next.load() < 10) places[next.fetch_add(1)] = 'x';
    }
  };
  std::thread other(fill);
  fill();
  other.join();
  return 0;
}

/// The flag says that the number is there, but orders nothing.
int data_race() {
  static int number = 0;
  static std::atomic<bool> is_there{false};
  std::thread other([] {
    number = 1;
    is_there.store(true, std::memory_order_relaxed);
  });
  int seen = 1;
  if (is_there.load(std::memory_order_relaxed)) seen = number;
  other.join();
  return seen == 1 ? 0 : 1;
}

/// The same, rightly: by an atomic, by fences, by a lock, by a join.
int no_race() {
  static int numbers[4];
  static std::atomic<std::array<long, 3>> wide;  // of a size that no instruction has
  static std::atomic<bool> is_there[3];          // close together, and two threads store
  std::thread other([] {
    wide.store({1, 2, 3}, std::memory_order_relaxed);
    numbers[0] = 1;
    is_there[0].store(true, std::memory_order_release);
    numbers[1] = 1;
    std::atomic_thread_fence(std::memory_order_release);
    is_there[1].store(true, std::memory_order_relaxed);
    const std::lock_guard guard(first);
    ++numbers[2];
  });
  if (const auto seen = wide.load(std::memory_order_relaxed); seen[2] != 0 && seen[2] != 3) return 2;
  numbers[3] = 1;
  is_there[2].store(true, std::memory_order_release);
  if (is_there[0].load(std::memory_order_acquire)) ++numbers[0];
  if (is_there[1].load(std::memory_order_relaxed)) {
    std::atomic_thread_fence(std::memory_order_acquire);
    ++numbers[1];
  }
  {
    const std::lock_guard guard(first);
    ++numbers[2];
  }
  other.join();
  return numbers[2] + numbers[3] == 3 ? 0 : 1;
}

/// Dekker's entry without a fence: wrong where stores wait in buffers, and only there.
int missing_fence(std::memory_order order) {
  static std::atomic<int> wants[2];
  int sees[2] = {};
  const auto enter = [&](int me) {
    wants[me].store(1, order);
    sees[me] = wants[1 - me].load();
  };
  std::thread other(enter, 1);
  enter(0);
  other.join();
  if (sees[0] != 0 || sees[1] != 0) return 0;
  std::fprintf(stderr, "looking back\nboth have entered\n");
  return 3;
}

// A coroutine: its stack is a block of the heap, and its lowest frame returns to an address at which there is nothing.

/// Goes on at the stack pointer `to`. Answers that of whoever comes back; a function that begins there gets the
/// caller's.
extern "C" void* switch_stack(void* to);
asm(R"(
.text
.type switch_stack,@function
switch_stack:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,%rax
  mov %rdi,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  mov %rax,%rdi
  ret
.size switch_stack,.-switch_stack
)");

int in_coroutine(int (*function)()) {
  static int (*asked)();
  static int status;
  constexpr std::size_t words = std::size_t{128} * 1024 / sizeof(std::uintptr_t);
  static void* const begin = std::calloc(words, sizeof(std::uintptr_t));
  asked = function;
  auto* const lowest = static_cast<std::uintptr_t*>(begin) + words - 7;  // aligned as at a call
  lowest[0] = 0xFEEDFACECAFE;
  constexpr std::ptrdiff_t saved_registers = 6;
  lowest[-1] = reinterpret_cast<std::uintptr_t>(+[](void* back) {
    status = asked();
    switch_stack(back);
  });
  switch_stack(lowest - 1 - saved_registers);
  return status;
}

/// One thread sleeps long, and two wait for it in loops.
int spins_beside_a_sleeper() {
  static std::atomic<bool> is_ready{false};
  std::thread sleeper([] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    is_ready.store(true);
  });
  std::thread spinner([] {
    while (!is_ready.load()) {
    }
  });
  while (!is_ready.load()) {
  }
  sleeper.join();
  spinner.join();
  return 0;
}

int spins_for_ever() {
  static std::atomic<bool> never{false};
  while (!never.load()) std::this_thread::yield();
  return 0;
}

/// The compiler knows what this writes.
std::size_t length_of_constant_text(char* text) {
  std::sprintf(text, "TYPE I\r\n");
  return std::strlen(text);
}

int nothing_wrong() {
  static int count = 0;
  static char text[64];
  if (length_of_constant_text(text) != 8) return 4;
  if (std::getchar() != EOF) return 2;
  const auto add = [] {
    for (int i = 0; i < 3; ++i) {
      const std::lock_guard guard(first);
      ++count;
    }
  };
  std::thread other(add);
  add();
  other.join();
  std::puts("one of many outputs");
  return begun && count == 6 ? 0 : 1;
}

/// A sleep takes the place of synchronization.
int sleeps_instead(std::chrono::microseconds time) {
  std::atomic<bool> is_ready{false};
  std::thread other([&] { is_ready = true; });
  std::this_thread::sleep_for(time);
  assert(is_ready);
  other.join();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const auto is = [&](const char* name) { return count > 1 && std::strcmp(words[1], name) == 0; };
  if (is("crossing-locks")) return crossing_locks();
  if (is("lost-wake-up")) return lost_wake_up();
  if (is("lost-update")) return lost_update();
  if (is("double-free")) return double_free();
  if (is("use-after-free")) return use_after_free();
  if (is("overflow")) return overflow();
  if (is("data-race")) return data_race();
  if (is("no-race")) return no_race();
  if (is("never-joined")) return never_joined();
  if (is("published-too-early")) return published_too_early();
  if (is("reordered")) return reordered();
  if (is("two-stages")) return two_stages();
  if (is("sleeps-shortly")) return sleeps_instead(std::chrono::microseconds(500));
  if (is("sleeps-long")) return sleeps_instead(std::chrono::seconds(1));
  if (is("spins-without-pause")) return spins_without_pause();
  if (is("main-ends-first")) return main_ends_first();
  if (is("coroutine")) return in_coroutine(nothing_wrong);
  if (is("coroutine-loses-update")) return in_coroutine(lost_update);
  if (is("coroutine-crosses-locks")) return in_coroutine(crossing_locks);
  if (is("missing-fence")) return missing_fence(std::memory_order_release);
  if (is("fence")) return missing_fence(std::memory_order_seq_cst);
  if (is("spins-beside-a-sleeper")) return spins_beside_a_sleeper();
  if (is("spins-for-ever")) return spins_for_ever();
  return nothing_wrong();
}
