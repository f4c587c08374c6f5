// SPDX-License-Identifier: Apache-2.0
// told: critical sections that conflict on static data, on two objects of one line, in a block of the heap, and on a
// stack. One section writes more lines of a set than the set has ways. Some find their lock held.
#include <sched.h>

#include <cstdlib>
#include <mutex>
#include <thread>

// Two objects on one line: compilers put such where they like.
asm(R"(
.pushsection .bss
.balign 64
.globl neighbour_a
.type neighbour_a,@object
.size neighbour_a,8
neighbour_a: .zero 8
.globl neighbour_b
.type neighbour_b,@object
.size neighbour_b,8
neighbour_b: .zero 8
.balign 64
.popsection
)");
extern "C" long neighbour_a;
extern "C" long neighbour_b;

namespace {

constexpr int rounds = 300;

struct alignas(64) shared_line {
  long first;
  long second;
};
shared_line both;
std::mutex taken_lock;

struct node {
  long value;
  char rest[120];
};
char* lines = nullptr;

template <class Function>
void beside(Function function) {
  std::mutex locks[2];  // two, so that nothing but data is shared
  std::thread other([&] { function(locks[0], 0); });
  function(locks[1], 1);
  other.join();
}

void add_to(long& number, std::mutex& lock) {
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard hold(lock);
    for (int step = 0; step < 20; ++step) number += step;
  }
}

/// Sections that call the system, and so take the lock, beside sections that try without.
void take_and_try(int which) {
  long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard hold(taken_lock);
    if (which == 0) sched_yield();
    for (int step = 0; step < 100; ++step) *const_cast<volatile long*>(&sum) = step;
  }
}

void overflow(std::mutex& lock) {
  constexpr int set_stride = 4096;
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard hold(lock);
    for (int line = 0; line < 9; ++line) lines[set_stride * line + 12 * 64] = 1;
  }
}

}  // namespace

int main(int, char** words) {
  std::mutex alone;
  node* made = new node{};
  lines = static_cast<char*>(std::aligned_alloc(4096, 4096 * 16));
  switch (words[1][0]) {
    case 'b':
      beside([](std::mutex& lock, int which) { add_to(which == 0 ? both.first : both.second, lock); });
      break;
    case 'n':
      beside([](std::mutex& lock, int which) { add_to(which == 0 ? neighbour_a : neighbour_b, lock); });
      break;
    case 'h':
      beside([made](std::mutex& lock, int) { add_to(made->value, lock); });
      break;
    case 't':
      beside([](std::mutex&, int which) { take_and_try(which); });
      break;
    default:
      overflow(alone);
  }
  return 0;
}
