// SPDX-License-Identifier: Apache-2.0
#include "tm/runner.hpp"

#include <cstdlib>
#include <memory>
#include <new>
#include <txsync/machine/assert.hpp>
#include <txsync/mutex.hpp>
#include <txsync/tm/algorithm.hpp>

#include "observe/blocks.hpp"
#include "observe/name_words.hpp"
#include "observe/reporting.hpp"
#include "tm/algorithms.hpp"
#include "tm/hybrid/announcements.hpp"
#include "tm/partition/pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

namespace detail {

namespace {

constinit std::atomic<runner*> all_runners{nullptr};
constinit mutex free_guard;
constinit runner* free_runners TXSYNC_GUARDED_BY(free_guard) = nullptr;
/// Whether some of those may still have objects in limbo. A hint.
constinit std::atomic<bool> has_orphans{false};
constinit std::atomic<bool> knows_forks{false};

}  // namespace

[[gnu::tls_model("initial-exec")]] constinit thread_local runner* runner::my_runner = nullptr;

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
  forget_announcements(my_runner);
  forget_rooms();
}

runner& runner::make() {
  void* const memory = std::aligned_alloc(alignof(runner), sizeof(runner));
  if (memory == nullptr) throw std::bad_alloc();
  auto* const made = new (memory) runner;
  close_accesses(*made);
  made->next_ = all_runners.load(std::memory_order_relaxed);
  // release pairs with the acquire in first(), as does the release of earlier runners
  while (!all_runners.compare_exchange_weak(made->next_, made, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return *made;
}

runner& runner::take() {
  // If the system refuses, children of forks do not run it. relaxed: done once, by the first thread
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
  order_behind_blocks();  // those of the runner's former thread
  got->forget_blocks();
  // relaxed, here and where it is read: it guards nothing
  got->born_in.store(machine::fork_count(), std::memory_order_relaxed);
  begin_to_look(*got);
  my_runner = got;
  const auto give_back = [](void* raw) {
    auto& ended = *static_cast<runner*>(raw);
    withdraw(ended);
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
  static_cast<void>(machine::at_thread_exit(give_back, got));  // if there is no room, a runner is lost with the thread
  return *got;
}

void runner::note_orphans(const runner& left) noexcept {
  // relaxed, as all accesses of that word: a thread that misses it looks again later
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

observe::speculation_counters* runner::counts_of(block& which) noexcept {
  observe::thread_block* const of_thread = observe::block_of_thread();
  if (of_thread == nullptr) return &uncounted_;
  observe::speculation_counters* const found =
      observe::counters_of(*of_thread, observe::detail::counted_id(which.get_site()));
  if (found == nullptr) return &uncounted_;
  const observe::path_note last = observe::note_in(found->path);
  if (last.algorithm[0] != ran_by_words[0] || last.algorithm[1] != ran_by_words[1]) note_path(*found, which);
  return found;
}

void runner::note_path(observe::speculation_counters& at, block& which) const noexcept {
  const block_path path = path_of(which);
  observe::put(at.path, {.noted = machine::cycles(),
                         .algorithm = {ran_by_words[0], ran_by_words[1]},
                         .in_hardware = path.in_hardware ? 1u : 0u,
                         .reason = static_cast<std::uint64_t>(path.why),
                         .hardware_cycles = static_cast<std::uint64_t>(path.hardware_cycles),
                         .software_cycles = static_cast<std::uint64_t>(path.software_cycles)});
}
void runner::note_path() noexcept { note_path(*counts, *where); }

void runner::begin_with(const algorithm& used) noexcept {
  ran_by = &used;
  observe::put_name(algorithm_in_use(), ran_by_words);
  where = nullptr;
  other_block = nullptr;
}

/// Counters belong to a thread, which ends before its runner does. A thread gives back its counters before its runner,
/// since it took them later. Blocks that run in between may lose a count to the counters' next owner.
void runner::forget_blocks() noexcept {
  ready_for = nullptr;
  where = nullptr;
  counts = nullptr;
  other_block = nullptr;
  other_counts = nullptr;
  ran_by = nullptr;
  // These counts decide which critical sections are timed. In explorations each schedule begins alike.
  std::construct_at(&uncounted_);
  timed = {};
}

void report_abort(const runner& me, abort_cause why) noexcept { observe::report_abort(me.where->id(), me.where, why); }
void report_fallback(const runner& me, abort_cause why) noexcept {
  observe::report_fallback(me.where->id(), me.where, why);
}

void runner::make_as_new() {
  empty_limbo(*this);
  slots.forget();
  activity.store(0);
  activity_seen.store(0);
  withdraw(*this);
  since_software = 0;
  written = {};
  until_timed = 1;
  probed = 0;
  probe_interval = 0;
  others_blocks = 0;
  late_starts = 0;
  begin_to_look(*this);
  looked = 0;
  others_activity = 0;
  forget_blocks();
  // Transactions begin by clearing what the last one has left, if it has left something.
  reads.clear();
  undo.clear();
  clear_extras(*this);
  forget_marks();
  // The logs of actions are not cleared here: they go with their actions.
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
  if (!heap_pages.is_there()) return;
  static_cast<void>(marks_of(*this));
  for (growing_log<std::uint32_t>* const log : {&pages_read, &pages_written}) {
    for (unsigned i = 0; i < 4; ++i) log->append(i);
    log->clear();
  }
}

void runner::begin_anew(unsigned count) TXSYNC_UNCHECKED {  // there is one thread
  TXSYNC_ASSERT(
      [] {
        const runner* one = first();
        while (one != nullptr && (one->activity.load(std::memory_order_relaxed) & 1) == 0) one = one->next_;
        return one == nullptr;
      }(),
      "no thread runs a block any more");
  look_as_usual();
  unsigned there = 0;
  for (const runner* one = first(); one != nullptr; one = one->next_) ++there;
  for (; there < count; ++there) make();
  free_runners = nullptr;
  for (runner* one = first(); one != nullptr; one = one->next_) {
    one->make_as_new();
    one->next_free_ = free_runners;
    free_runners = one;
  }
  forget_announcements(nullptr);
  shared.trial_ends.store(0);
  shared.trial_began.store(0);
  shared.trial_interval.store(0);
  renew_rooms();
  shared.quiescence_gate.store(gate_open);
  shared.clock.fetch_add(2);  // hytl2 and hytinystm leave versions that are ahead of it by one
}

}  // namespace detail

block_totals totals(block& where) noexcept {
  observe::attempt_totals attempts;
  observe::transaction_totals transactions;
  observe::add_speculation(where.id(), attempts, transactions);
  block_totals sum;
  sum.commits = attempts.commits + transactions.commits;
  sum.alone = transactions.alone;
  sum.hardware = attempts.commits;
  sum.waits = transactions.waits;
  for (std::size_t i = 0; i < abort_cause_count; ++i) sum.aborts[i] = attempts.aborts[i] + transactions.aborts[i];
  return sum;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm
