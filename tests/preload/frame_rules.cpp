// SPDX-License-Identifier: Apache-2.0
#include "preload/frame_rules.hpp"

#include <gtest/gtest.h>
#include <unwind.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

using txsync::preload::find_caller;
using txsync::preload::stack_frame;

/// No memory of the heap: made in handlers of signals.
struct chain {
  static constexpr std::size_t max = 512;
  std::uintptr_t addresses[max];
  std::size_t count = 0;

  void push_back(std::uintptr_t address) {
    if (count < max) addresses[count++] = address;
  }
  std::size_t size() const { return count; }
  std::uintptr_t operator[](std::size_t i) const { return addresses[i]; }
};

[[gnu::noinline]] void go_up(std::uintptr_t canonical, chain& out) {
  stack_frame at;
  at.address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  while (out.size() < chain::max && find_caller(at, canonical)) {
    out.push_back(at.address);
    canonical = 0;
  }
}

/// The return addresses of the caller and all its callers.
[[gnu::noinline]] void find_own(chain& out) {
  out.count = 0;
  __builtin_unwind_init();
  go_up(reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()), out);
  out.push_back(0);  // the call before it is no jump
  --out.count;
}

/// The same by the compiler's library.
[[gnu::noinline]] void find_usual(chain& out) {
  out.count = 0;
  const auto visit = [](_Unwind_Context* context, void* raw) {
    if (const std::uintptr_t address = _Unwind_GetIP(context); address != 0)
      static_cast<chain*>(raw)->push_back(address);
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(visit, &out);
}

chain own, usual;

/// Both, from one place. Their innermost addresses differ.
[[gnu::noinline]] void look() {
  find_usual(usual);
  find_own(own);
}

void expect_same(std::size_t at_least) {
  ASSERT_GE(own.size(), at_least);
  // Of the usual chain the first address lies in find_usual(); both then have one in look().
  ASSERT_EQ(usual.size(), own.size() + 1);
  for (std::size_t i = 1; i < own.size(); ++i) EXPECT_EQ(own[i], usual[i + 1]) << i;
}

[[gnu::noinline]] int descend(int depth, int* sizes) {
  int* const varies = static_cast<int*>(__builtin_alloca(static_cast<std::size_t>(16 * (depth % 7 + 1))));
  varies[0] = depth;
  if (depth == 0) {
    look();
  } else {
    sizes[0] += descend(depth - 1, varies);
  }
  return varies[0];
}

TEST(FrameRules, FramesOfAllSizes) {
  int sum = 0;
  descend(50, &sum);
  expect_same(51);
}

TEST(FrameRules, ThroughTheCLibrary) {
  int numbers[] = {3, 1, 2};
  std::qsort(numbers, 3, sizeof(int), [](const void* a, const void* b) {
    look();
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  expect_same(4);
}

TEST(FrameRules, ThroughStandardFunctions) {
  const std::function<void(int)> twice = [&](int left) {
    if (left == 0) return look();
    twice(left - 1);
  };
  twice(10);
  expect_same(20);
}

// Elsewhere the code that a handler returns to has no table, and the chain ends with the handler.
#ifdef __x86_64__

void interrupted() { look(); }

TEST(FrameRules, FromAHandlerOfASignal) {
  const auto before = std::signal(SIGUSR1, [](int) { interrupted(); });
  std::raise(SIGUSR1);
  std::signal(SIGUSR1, before);
  expect_same(6);
}

TEST(FrameRules, FromAHandlerOnAStackOfItsOwn) {
  std::vector<char> room(64 * 1024);
  stack_t stack{}, old_stack{};
  stack.ss_sp = room.data();
  stack.ss_size = room.size();
  sigaltstack(&stack, &old_stack);
  struct sigaction action{}, old_action{};
  action.sa_handler = [](int) { interrupted(); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, &old_action);
  std::raise(SIGUSR1);
  sigaction(SIGUSR1, &old_action, nullptr);
  sigaltstack(&old_stack, nullptr);
  expect_same(6);
}

#endif

TEST(FrameRules, AnAddressWithoutATableEndsTheChain) {
  for (const std::uintptr_t nowhere : {std::uintptr_t{1}, std::uintptr_t{0xFEEDFACECAFE}, ~std::uintptr_t{0}}) {
    stack_frame at;
    at.address = nowhere;
    std::uintptr_t canonical = 0;
    EXPECT_FALSE(find_caller(at, canonical));
  }
}

}  // namespace
