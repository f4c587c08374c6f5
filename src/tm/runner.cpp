// SPDX-License-Identifier: Apache-2.0
#include "tm/runner.hpp"

#include <cstdlib>
#include <new>
#include <txsync/mutex.hpp>

#include "observe/telling.hpp"
#include "tm/algorithms.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm {

namespace detail {

namespace {

constinit std::atomic<runner*> all_runners{nullptr};
constinit mutex free_guard;
constinit runner* free_runners = nullptr;
/// Some of those may still have something in limbo. A hint.
constinit std::atomic<bool> has_orphans{false};
constinit std::atomic<bool> knows_forks{false};

}  // namespace

constinit thread_local runner* runner::my_runner = nullptr;

void* grow_log(void* old, std::size_t bytes) {
  void* const grown = std::realloc(old, bytes);
  if (grown == nullptr) throw std::bad_alloc();
  return grown;
}
void free_log(void* memory) noexcept { std::free(memory); }

// acquire pairs with the release in take(): a runner that is found is complete
runner* runner::first() noexcept { return all_runners.load(std::memory_order_acquire); }

/// In the child of a fork: the other threads are gone, in the middle of whatever they did.
void runner::forget_other_threads() noexcept {
  // relaxed: there is one thread
  if (my_runner != nullptr) my_runner->born_in.store(machine::fork_count(), std::memory_order_relaxed);
  std::construct_at(&free_guard);
  forget_sleepers();
  forget_turns(my_runner);
  forget_global_lock(my_runner);
}

runner& runner::make() {
  void* const memory = std::aligned_alloc(alignof(runner), sizeof(runner));
  if (memory == nullptr) throw std::bad_alloc();
  auto* const made = new (memory) runner;
  shut(*made);
  made->next_ = all_runners.load(std::memory_order_relaxed);
  // release pairs with the acquire in first(), as does that of runners before it
  while (!all_runners.compare_exchange_weak(made->next_, made, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return *made;
}

runner& runner::take() {
  // Where the system refuses, children of forks know nothing of it. relaxed: done once, by whoever comes first
  if (!knows_forks.exchange(true, std::memory_order_relaxed)) {
    static_cast<void>(machine::after_fork(forget_other_threads));
  }
  runner* got = nullptr;
  {
    free_guard.lock();
    got = free_runners;
    if (got != nullptr) free_runners = got->next_free_;
    free_guard.unlock();
  }
  if (got == nullptr) got = &make();
  order_behind_blocks();  // those of the thread that had it before
  // relaxed, here and where it is asked for: it guards nothing
  got->born_in.store(machine::fork_count(), std::memory_order_relaxed);
  begin_to_look(*got);
  my_runner = got;
  const auto give_back = [](void* raw) {
    auto& ended = *static_cast<runner*>(raw);
    empty_limbo(ended);
    order_before_blocks();
    my_runner = nullptr;
    free_guard.lock();
    ended.next_free_ = free_runners;
    free_runners = &ended;
    note_orphans(ended);
    free_guard.unlock();
    free_orphans();
  };
  static_cast<void>(machine::at_thread_exit(give_back, got));  // where there is no room, one is lost with the thread
  return *got;
}

void runner::note_orphans(const runner& left) noexcept {
  // relaxed, as all of that word: who misses it looks again later
  if (!left.limbo.empty() || !left.next_limbo.empty()) has_orphans.store(true, std::memory_order_relaxed);
}

void runner::free_orphans() noexcept {
  if (!has_orphans.load(std::memory_order_relaxed) || !free_guard.try_lock()) return;
  has_orphans.store(false, std::memory_order_relaxed);
  for (runner* one = free_runners; one != nullptr; one = one->next_free_) {
    empty_limbo(*one);
    note_orphans(*one);
  }
  free_guard.unlock();
}

void tell_abort(const runner& me, abort_cause why) noexcept { observe::tell_abort(me.where->id(), me.where, why); }
void tell_fallback(const runner& me, abort_cause why) noexcept {
  observe::tell_fallback(me.where->id(), me.where, why);
}

void runner::make_as_new(std::uint32_t last_id) {
  empty_limbo(*this);
  activity.store(0);
  moves_clock = 0;
  begin_to_look(*this);
  looked = 0;
  others_activity = 0;
  where = nullptr;
  counts = nullptr;
  other_block = nullptr;
  other_counts = nullptr;
  for (std::uint32_t id = 0; id <= last_id; ++id) counts_of(id);
  // Transactions begin by clearing what the last one has left, where it has left something.
  reads.clear();
  undo.clear();
  clear_extras(*this);
  forget_marks();
  // The logs of actions are not here: they go with their actions.
  reads.reserve_one();
  undo.reserve_one();
  owned.reserve_one();
  made.reserve_one();
  gone.reserve_one();
  limbo.reserve_one();
  next_limbo.reserve_one();
  running.reserve_one();
  values.reserve_one();
  word any{0};
  for (unsigned i = 0; i < 2; ++i) writes.put(any, 0, true);
  writes.clear();
  make_read_bits(*this);
}

void runner::begin_anew(unsigned count, std::uint32_t last_id) {
  look_as_usual();
  unsigned there = 0;
  for (const runner* one = first(); one != nullptr; one = one->next_) ++there;
  for (; there < count; ++there) make();
  free_runners = nullptr;
  for (runner* one = first(); one != nullptr; one = one->next_) {
    one->make_as_new(last_id);
    one->next_free_ = free_runners;
    free_runners = one;
  }
  shared.gate.store(gate_open);
  shared.clock.fetch_add(1);
}

runner::page* runner::new_page(std::uint32_t id) {
  page* const fresh = new page;
  pages_[id / page_length].store(fresh, std::memory_order_release);  // pairs with the acquire in counts_if_any()
  return fresh;
}

const block_counts* runner::counts_if_any(std::uint32_t id) const noexcept {
  const page* const found = pages_[id / page_length].load(std::memory_order_acquire);
  return found != nullptr ? &found->blocks[id % page_length] : nullptr;
}

}  // namespace detail

block_totals totals(block& where) noexcept {
  using detail::runner;
  block_totals sum;
  const std::uint32_t id = where.id();
  for (const runner* one = runner::first(); one != nullptr; one = one->next()) {
    const detail::block_counts* const counts = one->counts_if_any(id);
    if (counts == nullptr) continue;
    // relaxed, all of them: numbers that guard nothing
    sum.commits += counts->commits.load(std::memory_order_relaxed);
    sum.alone += counts->alone.load(std::memory_order_relaxed);
    sum.hardware += counts->hardware.load(std::memory_order_relaxed);
    sum.waits += counts->waits.load(std::memory_order_relaxed);
    for (unsigned i = 0; i < abort_cause_count; ++i) {
      sum.aborts[i] += counts->aborts[i].load(std::memory_order_relaxed);
    }
  }
  return sum;
}

}  // namespace txsync::inline TXSYNC_BACKEND::tm
