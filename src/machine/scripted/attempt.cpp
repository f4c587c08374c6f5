// SPDX-License-Identifier: Apache-2.0
// What the attempts of the scripted machine do.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <memory>

#include "../claim.hpp"
#include "state.hpp"

// AddressSanitizer's function, if the program is linked with it.
extern "C" [[gnu::weak]] void __asan_handle_no_return();

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

using script::count;
using script::plan;
using script::the_state;

namespace detail {

extern "C" {
[[gnu::visibility("hidden")]] std::uint32_t txsync_scripted_decide(std::uint32_t kind, void* frame,
                                                                   void* caller) noexcept;
[[noreturn]] void txsync_scripted_restore(void* frame, const void* copy, std::size_t bytes,
                                          std::uint32_t status) noexcept;
}

namespace {

/// The attempt of one thread. The copy of its stack is elsewhere, so that restoring the stack does not undo this.
struct attempt {
  unsigned depth = 0;  ///< 0: no attempt
  std::uint32_t kind = plain_attempt;
  plan todo = plan::commits();
  unsigned steps = 0;
  bool suspended = false;
  bool doomed = false;  ///< it will abort with `doom` when it is resumed
  std::uint32_t doom = 0;
  const void* elided = nullptr;
  bool excludes = false;  ///< it holds the turn of the state

  void* frame = nullptr;
  std::size_t bytes = 0;
};

constinit thread_local attempt mine;
thread_local std::unique_ptr<char[]> stack_copy;
struct stored_word {
  std::atomic<std::uint64_t>* place;
  std::uint64_t before;
};
thread_local std::vector<stored_word> stored;   ///< stored by store_in_attempt()
constexpr std::size_t max_stored_words = 8192;  ///< in one attempt; more abort it with capacity
constinit thread_local unsigned trials = 0;     ///< trial_scopes of this thread

struct stack_bounds {
  const char* lowest;
  const char* end;

  void end_below(const void* address) noexcept {
    const char* const other = static_cast<const char*>(address);
    if (lowest < other && other < end) end = other;
  }
};

/// The calling thread's stack. In a started thread, the same mapping contains other data above the stack: thread-local
/// variables, and the C library's record of the thread. An abort must not restore them, because other threads write the
/// record.
stack_bounds bounds_of_stack() noexcept {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) script::refuse("the thread's stack is unknown");
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  stack_bounds bounds{static_cast<const char*>(lowest), static_cast<const char*>(lowest) + size};
  bounds.end_below(reinterpret_cast<const void*>(pthread_self()));
  const auto look_at = [](dl_phdr_info* module, std::size_t, void* into) {
    static_cast<stack_bounds*>(into)->end_below(module->dlpi_tls_data);
    return 0;
  };
  dl_iterate_phdr(look_at, &bounds);
  return bounds;
}

/// The bounds of the calling thread's stack. The addresses above them are not the thread's.
const stack_bounds& my_stack() noexcept {
  static constinit thread_local stack_bounds known{};
  if (known.end == nullptr) known = bounds_of_stack();
  return known;
}

/// Copies without checks by sanitizers, which forbid the memory between the variables of a frame.
__attribute__((no_sanitize("address", "thread", "undefined"))) void copy_stack(char* to, const char* from,
                                                                               std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) const_cast<volatile char*>(to)[i] = from[i];
}

/// Where the frame with that address ends.
const char* end_of_frame(const void* address) noexcept {
#if defined(__aarch64__)
  return *static_cast<const char* const*>(address);  // the caller's frame, whose lowest address this is
#else
  return static_cast<const char*>(address) + 2 * sizeof(void*);  // after it and the return address
#endif
}

/// The end of what an abort restores. For an attempt that excludes others it is only the frame of the function that
/// began it. Above that are objects that threads share. Others may change those until this attempt has found the lock
/// held.
const char* end_to_put_back(const void* caller) noexcept {
  return mine.excludes ? end_of_frame(caller) : my_stack().end;
}

void remember_stack(void* frame, const void* caller) noexcept {
  const char* const start = static_cast<const char*>(frame);
  if (start >= my_stack().end) script::refuse("an attempt begins on a stack that is not its thread's own");
  if (!stack_copy) stack_copy = std::make_unique<char[]>(script::snapshot_bytes);
  mine.frame = frame;
  mine.bytes = std::min(script::snapshot_bytes, static_cast<std::size_t>(end_to_put_back(caller) - start));
  copy_stack(stack_copy.get(), start, mine.bytes);
}

void begin_to_exclude() noexcept {
  if (mine.kind == warm_attempt || trials != 0 || !the_state().attempts_exclude.load(std::memory_order_relaxed)) return;
  the_state().attempting.take();
  mine.excludes = true;
}

void end_to_exclude() noexcept {
  if (mine.excludes) the_state().attempting.give();
  mine.excludes = false;
}

/// Hidden from the race detector: on a CPU, an aborted attempt has stored nothing.
__attribute__((no_sanitize("thread"))) void undo_stores() noexcept {
  while (!stored.empty()) {
    const stored_word last = stored.back();
    stored.pop_back();
    // Words in the attempt's own frames are gone with them. Their memory may be part of this function's frame by now.
    const void* const place = last.place;
    if (my_stack().lowest <= place && place < mine.frame) continue;
    // release: as in scripted_store(). Not store(), which would be compiled as a function with the detector's hooks.
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(last.place), last.before, __ATOMIC_RELEASE);
  }
}

[[noreturn]] void abort_now(std::uint32_t status) noexcept {
  if (trials == 0 && (mine.kind == plain_attempt || mine.kind == rollback_only_attempt))
    count(the_state().tally.aborts);
  mine.depth = 0;
  mine.suspended = false;
  mine.doomed = false;
  mine.elided = nullptr;
  undo_stores();
  end_to_exclude();
  if (__asan_handle_no_return != nullptr) __asan_handle_no_return();  // the frames left behind must not stay forbidden
  txsync_scripted_restore(mine.frame, stack_copy.get(), mine.bytes, status);
}

void abort_or_doom(std::uint32_t status) noexcept {
  if (!mine.suspended) abort_now(status);
  mine.doomed = true;
  mine.doom = status;
}

/// Takes the next one of a list, if there is one.
std::optional<plan> take(std::deque<plan>& plans) {
  if (plans.empty()) return std::nullopt;
  const plan next = plans.front();
  plans.pop_front();
  return next;
}

constexpr std::uint32_t not_elided = 0;

/// What the outermost begin of that kind has to do.
plan next_plan(std::uint32_t kind) noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  if (kind == hle_attempt) return take(all.plans.hle).value_or(plan::aborts(not_elided));
  if (kind == rollback_only_attempt && !all.cpu.rollback_only) return plan::aborts(0);
  switch (all.cpu.nature) {
    case script::begin_nature::illegal:
      script::refuse("begin() on a CPU that has no such instruction; look at htm().attempts first");
    case script::begin_nature::always_aborts:
      return plan::aborts(0);
    case script::begin_nature::commits:
      break;
  }
  if (trials != 0) return plan::commits();
  if (kind == warm_attempt) return take(all.plans.warm).value_or(plan::commits());
  if (all.plans.begins.empty() && !all.plans.in_turn.empty()) {
    return all.plans.in_turn[all.plans.turns++ % all.plans.in_turn.size()];
  }
  return take(all.plans.begins).value_or(all.plans.by_default);
}

void count_begin(std::uint32_t kind) noexcept {
  if (trials != 0) return;
  auto& tally = the_state().tally;
  count(kind == warm_attempt ? tally.warm_begins : tally.begins);
}

unsigned deepest_nesting() noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return all.cpu.deepest;
}

std::uint32_t begin_inner() noexcept {
  scripted_step();
  if (mine.depth == deepest_nesting()) abort_or_doom(attempt_status::nested_bit);
  ++mine.depth;
  return attempt_status::started_value;
}

}  // namespace

std::uint32_t txsync_scripted_decide(std::uint32_t kind, void* frame, void* caller) noexcept {
  if (mine.depth != 0) return kind == hle_attempt ? not_elided : begin_inner();
  const plan todo = next_plan(kind);
  const unsigned levels = kind == warm_attempt ? 1 + warm_extra_depth : 1;
  const bool too_deep = levels > deepest_nesting();
  if (kind != hle_attempt) count_begin(kind);
  if (todo.where == plan::point::at_begin || too_deep) {
    if (trials == 0 && kind != warm_attempt && kind != hle_attempt) count(the_state().tally.aborts);
    return too_deep ? attempt_status::nested_bit : todo.status;
  }
  mine.kind = kind;
  begin_to_exclude();
  remember_stack(frame, caller);
  stored.reserve(max_stored_words);  // now, because an exception cannot leave an attempt
  stored.clear();
  mine.todo = todo;
  mine.steps = 0;
  mine.depth = levels;
  return attempt_status::started_value;
}

void scripted_step() noexcept {
  if (mine.depth == 0 || mine.suspended) return;
  if (++mine.steps == mine.todo.step && mine.todo.where == plan::point::at_step) abort_now(mine.todo.status);
}

void scripted_system_call() noexcept {
  if (mine.depth == 0 || mine.suspended) return;
  std::uint32_t status;
  {
    script::state& all = the_state();
    const std::lock_guard hold(all.guard);
    status = all.cpu.system_call_status;
  }
  abort_now(status);
}

void scripted_end() noexcept {
  if (mine.depth == 0) script::refuse("end() outside an attempt");
  if (mine.suspended) script::refuse("end() of an attempt that is suspended");
  if (mine.elided != nullptr) script::refuse("end() of an attempt that HLE began");
  scripted_step();
  if (mine.depth > 1) {
    --mine.depth;
    return;
  }
  if (mine.kind == warm_attempt) script::refuse("end() has committed an always-abort attempt");
  if (mine.todo.where == plan::point::at_end) abort_now(mine.todo.status);
  mine.depth = 0;
  end_to_exclude();
  if (trials == 0) count(the_state().tally.commits);
}

void scripted_store(std::atomic<std::uint64_t>& place, std::uint64_t value) noexcept {
  scripted_step();
  if (mine.depth != 0 && !mine.suspended) {
    if (stored.size() == max_stored_words) abort_now(attempt_status::capacity_bit);
    stored.push_back({&place, place.load(std::memory_order_relaxed)});  // relaxed: no other thread stores there
  }
  place.store(value, std::memory_order_release);  // pairs with the acquire of concurrent readers
}

void scripted_await() noexcept {
  if (mine.depth != 0 || !the_state().attempts_exclude.load(std::memory_order_relaxed)) return;
  the_state().attempting.take();
  the_state().attempting.give();
}

void scripted_abort(std::uint8_t code) noexcept {
  if (mine.depth == 0) return;
  const std::uint32_t nested = mine.depth > 1 && mine.kind != warm_attempt ? attempt_status::nested_bit : 0;
  abort_or_doom(attempt_status::explicit_bit | nested | std::uint32_t{code} << 24);
}

namespace {

// A fork must not copy the state of an attempt, or of a call in progress, because neither exists in the child.
void before_fork() noexcept {
  if (mine.depth != 0) script::refuse("fork() within an attempt, which a system call would have aborted");
  the_state().attempting.take();
  the_state().guard.lock();
}
void after_fork_in_both() noexcept {
  the_state().guard.unlock();
  the_state().attempting.give();
}
[[maybe_unused]] const int fork_handlers = pthread_atfork(before_fork, after_fork_in_both, after_fork_in_both);

}  // namespace

unsigned scripted_depth() noexcept {
  if (mine.depth == 0) return 0;
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return all.cpu.tells_depth ? mine.depth : 1;
}

bool scripted_warm() noexcept { return mine.depth != 0 && mine.kind == warm_attempt; }

namespace {
bool can_suspend() noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return all.cpu.suspend;
}
}  // namespace

void scripted_suspend() noexcept {
  if (mine.depth == 0 || !can_suspend()) return;
  scripted_step();
  mine.suspended = true;
}

void scripted_resume() noexcept {
  if (mine.depth == 0 || !mine.suspended) return;
  mine.suspended = false;
  if (mine.doomed) abort_now(mine.doom);
  scripted_step();
}

void scripted_hle_elide(const void* word) noexcept {
  count(the_state().tally.elisions);
  mine.elided = word;
}

bool scripted_hle_ends(const void* word) noexcept {
  if (mine.depth == 0 || mine.elided != word) return false;
  scripted_step();
  return true;
}

void scripted_hle_end(bool restored) noexcept {
  if (!restored) abort_now(0);  // HLE requires the release to restore the former value
  if (mine.todo.where == plan::point::at_end) abort_now(mine.todo.status);
  mine.depth = 0;
  mine.elided = nullptr;
  end_to_exclude();
  count(the_state().tally.elisions_ended);
}

trial_scope::trial_scope() noexcept { ++trials; }
trial_scope::~trial_scope() { --trials; }

void add_extras(htm_capability& found) noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  found.hle = all.cpu.hle;
  found.suspend = all.cpu.suspend;
  found.rollback_only = all.cpu.rollback_only;
}

}  // namespace detail

htm_claim claimed_htm() noexcept {
  {
    script::state& all = the_state();
    const std::lock_guard hold(all.guard);
    if (all.cpu.claim) return *all.cpu.claim;
  }
  return detail::claim_by_cpuid();
}

unclaimed_trial try_unclaimed_htm(unsigned tries) noexcept {
  script::begin_nature nature;
  {
    script::state& all = the_state();
    const std::lock_guard hold(all.guard);
    nature = all.cpu.nature;
  }
  unclaimed_trial trial;
  trial.illegal = nature == script::begin_nature::illegal;
  trial.tries = trial.illegal ? 1 : tries;
  if (nature == script::begin_nature::commits) trial.commits = tries;
  if (nature == script::begin_nature::always_aborts) trial.without_reason = tries;
  return trial;
}

const htm_capability& htm() noexcept {
  // Each answer is kept for ever, because callers have references to it. A script changes it a few times at most.
  static script::unseen_mutex asking;
  static std::uint64_t known_generation = ~std::uint64_t{0};
  static std::deque<htm_capability> answers;
  const std::lock_guard hold(asking);
  std::uint64_t generation;
  std::optional<htm_capability> told;
  {
    script::state& all = the_state();
    const std::lock_guard hold_state(all.guard);
    generation = all.generation;
    told = all.cpu.htm;
  }
  if (generation != known_generation) {
    answers.push_back(told ? *told : try_htm(htm_default_tries).capability);
    known_generation = generation;
  }
  return answers.back();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
