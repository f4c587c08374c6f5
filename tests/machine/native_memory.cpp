// SPDX-License-Identifier: Apache-2.0
// Pages, their rights, and faults on them, on the real system.
#include <gtest/gtest.h>

#include <csetjmp>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <txsync/machine/memory.hpp>

#include "../sanitizers.hpp"

namespace {

namespace machine = txsync::machine;

struct pages {
  explicit pages(std::size_t count) : bytes(count * machine::page_size()), at(machine::map_pages(bytes)) {}
  ~pages() { machine::unmap_pages(at, bytes); }
  volatile char& operator[](std::size_t i) const { return static_cast<volatile char*>(at)[i]; }
  std::size_t bytes;
  void* at;
};

/// What the handler under test saw; it gives the rights back, so that the access succeeds when tried again.
struct fault_log {
  void* page = nullptr;
  void* address = nullptr;
  bool write = false;
  int calls = 0;
};

machine::fault_answer allow(void* address, bool write, void* argument) {
  auto& log = *static_cast<fault_log*>(argument);
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(log.page);
  if (offset >= machine::page_size()) return machine::fault_answer::not_mine;
  log.address = address;
  log.write = write;
  ++log.calls;
  const auto rights = write ? machine::page_rights::read_write : machine::page_rights::read;
  return machine::protect_pages(log.page, machine::page_size(), rights) ? machine::fault_answer::retry
                                                                        : machine::fault_answer::not_mine;
}

/// Where this is false, the handler may be told "write" for a read too. (AArch64's kernel tells, some emulators do
/// not.)
constexpr bool machine_tells_writes =
#if defined(__x86_64__)
    true;
#else
    false;
#endif

class NativeFaults : public testing::Test {
 protected:
  ~NativeFaults() override { EXPECT_TRUE(machine::set_fault_handler(nullptr, nullptr)); }
};

TEST(NativePages, SizeIsAPowerOfTwo) {
  const std::size_t size = machine::page_size();
  EXPECT_GE(size, 4096u);
  EXPECT_EQ(size & (size - 1), 0u);
  EXPECT_EQ(machine::page_size(), size);
}

TEST(NativePages, AreZeroedAndWritable) {
  pages some(3);
  ASSERT_NE(some.at, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(some.at) % machine::page_size(), 0u);
  for (std::size_t i = 0; i < some.bytes; i += 512) EXPECT_EQ(some[i], 0);
  some[0] = 1;
  some[some.bytes - 1] = 2;
  EXPECT_EQ(some[0] + some[some.bytes - 1], 3);
}

TEST(NativePages, HugeReservationsTouchNothing) {
  constexpr std::size_t much = std::size_t{1} << 38;  // 256 GiB, more than the machine has
  void* const at = machine::map_pages(much);
  if (at == nullptr) GTEST_SKIP() << "this system commits memory at once (vm.overcommit_memory=2)";
  static_cast<volatile char*>(at)[much - 1] = 1;
  machine::unmap_pages(at, much);
}

TEST(NativePages, NullWhenTheSystemHasNone) {
  EXPECT_EQ(machine::map_pages(~std::size_t{0} / 2), nullptr);
  EXPECT_EQ(machine::map_pages(0), nullptr);
  EXPECT_EQ(machine::map_pages_twice(0).first, nullptr);
}

TEST(NativePages, MappedTwiceAreTheSameMemory) {
  const std::size_t bytes = 2 * machine::page_size();
  const machine::double_mapping both = machine::map_pages_twice(bytes);
  ASSERT_NE(both.first, nullptr);
  ASSERT_NE(both.second, nullptr);
  ASSERT_NE(both.first, both.second);
  auto* const first = static_cast<volatile char*>(both.first);
  auto* const second = static_cast<volatile char*>(both.second);
  EXPECT_EQ(first[0], 0);
  first[0] = 'a';
  second[bytes - 1] = 'z';
  EXPECT_EQ(second[0], 'a');
  EXPECT_EQ(first[bytes - 1], 'z');
  // Rights belong to the address, not to the memory.
  EXPECT_TRUE(machine::protect_pages(both.first, bytes, machine::page_rights::none));
  second[0] = 'b';
  EXPECT_TRUE(machine::protect_pages(both.first, bytes, machine::page_rights::read));
  EXPECT_EQ(first[0], 'b');
  machine::unmap_pages(both.first, bytes);
  EXPECT_EQ(second[0], 'b');
  machine::unmap_pages(both.second, bytes);
}

TEST(NativePages, ProtectRefusesWhatIsNotMapped) {
  void* const at = machine::map_pages(machine::page_size());
  machine::unmap_pages(at, machine::page_size());
  EXPECT_FALSE(machine::protect_pages(at, machine::page_size(), machine::page_rights::read));
}

TEST_F(NativeFaults, HandlerSeesReadAndWriteAndTheAccessIsTriedAgain) {
  pages one(1);
  one[7] = 'x';
  fault_log log{.page = one.at};
  ASSERT_TRUE(machine::set_fault_handler(allow, &log));

  ASSERT_TRUE(machine::protect_pages(one.at, one.bytes, machine::page_rights::none));
  EXPECT_EQ(one[7], 'x');
  EXPECT_EQ(log.calls, 1);
  EXPECT_EQ(log.address, const_cast<char*>(&one[7]));
  if (machine_tells_writes) {
    EXPECT_FALSE(log.write);
  }

  ASSERT_TRUE(machine::protect_pages(one.at, one.bytes, machine::page_rights::read));
  log.calls = 0;
  one[9] = 'y';
  EXPECT_EQ(log.calls, 1);
  EXPECT_EQ(log.address, const_cast<char*>(&one[9]));
  EXPECT_TRUE(log.write);
  EXPECT_EQ(one[9], 'y');
}

TEST_F(NativeFaults, TheLastHandlerSetIsAsked) {
  pages one(1);
  fault_log first{.page = one.at};
  fault_log second{.page = one.at};
  ASSERT_TRUE(machine::set_fault_handler(allow, &first));
  ASSERT_TRUE(machine::set_fault_handler(allow, &second));
  ASSERT_TRUE(machine::protect_pages(one.at, one.bytes, machine::page_rights::none));
  one[0] = 1;
  EXPECT_EQ(first.calls, 0);
  EXPECT_GT(second.calls, 0);
}

TEST_F(NativeFaults, BeyondTheEndOfAFile) {
  char name[] = "/tmp/txsync-fault-XXXXXX";
  const int handle = mkstemp(name);
  ASSERT_GE(handle, 0);
  unlink(name);
  const std::size_t bytes = machine::page_size();
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  ASSERT_NE(at, MAP_FAILED);
  // SIGBUS: the file has no such page, until the handler makes one.
  struct grow {
    int handle;
    int calls = 0;
  } state{handle};
  ASSERT_TRUE(machine::set_fault_handler(
      [](void*, bool, void* argument) {
        auto& file = *static_cast<grow*>(argument);
        ++file.calls;
        return ftruncate(file.handle, 1) == 0 ? machine::fault_answer::retry : machine::fault_answer::not_mine;
      },
      &state));
  static_cast<volatile char*>(at)[0] = 1;
  EXPECT_EQ(state.calls, 1);
  munmap(at, bytes);
  close(handle);
}

// A stranger's fault goes where it went before. Each in a child, because the dispositions are the process's own.
sigjmp_buf back;
volatile sig_atomic_t earlier_calls = 0;
volatile std::uintptr_t nowhere = 64;

void earlier_handler(int, siginfo_t* info, void*) {
  earlier_calls = earlier_calls + (info->si_addr == reinterpret_cast<void*>(nowhere) ? 1 : 100);
  siglongjmp(back, 1);
}

void touch_nowhere() { *reinterpret_cast<volatile char*>(nowhere) = 1; }

[[noreturn]] void chain_to_earlier_handler() {
  struct sigaction earlier{};
  earlier.sa_sigaction = earlier_handler;
  earlier.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &earlier, nullptr);
  fault_log log;
  if (!machine::set_fault_handler(allow, &log)) _exit(3);
  if (sigsetjmp(back, 1) == 0) touch_nowhere();
  if (sigsetjmp(back, 1) == 0) touch_nowhere();
  (void)machine::set_fault_handler(nullptr, nullptr);
  if (sigsetjmp(back, 1) == 0) touch_nowhere();
  _exit(earlier_calls == 3 ? 0 : 4);
}

[[noreturn]] void die_of_own_fault() {
  fault_log log;
  if (!machine::set_fault_handler(allow, &log)) _exit(3);
  touch_nowhere();
  _exit(5);
}

template <int signal>
[[noreturn]] void die_of_sent_signal() {
  fault_log log;
  if (!machine::set_fault_handler(allow, &log)) _exit(3);
  raise(signal);
  _exit(5);
}

#if defined(__x86_64__)  // elsewhere a division by zero is no fault
__attribute__((no_sanitize("undefined"))) void divide() {
  volatile int by = 0, of = 1'000;
  volatile const int result = of / by;
  (void)result;
}

[[noreturn]] void chain_to_earlier_handler_of_divisions() {
  struct sigaction earlier{};
  earlier.sa_handler = [](int) { siglongjmp(back, 1); };
  earlier.sa_flags = SA_NODEFER;
  sigaction(SIGFPE, &earlier, nullptr);
  fault_log log;
  if (!machine::set_fault_handler(allow, &log)) _exit(3);
  if (sigsetjmp(back, 1) == 0) {
    divide();
    _exit(4);
  }
  _exit(0);
}

[[noreturn]] void die_of_own_division() {
  fault_log log;
  if (!machine::set_fault_handler(allow, &log)) _exit(3);
  divide();
  _exit(5);
}
#endif

// ASan and TSan put handlers of their own in front of the system's action.
constexpr bool sanitized = under_asan || under_tsan;

int status_of_child(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGFPE}) {
      if (!sanitized) std::signal(signal, SIG_DFL);  // whoever started the test may have changed it
    }
    body();
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(NativeForeignFaults, GoToTheEarlierHandler) {
  const int status = status_of_child(chain_to_earlier_handler);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
#if defined(__x86_64__)
  const int of_division = status_of_child(chain_to_earlier_handler_of_divisions);
  ASSERT_TRUE(WIFEXITED(of_division));
  EXPECT_EQ(WEXITSTATUS(of_division), 0);
#endif
}

TEST(NativeForeignFaults, KillTheProgramAsEver) {
  if (sanitized) GTEST_SKIP() << "the sanitizer's own handler stands where the system's action would";
  const auto expect_death = [](void (*body)(), int signal) {
    const int status = status_of_child(body);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
  };
  expect_death(die_of_own_fault, SIGSEGV);
  expect_death(die_of_sent_signal<SIGSEGV>, SIGSEGV);
  expect_death(die_of_sent_signal<SIGFPE>, SIGFPE);
#if defined(__x86_64__)
  expect_death(die_of_own_division, SIGFPE);
#endif
}

}  // namespace
