// SPDX-License-Identifier: Apache-2.0
// Each hole that an instrumentation by compiler hooks has, as a small case: the accesses of one function, as the hooks
// were told of them. Prints what differs; the exit status is the number of cases that differ.
#include <immintrin.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

#include <atomic>

#include "trace.h"

#define APART __attribute__((noinline, noclone))

namespace {

// Everything that the cases touch lies here; a trace says at which offset.
struct quad {
  long word[4];
};
struct tracked {  // a class that is passed by reference, and copied bitwise
  long word[4];
  tracked() = default;
  tracked(const tracked&) {}
  tracked& operator=(const tracked&) = default;
  ~tracked() {}
};
struct target {
  void method() {}
};
using member = void (target::*)();
struct memory {
  quad first;                  // 0
  quad second;                 // 32
  tracked third;               // 64
  tracked fourth;              // 96
  char text[32];               // 128
  char other[32];              // 160
  std::atomic<int> atom;       // 192
  int expected;                // 196
  alignas(16) member m;        // 208
  int counter;                 // 224
  unsigned low : 3, high : 5;  // 228
  va_list list;                // 232
};
memory all = {.m = &target::method};
int failures = 0;

template <typename Case>
void check(const char* name, const char* wanted, Case run) {
  txsync_sim_test_record(&all);
  run();
  txsync_sim_test_record(nullptr);
  const char* trace = txsync_sim_test_trace();
  if (!wanted || strcmp(trace, wanted) == 0) return;
  printf("%s: the hooks saw '%s', wanted '%s'\n", name, trace, wanted);
  ++failures;
}

// ---- builtins of constant size
APART void copy_16(char* to, const char* from) { memcpy(to, from, 16); }
APART void copy_29(char* to, const char* from) { memcpy(to, from, 29); }
APART void clear_24(char* to) { memset(to, 0, 24); }
APART int compare_8(const char* a, const char* b) { return memcmp(a, b, 8) == 0; }
APART bool is_literal(const char* text) { return strcmp(text, "txsync") == 0; }
APART void copy_literal(char* to) { strcpy(to, "txsync"); }
APART void __attribute__((optimize("O3"))) clear_by_loop(char* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = 0;
}

APART int different(const char* a, const char* b, unsigned long size) { return memcmp(a, b, size); }
APART void move(char* to, const char* from, unsigned long size) { memmove(to, from, size); }

// ---- operands of calls
APART quad make() { return {{1, 2, 3, 4}}; }
APART quad make_or_throw(bool fail) {
  if (fail) throw 1;
  return {{5, 6, 7, 8}};
}
APART long sum(quad given) { return given.word[0] + given.word[3]; }
APART long sum_both(quad a, quad b) { return a.word[0] + b.word[0]; }
APART void store_result(quad* to) { *to = make(); }
APART void store_result_or_not(quad* to, bool fail) {
  try {
    *to = make_or_throw(fail);
  } catch (int) {
  }
}
APART long pass(quad* from) { return sum(*from); }
APART long pass_both(quad* a, quad* b) { return sum_both(*a, *b); }

struct pair_of_quads {
  quad inner, outer;
};
APART pair_of_quads nested(bool fail) { return {make_or_throw(fail), make()}; }

// ---- two hooks before one statement
APART void copy_object(quad* to, const quad* from) { *to = *from; }
APART void copy_tracked(tracked* to, const tracked* from) { *to = *from; }

// ---- others
APART bool exchange_fails(std::atomic<int>* at, int* expected) { return at->compare_exchange_strong(*expected, 9); }
APART void call_member(target* on, member* which) { (on->**which)(); }
APART void increment_in_assembly(int* at) { __asm__ volatile("incl %0" : "+m"(*at)); }
APART void set_bits(memory* at) { at->high = 3; }
APART void wait_a_moment() {
  _mm_pause();
  __asm__ volatile("pause");
}
APART void prefetch(int* at) {
  __builtin_prefetch(at);
  __builtin_prefetch(at, 1);
  __asm__ volatile("");  // or the call is left out
}
APART int first_of(va_list* list) {
  va_list copy;
  va_copy(copy, *list);
  const int value = va_arg(copy, int);
  va_end(copy);
  return value;
}
APART int first_argument(va_list* list, ...) {
  va_start(*list, list);
  const int value = first_of(list);
  va_end(*list);
  return value;
}
constexpr unsigned long constant_length = __builtin_strlen("four");  // builtins stay constant expressions

}  // namespace

int main() {
  static_assert(constant_length == 4);
  check("memcpy of 16 bytes", "r16@160 w16@128", [] { copy_16(all.text, all.other); });
  check("memcpy of 29 bytes", "step r29@160 w29@128", [] { copy_29(all.text, all.other); });
  check("memset of 24 bytes", "step w24@128", [] { clear_24(all.text); });
  check("strcpy of a literal", "step w7@128", [] { copy_literal(all.text); });
  check("strcmp with a literal", "step r7@128", [] {
    if (!is_literal(all.text)) ++failures;
  });
  check("result of a call", "w32@0", [] { store_result(&all.first); });
  check("result of a call that may throw", "w32@32", [] { store_result_or_not(&all.second, false); });
  check("result of a call that throws", "", [] { store_result_or_not(&all.second, true); });
  check("argument of a call", "r32@0", [] {
    if (pass(&all.first) != 5) ++failures;
  });
  check("arguments of a call", "r32@0 r32@32", [] {
    if (pass_both(&all.first, &all.second) != 6) ++failures;
  });
  // Two ranges, one moment at which another thread may run.
  all.text[20] = 'x';
  check("memcmp of two ranges", "step r5@144 r5@176", [] {
    if (different(all.text + 16, all.other + 16, 12) == 0) ++failures;
  });
  check("memmove of overlapping ranges", "step r20@128 w20@132", [] { move(all.text + 4, all.text, 20); });
  check("copy of an object", "r32@0 w32@32", [] { copy_object(&all.second, &all.first); });
  check("copy of a class with a destructor", "r32@64 w32@96", [] { copy_tracked(&all.fourth, &all.third); });
  check("failing compare_exchange", "w4@196 ax4@192 r4@196 w4@196 r4@196", [] {
    all.expected = 5;
    if (exchange_fails(&all.atom, &all.expected) || all.expected != 0) ++failures;
  });
  check("pointer to a member function", "r16@208 r16@208", [] {
    target object;
    call_member(&object, &all.m);
  });
  check("va_copy", nullptr, [] {
    if (first_argument(&all.list, 6) != 6) ++failures;
  });
  if (!strstr(txsync_sim_test_trace(), "r24@232")) ++failures;
  check("bit-field", "w1@228", [] { set_bits(&all); });
  check("object that is returned in memory", "", [] {
    if (nested(false).inner.word[1] != 6) ++failures;
  });
  check("assembly with a memory operand", "w4@224", [] { increment_in_assembly(&all.counter); });
  check("pause", "relax relax", [] { wait_a_moment(); });
  check("prefetch", "pr0@224 pw0@224", [] { prefetch(&all.counter); });
  return failures;
}
