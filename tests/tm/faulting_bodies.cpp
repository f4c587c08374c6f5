// SPDX-License-Identifier: Apache-2.0
// Bodies that fault. A fault of their own reaches the program's handler, or ends the program. No body faults because of
// values that were never in memory together.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../sanitizers.hpp"
#include "every_algorithm.hpp"

namespace {

using stm::atomically;
using stm::var;

constinit stm::block faulting{"test.faulting"};
constinit stm::block faulting_alone{"test.faulting.alone", {.irrevocable = true}};

/// Pages that nobody may access. While it exists, a handler counts faults there, and permits what has faulted.
class forbidden_pages {
 public:
  explicit forbidden_pages(std::size_t count) : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    bytes_ = count * page_bytes_;
    void* const mapped = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    first_ = static_cast<char*>(mapped);
    faults = 0;
    the_one = this;
    struct sigaction handler = {};
    handler.sa_sigaction = permit;
    handler.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &handler, &before_);
  }
  ~forbidden_pages() {
    sigaction(SIGSEGV, &before_, nullptr);
    the_one = nullptr;
    munmap(first_, bytes_);
  }
  forbidden_pages(const forbidden_pages&) = delete;
  forbidden_pages& operator=(const forbidden_pages&) = delete;

  volatile int& in(std::size_t page) const { return *reinterpret_cast<volatile int*>(first_ + page * page_bytes_); }
  void permit(std::size_t page) const { mprotect(first_ + page * page_bytes_, page_bytes_, PROT_READ | PROT_WRITE); }

  static inline std::atomic<int> faults{0};

 private:
  static void permit(int, siginfo_t* what, void*) {
    const auto offset = static_cast<std::size_t>(static_cast<char*>(what->si_addr) - the_one->first_);
    if (offset >= the_one->bytes_) _exit(1);  // another fault
    faults.fetch_add(1);
    the_one->permit(offset / the_one->page_bytes_);
  }
  static inline forbidden_pages* the_one = nullptr;

  std::size_t page_bytes_;
  std::size_t bytes_ = 0;
  char* first_ = nullptr;
  struct sigaction before_ = {};
};

class FaultingBodies : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(FaultingBodies);

TEST_P(FaultingBodies, GoOnBehindAHandlerThatMendsTheFault) {
  for (stm::block* const where : {&faulting, &faulting_alone}) {
    const forbidden_pages pages(2);
    var<int> number{0};
    const int seen = atomically(*where, [&](auto& tx) {
      tx.write(number, tx.read(number) + 1);
      pages.in(0) = 7;
      const int value = pages.in(1);
      tx.write(number, tx.read(number) + 1);
      return value;
    });
    EXPECT_EQ(forbidden_pages::faults, 2);
    EXPECT_EQ(seen, 0);
    EXPECT_EQ(number.load(), 2);
  }
}

void fault_in(stm::block& where) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  volatile int* volatile nowhere = nullptr;
  atomically(where, [&](auto&) { *nowhere = 1; });
}

TEST_P(FaultingBodies, EndTheProgramWhereNobodyHandlesTheFault) {
  EXPECT_DEATH(fault_in(faulting), "");
  EXPECT_DEATH(fault_in(faulting_alone), "");
}

TEST_P(FaultingBodies, AreNotMadeToFaultByOthers) {
  constexpr std::size_t range = 8;
  constexpr int threads = 4;
  constexpr int rounds = under_tsan || under_asan ? 500 : 2'000;
  const forbidden_pages pages(2 * range + 1);
  pages.permit(range);
  alignas(128) var<std::size_t> left{0};
  alignas(128) var<std::size_t> right{0};  // always the same; not in the same stripe
  std::vector<std::thread> team;
  for (unsigned index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      unsigned random = index + 1;
      const auto next = [&random] { return (random = random * 1'664'525 + 1'013'904'223) >> 8; };
      for (int i = 0; i < rounds; ++i) {
        const std::size_t both = next() % range;
        atomically(faulting, [&](auto& tx) {
          const std::size_t one = tx.read(left);
          if (next() % 8 == 0) std::this_thread::yield();
          [[maybe_unused]] const int touched = pages.in(range + one - tx.read(right));
          if (index % 2 == 0) return;
          tx.write(left, both);
          if (next() % 8 == 0) std::this_thread::yield();
          tx.write(right, both);
        });
      }
    });
  }
  for (std::thread& one : team) one.join();
  EXPECT_EQ(forbidden_pages::faults, 0);
  EXPECT_EQ(left.load(), right.load());
}

}  // namespace
