// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/lock_array.hpp"

#include <txsync/machine/thread.hpp>

#include <cstdlib>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum key : unsigned { locks, held, hold, data, allocates, every, share };

constexpr const char* allocations[] = {"none", "stack", "heap"};
constexpr const char* shares[] = {"all", "own"};

constexpr parameter keys[] = {
    {"locks", 100, 1, 1 << 20, "length of the array"},
    {"held", 1, 1, max_held, "locks that a section takes: a random one and those behind it"},
    {"hold", 0, 0, 1'000'000'000, "cycles that they are held, with fences"},
    {"data", 0, 0, 1 << 24, "bytes that a section reads, each thread its own"},
    {"allocates", 0, 0, 2, "64 bytes in the section: on the stack, or by malloc and free", allocations},
    {"every", 0, 0, 1'000'000'000, "ns from the begin of a thread's section to that of the next; 0: at once"},
    {"share", 0, 0, 1, "own: each thread takes locks of a part of the array of its own", shares},
};

constexpr setting one_lock[] = {{"locks", 1}};
constexpr setting ten_locks[] = {{"locks", 10}};
constexpr setting hundred[] = {{"locks", 100}};
constexpr setting two_held[] = {{"locks", 100}, {"held", 2}};
constexpr setting own_part[] = {{"locks", 100}, {"share", 1}};
constexpr preset presets[] = {
    {"one", "txsync: all threads want one lock", one_lock},
    {"ten", "thesis on TSX in InnoDB, Table 2.5", ten_locks, 4},
    {"hundred", "thesis on TSX in InnoDB, Figs 2.5 and 2.7", hundred, 4},
    {"two-held", "thesis on TSX in InnoDB, Fig 3.9: two locks at once", two_held, 1},
    {"partitioned", "thesis on TSX in InnoDB, Fig C.7", own_part, 4},
};

const char* contradiction(const parameters& values) {
  return values[key::locks] < values[key::held] ? "held is greater than locks: there are not so many" : nullptr;
}

}  // namespace

constinit const workload lock_array_workload{
    .name = "lock-array",
    .summary = "random locks of an array, taken one or several at once and held for a while",
    .operation = "sections",
    .keys = keys,
    .presets = presets,
    .contradiction = contradiction,
};

lock_array_shape::lock_array_shape(const parameters& values) noexcept
    : locks(values[key::locks]),
      held(static_cast<unsigned>(values[key::held])),
      hold(values[key::hold]),
      data(values[key::data]),
      allocates(static_cast<allocation>(values[key::allocates])),
      every_ns(values[key::every]),
      own_locks(values[key::share] != 0) {}

lock_range locks_of(const lock_array_shape& shape, unsigned thread, unsigned threads) noexcept {
  const std::uint64_t firsts = shape.locks - shape.held + 1;
  if (!shape.own_locks || firsts < threads) return {0, firsts};
  const std::uint64_t part = firsts / threads;
  return {thread * part, part};
}

void section_work::allocate() noexcept {
  constexpr std::size_t bytes = 64;
  void* const block = std::malloc(bytes);
  if (block != nullptr) *static_cast<volatile unsigned char*>(block) = 1;
  std::free(block);
}

void section_work::use_stack() noexcept {
  volatile unsigned char block[64];
  block[0] = 1;
  static_cast<void>(block[0]);
}

void section_clock::start() noexcept {
  if (every_ns_ != 0) next_ns_ = machine::clock_ns();
}

void section_clock::wait() noexcept {
  if (every_ns_ == 0) return;
  next_ns_ += every_ns_;
  for (std::uint64_t now = machine::clock_ns(); now < next_ns_; now = machine::clock_ns()) {
    machine::sleep_ns(next_ns_ - now);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
