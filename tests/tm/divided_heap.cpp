// SPDX-License-Identifier: Apache-2.0
// The heap that dmp divides (tm/heap.hpp), with the machine's faults and rights, but without attempts (D2-13). There is
// one heap in a process, so each test is a child process.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <set>
#include <thread>
#include <vector>

#include <txsync/machine/memory.hpp>
#include <txsync/tm.hpp>

#include "../locks/harness/budget.hpp"
#include "../sanitizers.hpp"
#include "tm/algorithms.hpp"
#include "tm/partition/dmp.hpp"

namespace {

namespace stm = txsync::tm;
namespace machine = txsync::machine;
using machine::page_rights;
using stm::detail::heap_pages;
using stm::detail::page_use;

constexpr int went_right = 17;

#define NEEDS(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
      _exit(1);                                                            \
    }                                                                      \
  } while (false)

/// Runs it in a process of its own.
template <class Body>
void in_child(const Body& body) {
  if (conformance::maybe_emulated) GTEST_SKIP() << "the emulator's forks are not the kernel's";
  EXPECT_EXIT(
      {
        alarm(60);
        body();
        _exit(went_right);
      },
      testing::ExitedWithCode(went_right), "");
}

constinit stm::block of_class_0{"test.heap.0"};
constinit stm::block of_class_1{"test.heap.1", {.memory_class = 1}};

using word = stm::var<std::uint64_t>;
using words = std::array<word, 8>;
using large_words = std::array<word, 32'768>;  // 256 KiB

template <class T>
T* make(stm::block& where) {
  return stm::atomically(where, [](auto& tx) { return tx.template make<T>(); });
}
void destroy(auto* object) {
  stm::atomically(of_class_0, [&](auto& tx) { tx.destroy(object); });
}

std::uint64_t& second_of(word& first) noexcept {
  return *reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(&first) + heap_pages.views.distance);
}
std::uint32_t page_of(const void* address) noexcept { return heap_pages.page_of(address); }

TEST(DividedHeap, RefusesWhatIsNotPossible) {
  in_child([] {
    NEEDS(stm::heap_now().max_bytes == 0);
    NEEDS(!stm::make_heap({.page_bytes = 2'048}));
    NEEDS(!stm::make_heap({.page_bytes = 12'288}));
    NEEDS(!stm::make_heap({.page_bytes = 131'072}));
    NEEDS(!stm::make_heap({.max_bytes = 0}));
    NEEDS(!stm::make_heap({.max_bytes = ~std::size_t{0}}));
    NEEDS(!stm::is_in_heap(nullptr));
    NEEDS(stm::make_heap({.max_bytes = 100'000}));
    NEEDS(stm::heap_now().max_bytes == 131'072 && stm::heap_now().page_bytes == 65'536);
    NEEDS(!stm::make_heap());
  });
}

TEST(DividedHeap, ClassesShareNoPage) {
  in_child([] {
    NEEDS(stm::make_heap({.page_bytes = 65'536}));
    const stm::in_heap<words> whole{stm::memory_class{1}};
    std::set<std::uint32_t> pages[2];
    pages[1].insert(page_of(whole.get()));
    for (unsigned i = 0; i < 3'000; ++i) {
      pages[0].insert(page_of(make<words>(of_class_0)));
      pages[1].insert(page_of(make<words>(of_class_1)));
    }
    NEEDS(pages[0].size() > 1 && pages[1].size() > 1);
    for (const std::uint32_t page : pages[0]) NEEDS(!pages[1].contains(page));
  });
}

TEST(DividedHeap, ObjectsHaveMemoryAtBothAddresses) {
  in_child([] {
    NEEDS(stm::make_heap({.page_bytes = machine::page_size()}));
    const auto is_there = [](void* address) {
      const std::size_t page = machine::page_size();
      unsigned char flags = 0;
      NEEDS(mincore(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / page * page), page, &flags) ==
            0);
      return (flags & 1u) != 0;
    };
    for (unsigned i = 0; i < 20'000; ++i) {
      words& one = *make<words>(of_class_0);
      one[0].store(i);
      NEEDS(stm::is_in_heap(&one) && second_of(one[0]) == i);
      NEEDS(i % 100 != 0 || is_there(&second_of(one[0])));
    }
    large_words& large = *make<large_words>(of_class_1);
    large[32'767].store(7);
    NEEDS(second_of(large[32'767]) == 7);
    destroy(&large);
  });
}

TEST(DividedHeap, ARefusedAccessIsServed) {
  in_child([] {
    NEEDS(stm::make_heap({.page_bytes = machine::page_size()}));
    NEEDS(machine::set_fault_handler(stm::detail::serve<stm::detail::request>, nullptr));
    words& one = *make<words>(of_class_0);
    one[0].store(5);
    const std::uint32_t page = page_of(&one);
    of_class_0.now_writes();
    for (const page_use use : {page_use::reads, page_use::writes}) {
      const std::uint64_t before = heap_pages.changes.load();
      NEEDS(stm::detail::withdraw(page, use));
      NEEDS(heap_pages.pages[page].rights.load() == (use == page_use::reads ? page_rights::read : page_rights::none));
      NEEDS(heap_pages.changes.load() == before + 1);
      second_of(one[0]) += 1;  // as an attempt would, but outside of one
      NEEDS(heap_pages.pages[page].rights.load() == page_rights::read_write);
      NEEDS(heap_pages.changes.load() == before + 2);
    }
    NEEDS(one[0].load() == 7);
  });
}

sigjmp_buf behind_the_fault;
constinit volatile std::uintptr_t fault_seen = 0;

TEST(DividedHeap, AFaultElsewhereIsTheProgramsOwn) {
  if (under_asan || under_tsan) GTEST_SKIP() << "the sanitizer handles faults";
  in_child([] {
    struct sigaction own{};
    own.sa_flags = SA_SIGINFO;
    own.sa_sigaction = [](int, siginfo_t* what, void*) {
      fault_seen = reinterpret_cast<std::uintptr_t>(what->si_addr);
      siglongjmp(behind_the_fault, 1);
    };
    NEEDS(sigaction(SIGSEGV, &own, nullptr) == 0);
    NEEDS(stm::make_heap({.page_bytes = machine::page_size()}));
    NEEDS(machine::set_fault_handler(stm::detail::serve<stm::detail::request>, nullptr));
    static_cast<void>(make<words>(of_class_0));
    auto* const forbidden =
        static_cast<volatile char*>(mmap(nullptr, machine::page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (sigsetjmp(behind_the_fault, 1) == 0) {
      forbidden[1] = 1;
      NEEDS(false);
    }
    NEEDS(fault_seen == reinterpret_cast<std::uintptr_t>(forbidden + 1));
  });
}

TEST(DividedHeap, BlocksGoOnWhenItIsFull) {
  in_child([] {
    NEEDS(stm::make_heap({.max_bytes = 1U << 20}));
    std::vector<words*> made;
    for (unsigned i = 0; i < 30'000; ++i) {
      made.push_back(make<words>(of_class_0));
      (*made.back())[0].store(i);
    }
    NEEDS(stm::heap_now().has_been_full && stm::heap_now().used_bytes == 1U << 20);
    NEEDS(stm::is_in_heap(made.front()) && !stm::is_in_heap(made.back()));
    NEEDS(!stm::is_in_heap(make<large_words>(of_class_0)));
    for (unsigned i = 0; i < made.size(); ++i) {
      NEEDS((*made[i])[0].load() == i);
      destroy(made[i]);
    }
  });
}

TEST(DividedHeap, GivesMemoryBackToTheSystem) {
  in_child([] {
    NEEDS(stm::make_heap());
    std::vector<large_words*> made;
    for (unsigned i = 0; i < 40; ++i) {
      made.push_back(make<large_words>(of_class_0));
      for (word& one : *made.back()) one.store(1);
    }
    const std::size_t used = stm::heap_now().used_bytes;
    NEEDS(used >= 40 * sizeof(large_words));
    std::vector<std::uintptr_t> places;
    for (large_words* const one : made) places.push_back(reinterpret_cast<std::uintptr_t>(one));
    for (large_words* const one : made) destroy(one);
    for (unsigned i = 0; i < 1'000; ++i) destroy(make<words>(of_class_0));  // what was destroyed is freed in time
    NEEDS(stm::heap_now().used_bytes < used / 4);
    const std::size_t page = machine::page_size();
    unsigned resident = 0;
    for (const std::uintptr_t place : places) {
      unsigned char flags = 0;
      NEEDS(mincore(reinterpret_cast<void*>((place + sizeof(large_words) / 2) / page * page), page, &flags) == 0);
      resident += flags & 1u;
    }
    NEEDS(resident < 10);
  });
}

TEST(DividedHeap, GoesToSoftwareAsAWholeWhenTheSystemRefuses) {
  if (machine::page_size() != 4'096) GTEST_SKIP() << "there are too few pages for too many mappings";
  in_child([] {
    NEEDS(stm::make_heap({.max_bytes = std::size_t{2} << 30, .page_bytes = 4'096}));
    words& one = *make<words>(of_class_0);
    NEEDS(stm::detail::withdraw(page_of(&one), page_use::reads));
    const std::uint32_t pages = heap_pages.page_count();
    std::uint32_t page = page_of(&one) + 2;
    // Each second page has other rights than its neighbours, until there are too many mappings.
    for (; page < pages && !stm::heap_now().is_refused; page += 2) NEEDS(stm::detail::withdraw(page, page_use::reads));
    NEEDS(stm::heap_now().is_refused);
    NEEDS(heap_pages.pages[page - 2].rights.load() == page_rights::none);
    // From now on nothing is refused, and attempts get nothing.
    for (std::uint32_t i = 1; i < 1'000; i += 2) NEEDS(stm::detail::withdraw(i, page_use::writes));
    NEEDS(!stm::detail::request(3, page_use::reads));
    void* const more = machine::map_pages(machine::page_size());
    NEEDS(more != nullptr);  // the process has mappings again
  });
}

constexpr long amount = 1'000;

TEST(DividedHeap, TheChildOfAForkHasACopy) {
  in_child([] {
    NEEDS(stm::make_heap({.page_bytes = machine::page_size()}));
    words& one = *make<words>(of_class_0);
    one[0].store(1);
    NEEDS(stm::detail::withdraw(page_of(&one), page_use::reads));
    const pid_t child = fork();
    if (child == 0) {
      NEEDS(one[0].load() == 1 && second_of(one[0]) == 1);
      stm::atomically(of_class_0, [&](auto& tx) { tx.write(one[0], tx.read(one[0]) + 1); });
      NEEDS(one[0].load() == 2 && second_of(one[0]) == 2);
      NEEDS(stm::is_in_heap(make<words>(of_class_1)));
      destroy(&one);
      _exit(went_right);
    }
    int status = 0;
    NEEDS(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == went_right);
    NEEDS(one[0].load() == 1);
    stm::atomically(of_class_0, [&](auto& tx) { tx.write(one[0], tx.read(one[0]) + 1); });
    NEEDS(one[0].load() == 2);
  });
}

TEST(DividedHeap, AForkBesideBlocksCopiesWholeBlocks) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer loses locks of its own in the child of a fork";
  in_child([] {
    NEEDS(stm::make_heap());
    words& all = *make<words>(of_class_0);
    all[0].store(amount);
    std::atomic<bool> ends{false};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        for (unsigned n = i; !ends.load(); ++n) {
          stm::atomically(of_class_0, [&](auto& tx) {
            word& from = all[n % 8];
            word& to = all[n * 5 % 7 + 1];
            tx.write(from, tx.read(from) - 1);
            tx.write(to, tx.read(to) + 1);
          });
          destroy(make<words>(of_class_1));
        }
      });
    }
    for (unsigned i = 0; i < 20; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        const std::uint64_t sum = stm::atomically(of_class_0, [&](auto& tx) {
          std::uint64_t seen = 0;
          for (word& each : all) seen += tx.read(each);
          return seen;
        });
        NEEDS(sum == amount);
        _exit(went_right);
      }
      int status = 0;
      NEEDS(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == went_right);
    }
    ends.store(true);
    threads.clear();
  });
}

TEST(DividedHeap, AnObjectThatIsDestroyedTwiceEndsTheProgram) {
  in_child([] {
    NEEDS(stm::make_heap());
    auto* const large = make<large_words>(of_class_0);
    auto* const small = make<words>(of_class_0);
    const auto twice = [](auto* object) {
      const pid_t child = fork();
      if (child == 0) {
        std::fclose(stderr);
        stm::atomically(of_class_0, [&](auto& tx) {
          tx.destroy(object);
          tx.destroy(object);
        });
        _exit(went_right);
      }
      int status = 0;
      NEEDS(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    };
    twice(large);
    twice(small);
  });
}

}  // namespace
