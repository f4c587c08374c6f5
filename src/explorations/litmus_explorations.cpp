// SPDX-License-Identifier: Apache-2.0
// Litmus tests of the simulated machine itself. Exploring with store buffers has to find what x86-TSO allows (Owens,
// Sarkar and Sewell, TPHOLs 2009) and sequential consistency does not. What x86-TSO forbids must never be seen.
#include <atomic>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>

#include "explorations/exploration.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

struct variables {
  alignas(64) std::atomic<std::uint32_t> x{0};
  alignas(64) std::atomic<std::uint32_t> y{0};
  alignas(64) std::uint32_t seen[4] = {};
};

/// Threads run body(variables, index). forbidden() says whether they saw what must not be.
template <unsigned threads, void (*body)(variables&, unsigned), bool (*forbidden)(const variables&)>
const char* litmus() {
  alignas(variables) static unsigned char place[sizeof(variables)];
  auto& made = *new (place) variables;
  in_threads<variables, threads>(made, body);
  return forbidden(made) ? "the forbidden outcome was seen" : nullptr;
}

std::atomic<std::uint32_t>& own(variables& v, unsigned index) noexcept { return index == 0 ? v.x : v.y; }
std::atomic<std::uint32_t>& other(variables& v, unsigned index) noexcept { return index == 0 ? v.y : v.x; }
bool both_saw_nothing(const variables& v) noexcept { return v.seen[0] == 0 && v.seen[1] == 0; }

/// Store buffering: each writes its own variable and reads the other's.
void buffering(variables& v, unsigned index) {
  own(v, index).store(1, std::memory_order_release);
  v.seen[index] = other(v, index).load(std::memory_order_acquire);
}
void buffering_fenced(variables& v, unsigned index) {
  own(v, index).store(1, relaxed);
  machine::fence();
  v.seen[index] = other(v, index).load(relaxed);
}
void buffering_ordered(variables& v, unsigned index) {
  own(v, index).store(1, std::memory_order_seq_cst);
  v.seen[index] = other(v, index).load(std::memory_order_seq_cst);
}
void buffering_exchanged(variables& v, unsigned index) {
  own(v, index).exchange(1, relaxed);
  v.seen[index] = other(v, index).load(relaxed);
}
/// A thread's read-modify-write of any word empties its store buffer.
void buffering_modified(variables& v, unsigned index) {
  own(v, index).store(1, relaxed);
  std::atomic_ref<std::uint32_t>(v.seen[2 + index]).fetch_add(1, relaxed);
  v.seen[index] = other(v, index).load(relaxed);
}
/// The begin of an attempt empties the store buffer. All see the attempt's stores at its commit.
void buffering_attempted(variables& v, unsigned index) {
  own(v, index).store(1, relaxed);
  std::uint32_t seen = 1;
  if (machine::begin().started()) {
    seen = other(v, index).load(relaxed);
    machine::end();
  } else {
    machine::fence();
    seen = other(v, index).load(relaxed);
  }
  v.seen[index] = seen;
}

/// A thread sees its own waiting stores, the newest of them.
void forwarding(variables& v, unsigned index) {
  own(v, index).store(1, relaxed);
  own(v, index).store(2, relaxed);
  v.seen[index] = own(v, index).load(relaxed);
}
bool own_store_lost(const variables& v) noexcept { return v.seen[0] != 2 || v.seen[1] != 2; }

/// Message passing: stores leave the buffer in their order.
void message(variables& v, unsigned index) {
  if (index == 0) {
    v.x.store(1, relaxed);
    v.y.store(1, relaxed);
  } else {
    v.seen[0] = v.y.load(relaxed);
    v.seen[1] = v.x.load(relaxed);
  }
}
bool message_without_data(const variables& v) noexcept { return v.seen[0] == 1 && v.seen[1] == 0; }

/// Load buffering: no load takes effect after a later store.
void loading(variables& v, unsigned index) {
  v.seen[index] = other(v, index).load(relaxed);
  own(v, index).store(1, relaxed);
}
bool both_saw_the_future(const variables& v) noexcept { return v.seen[0] == 1 && v.seen[1] == 1; }

/// Independent reads of independent writes: all threads see the stores in one order.
void independent(variables& v, unsigned index) {
  if (index < 2) {
    own(v, index).store(1, relaxed);
  } else {
    std::uint32_t* const seen = v.seen + (index == 2 ? 0 : 2);
    const std::uint32_t first = own(v, index - 2).load(relaxed);
    seen[0] = first;
    seen[1] = other(v, index - 2).load(relaxed);
  }
}
bool two_orders(const variables& v) noexcept {
  return v.seen[0] == 1 && v.seen[1] == 0 && v.seen[2] == 1 && v.seen[3] == 0;
}

/// Each thread stores to both variables. Not both threads' last stores can be overwritten by the other's first (2+2W).
void twice_two(variables& v, unsigned index) {
  own(v, index).store(1, relaxed);
  other(v, index).store(2, relaxed);
}
bool first_over_last(const variables& v) noexcept { return v.x.load(relaxed) == 1 && v.y.load(relaxed) == 1; }

constexpr exploration table[] = {
    {"litmus:store-buffering", "both threads miss the other's store", verdict::broken_with_store_buffers,
     litmus<2, buffering, both_saw_nothing>},
    {"litmus:store-buffering-fence", "with a fence they do not", verdict::right,
     litmus<2, buffering_fenced, both_saw_nothing>},
    {"litmus:store-buffering-seq-cst", "nor with sequentially consistent stores", verdict::right,
     litmus<2, buffering_ordered, both_saw_nothing>},
    {"litmus:store-buffering-exchange", "nor with exchanges", verdict::right,
     litmus<2, buffering_exchanged, both_saw_nothing>},
    {"litmus:store-buffering-rmw", "nor with another word's read-modify-write between", verdict::right,
     litmus<2, buffering_modified, both_saw_nothing>},
    {"litmus:store-buffering-attempt", "nor where an attempt begins between", verdict::right,
     litmus<2, buffering_attempted, both_saw_nothing>},
    {"litmus:forwarding", "a thread reads its own newest store", verdict::right, litmus<2, forwarding, own_store_lost>},
    {"litmus:message-passing", "stores are seen in their order", verdict::right,
     litmus<2, message, message_without_data>},
    {"litmus:load-buffering", "no load sees the future", verdict::right, litmus<2, loading, both_saw_the_future>},
    {"litmus:iriw", "all see independent stores in one order", verdict::right, litmus<4, independent, two_orders>},
    {"litmus:2+2w", "stores of two threads have one order", verdict::right, litmus<2, twice_two, first_over_last>},
};

}  // namespace

std::span<const exploration> litmus_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
