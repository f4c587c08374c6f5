// SPDX-License-Identifier: Apache-2.0
// A stand-in for the simulated machine's runtime: one thread, no machine. It runs the program, records what the hooks
// are told between record(1) and record(0), and checks that whoever looks at memory sees what was announced. Programs
// under test ask it by txsync_sim_test_trace().
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "sim/program.h"
#include "trace.h"
#include "txsync_backend/runtime.h"

namespace {

bool recording = false;
char text[1 << 16];
std::size_t used = 0;
const char* origin = nullptr;

void add(const char* format, ...) __attribute__((format(printf, 1, 2)));
void add(const char* format, ...) {
  if (!recording) return;
  va_list arguments;
  va_start(arguments, format);
  used += static_cast<std::size_t>(std::vsnprintf(text + used, sizeof text - used, format, arguments));
  va_end(arguments);
}

// Only accesses near the origin are told apart from those of the program's other memory.
void access(const char* what, const void* address, std::size_t bytes) {
  const std::ptrdiff_t at = static_cast<const char*>(address) - origin;
  if (at >= 0 && at < 4096) add("%s%zu@%td ", what, bytes, at);
}

}  // namespace

extern "C" {

void txsync_sim_test_record(const void* start) {
  recording = start != nullptr;
  origin = static_cast<const char*>(start);
  if (recording) used = 0;
}
const char* txsync_sim_test_trace(void) {
  text[used] = '\0';
  while (used > 0 && text[used - 1] == ' ') text[--used] = '\0';
  return text;
}

// ---- the compiler's hooks
void __tsan_init(void) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void) {}
void __tsan_read_range(void* p, std::size_t n) { access("r", p, n); }
void __tsan_write_range(void* p, std::size_t n) { access("w", p, n); }
void __tsan_vptr_update(void** p, void*) { access("w", p, 8); }
void __tsan_vptr_read(void** p) { access("r", p, 8); }
void __tsan_atomic_thread_fence(int) { add("fence "); }
void __tsan_atomic_signal_fence(int) {}

#define PLAIN(n)                                                         \
  void __tsan_read##n(void* p) { access("r", p, n); }                    \
  void __tsan_write##n(void* p) { access("w", p, n); }                   \
  void __tsan_unaligned_read##n(void* p) { access("r", p, n); }          \
  void __tsan_unaligned_write##n(void* p) { access("w", p, n); }         \
  void __tsan_volatile_read##n(void* p) { access("r", p, n); }           \
  void __tsan_volatile_write##n(void* p) { access("w", p, n); }          \
  void __tsan_unaligned_volatile_read##n(void* p) { access("r", p, n); } \
  void __tsan_unaligned_volatile_write##n(void* p) { access("w", p, n); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define ATOMIC(bits, type)                                                                                  \
  type __tsan_atomic##bits##_load(const volatile type* p, int) {                                            \
    access("ar", const_cast<const type*>(p), bits / 8);                                                     \
    return *p;                                                                                              \
  }                                                                                                         \
  void __tsan_atomic##bits##_store(volatile type* p, type v, int) {                                         \
    access("aw", const_cast<type*>(p), bits / 8);                                                           \
    *p = v;                                                                                                 \
  }                                                                                                         \
  type __tsan_atomic##bits##_exchange(volatile type* p, type v, int) {                                      \
    access("ax", const_cast<type*>(p), bits / 8);                                                           \
    const type old = *p;                                                                                    \
    *p = v;                                                                                                 \
    return old;                                                                                             \
  }                                                                                                         \
  type __tsan_atomic##bits##_fetch_add(volatile type* p, type v, int) {                                     \
    access("ax", const_cast<type*>(p), bits / 8);                                                           \
    const type old = *p;                                                                                    \
    *p = static_cast<type>(old + v);                                                                        \
    return old;                                                                                             \
  }                                                                                                         \
  type __tsan_atomic##bits##_fetch_sub(volatile type* p, type v, int order) {                               \
    return __tsan_atomic##bits##_fetch_add(p, static_cast<type>(-v), order);                                \
  }                                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* expected, type v, int, int) {   \
    access("ax", const_cast<type*>(p), bits / 8);                                                           \
    access("r", expected, bits / 8);                                                                        \
    if (*p == *expected) return *p = v, 1;                                                                  \
    access("w", expected, bits / 8);                                                                        \
    *expected = *p;                                                                                         \
    return 0;                                                                                               \
  }                                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected, type v, int a, int b) { \
    return __tsan_atomic##bits##_compare_exchange_strong(p, expected, v, a, b);                             \
  }
ATOMIC(8, std::uint8_t)
ATOMIC(16, std::uint16_t)
ATOMIC(32, std::uint32_t)
ATOMIC(64, std::uint64_t)

// ---- program.h
void txsync_sim_step(void) { add("step "); }
void txsync_sim_reads(const void* p, std::size_t n) { access("r", p, n); }
void txsync_sim_writes(void* p, std::size_t n) { access("w", p, n); }
void txsync_sim_next_is_atomic(int, int) {}
void txsync_sim_system_call(const char* name) { add("call:%s ", name); }
void txsync_sim_unsupported(const char* name) {
  std::fprintf(stderr, "unsupported: %s\n", name);
  std::_Exit(3);
}
void txsync_sim_lock_asked(const void*, unsigned) {}
void txsync_sim_semaphore_asked(const std::uint32_t*) {}
void txsync_sim_join_asked(std::uintptr_t) {}
void txsync_sim_join_asked_at(const void*) {}
void txsync_sim_lock_touched(const void*, std::size_t) {}
void txsync_sim_lock_call_begins() {}
void txsync_sim_lock_call_ends(const void*, std::size_t, int) {}
void txsync_sim_wait_begins(const void*, std::size_t, const void*, std::size_t) {}
void txsync_sim_notifies(const void*, int) {}
void txsync_sim_exit(int status) { std::exit(status); }
void txsync_sim_quick_exit(int status) { std::_Exit(status); }
void txsync_sim_abort_program(void) { std::abort(); }
std::uint64_t txsync_sim_random(void) { return 4; }

// ---- runtime.h: a thread runs to its end where it is started
int txsync_sim_look_unseen(void) {
  const bool was = recording;
  recording = false;
  return was ? 1 : 0;
}
void txsync_sim_end_look(int began) { recording = recording || began != 0; }
void txsync_sim_give_up(const char* why) {
  std::fputs(why, stderr);
  std::abort();
}
void txsync_sim_relax(void) { add("relax "); }
void txsync_sim_fence(void) { add("fence "); }
void txsync_sim_prefetch(const void* p, int for_write) { access(for_write ? "pw" : "pr", p, 0); }
std::uint64_t txsync_sim_cycles(void) { return 77; }
std::uint64_t txsync_sim_clock_ns(void) { return 5; }
std::uint32_t txsync_sim_begin(void) { return add("begin "), 0xffffffff; }
void txsync_sim_end(void) { add("end "); }
void txsync_sim_abort(std::uint8_t code) { add("abort:%u ", code); }
unsigned txsync_sim_depth(void) { return 1; }
int txsync_sim_thread_start(std::uintptr_t* handle, void (*function)(void*), void* argument) {
  *handle = 1;
  std::thread(function, argument).join();
  return 1;
}
void txsync_sim_thread_join(std::uintptr_t) {}
void txsync_sim_thread_detach(std::uintptr_t) {}
std::uintptr_t txsync_sim_first_thread(void) { return 0; }
void txsync_sim_thread_exit(void) { std::_Exit(4); }
std::uint32_t txsync_sim_thread_id(void) { return 0; }
int txsync_sim_at_thread_exit(void (*)(void*), void*) { return 1; }
void txsync_sim_yield(void) { add("yield "); }
void txsync_sim_sleep_ns(std::uint64_t) {}
unsigned txsync_sim_cpu_count(void) { return 8; }
unsigned txsync_sim_program_cpus(void) { return 8; }
int txsync_sim_pin(unsigned) { return 1; }
void txsync_sim_unpin(void) {}
unsigned txsync_sim_cpu(void) { return 5; }
unsigned txsync_sim_socket(void) { return 1; }
int txsync_sim_is_pinned(void) { return 0; }
int txsync_sim_park(const void*, std::uint32_t, std::uint64_t) { return 1; }
unsigned txsync_sim_unpark(const void*, unsigned) { return 0; }
std::size_t txsync_sim_page_size(void) { return 4096; }
int txsync_sim_sigaction(int, const struct sigaction*, struct sigaction*) { return 0; }
void* txsync_sim_mmap(void*, std::size_t, int, int, int, std::int64_t) { return nullptr; }
int txsync_sim_madvise(void*, std::size_t, int) { return 0; }

}  // extern "C"

int main(int count, char** values, char** environment) { return txsync_sim_user_main(count, values, environment); }
