// SPDX-License-Identifier: Apache-2.0
// failures NAME: fails in that way.
#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

extern "C" {
unsigned txsync_sim_begin();
void txsync_sim_end();
}

namespace {

struct node {
  node* volatile next;
  int volatile value;
};
volatile int zero = 0;
int* volatile nothing = nullptr;
std::mutex first;
std::mutex second;

#define OUT_OF_LINE __attribute__((noinline, noclone))

OUT_OF_LINE int add_up(const node* at) {
  int sum = 0;
  for (; sum >= 0; at = at->next) sum += at->value;
  return sum;
}
void null_pointer() {
  node one{nullptr, 1};
  std::thread([&] { std::printf("%d\n", add_up(&one)); }).join();
}

OUT_OF_LINE void transfer(std::mutex& from, std::mutex& to) {
  const std::lock_guard hold_from(from);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::lock_guard hold_to(to);
}
void deadlock() {
  std::thread one([] { transfer(first, second); });
  std::thread other([] { transfer(second, first); });
  one.join();
  other.join();
}

OUT_OF_LINE int dive(int depth) {
  volatile int here[100];
  here[depth % 100] = depth;
  return depth == 0 ? 0 : dive(depth + 1) + here[3];
}
void overflow() { std::printf("%d\n", dive(1)); }

OUT_OF_LINE int divide(int number) { return number / zero; }
void division() { std::printf("%d\n", divide(3)); }

OUT_OF_LINE void check(int number) {
  if (number == 0) throw std::runtime_error("zero");
}
void uncaught() { check(zero); }

void give_up() { std::abort(); }

OUT_OF_LINE void compute() {
  unsigned number = 1;
  for (;;) {
    number = number * 3 + 1;
    asm volatile("" : "+r"(number));
  }
}

OUT_OF_LINE void fill(void* at) { std::memset(at, 0, 10000); }
void wild_pointer() { fill(reinterpret_cast<void*>(0x7FFF00000000)); }

OUT_OF_LINE void grow(void* pages) { std::printf("%p\n", mremap(pages, 4096, 8192, MREMAP_MAYMOVE)); }
void unsupported() { grow(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); }

/// The fault ends the attempt, as a CPU would; only what comes after it is the program's end.
void in_attempt() {
  if (txsync_sim_begin() == ~0U) {
    *nothing = 1;
    txsync_sim_end();
  }
  std::puts("after the attempt");
  std::fflush(stdout);
  *nothing = 2;
}

struct way {
  const char* name;
  void (*function)();
};
constexpr way ways[] = {{"null_pointer", null_pointer}, {"deadlock", deadlock},         {"overflow", overflow},
                        {"division", division},         {"uncaught", uncaught},         {"give_up", give_up},
                        {"compute", compute},           {"wild_pointer", wild_pointer}, {"unsupported", unsupported},
                        {"in_attempt", in_attempt}};

}  // namespace

int main(int count, char** words) {
  for (const way& one : ways) {
    if (count == 2 && std::strcmp(words[1], one.name) == 0) one.function();
  }
  return 0;
}
