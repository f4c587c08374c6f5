// SPDX-License-Identifier: Apache-2.0
#include "fiber.hpp"

#include <elf.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "oracle.hpp"
#include "state.hpp"

namespace txsync::sim {

// A switch leaves the same frame that begin makes (attempts.cpp), so each may continue the other's.
asm(R"(
.text
.globl txsync_sim_switch
.type txsync_sim_switch,@function
txsync_sim_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,(%rdi)
  mov %rsi,%rsp
  mov %edx,%eax
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  pop %rcx
  jmp *%rcx
.size txsync_sim_switch,.-txsync_sim_switch
)");

bool fs_base_is_ours() noexcept {
  constexpr unsigned long fsgsbase_bit = 1ul << 1;  // AT_HWCAP2 on x86, Linux 5.9
  return (getauxval(AT_HWCAP2) & fsgsbase_bit) != 0;
}

std::uintptr_t fs_base() noexcept {
  std::uintptr_t base;
  asm volatile("rdfsbase %0" : "=r"(base));
  return base;
}

int& error_number_of(const thread_record& thread) noexcept {
  // The image is static, so thread-local data is at the same distance from every thread's FS base.
  static const std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(&errno) - fs_base();
  return *reinterpret_cast<int*>(thread.thread_pointer + distance);
}

namespace {

// A parked OS thread's static stack. Its thread-local data is at the top of it, below program_end like everything that
// the program can touch.
constexpr std::size_t parked_stack_bytes = std::size_t{64} << 10;

std::atomic<std::uintptr_t> published{0};

void* park_forever(void*) {
  published.store(fs_base(), std::memory_order_release);  // pairs with the acquire in borrow_thread_pointer()
  for (;;) pause();
}

/// The thread-local data of a new OS thread that does nothing afterwards.
std::uintptr_t borrow_thread_pointer() noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, reinterpret_cast<void*>(take_from_arena(parked_stack_bytes, 4096)),
                        parked_stack_bytes);
  pthread_t parked;
  published.store(0, std::memory_order_relaxed);  // relaxed: nobody else runs
  if (pthread_create(&parked, &attributes, park_forever, nullptr) != 0) {
    fail("the system starts no more threads; each simulated thread needs one for its thread-local data");
  }
  pthread_attr_destroy(&attributes);
  std::uintptr_t base = 0;
  // acquire pairs with the release in park_forever()
  while ((base = published.load(std::memory_order_acquire)) == 0) sched_yield();
  return base;
}

/// The size of thread-local data, right below the FS base. All of it is the image's own, because the image is static.
std::size_t local_data_bytes() noexcept {
  const auto* header = reinterpret_cast<const Elf64_Phdr*>(getauxval(AT_PHDR));
  for (unsigned long i = 0; i < getauxval(AT_PHNUM); ++i) {
    if (header[i].p_type == PT_TLS) return (header[i].p_memsz + header[i].p_align - 1) & ~(header[i].p_align - 1);
  }
  return 0;
}

/// Makes a thread that takes an ended one's place find its thread-local data as a new thread does. `keep`: saves the
/// data as it is now; otherwise restores what was saved.
void settle_local_data(const thread_record& thread, bool keep) noexcept {
  static const std::size_t bytes = local_data_bytes();
  static auto* const copies = static_cast<std::uint8_t*>(reserve(0, max_threads * bytes, "thread-local data"));
  const std::uintptr_t address = thread.thread_pointer - bytes;
  std::uint8_t* const copy = copies + thread.id * bytes;
  if (keep) {
    std::memcpy(copy, reinterpret_cast<const void*>(address), bytes);
    return;
  }
  std::memcpy(reinterpret_cast<void*>(address), copy, bytes);
  if (state.oracle) oracle_forget(address, bytes);
}

}  // namespace

void prepare_fiber(thread_record& thread, void (*entry)()) noexcept {
  if (thread.thread_pointer == 0) {
    thread_record* const creator = state.current;
    set_current(nullptr);  // what libc does for its own thread is not part of the program
    thread.thread_pointer = borrow_thread_pointer();
    set_current(creator);
    thread.stack_low = stacks_begin + stack_bytes * thread.id;
    thread.stack_high = thread.stack_low + stack_bytes;
    // The lowest page stays without rights, so that an overflow is a fault and does not reach another thread's stack.
    if (mprotect(reinterpret_cast<void*>(thread.stack_low + 4096), stack_bytes - 4096, PROT_READ | PROT_WRITE) != 0) {
      fail("no memory for the stack of a simulated thread");
    }
    settle_local_data(thread, true);
  } else {
    settle_local_data(thread, false);
  }
  // Six registers, the entry, and a return address of zero for unwinders, aligned as after a call.
  auto* top = reinterpret_cast<std::uintptr_t*>(thread.stack_high - 64);
  *--top = 0;
  *--top = reinterpret_cast<std::uintptr_t>(entry);
  for (int i = 0; i < 6; ++i) *--top = 0;
  thread.stack_pointer = reinterpret_cast<std::uintptr_t>(top);
  thread.resume_value = 0;
}

}  // namespace txsync::sim
