// SPDX-License-Identifier: Apache-2.0
// Warm-up (always-abort paper, sections II and III): threads run their critical section ahead of time, without effect.
// They do so while they wait for its lock, or before they ask for it. Its data is then in their caches when they get
// the lock. This header has the memory over which a section's body runs. The policy belongs to the site, and so does
// what was learnt under it (site.hpp). The locks are in warming.hpp. How it works and when it pays: docs/warm-up.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <txsync/export.hpp>
#include <txsync/locks/wait_task.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/guarded.hpp>
#include <txsync/observe/site_state.hpp>
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/policy/warm_up_policy.hpp>
#include <txsync/site.hpp>
#include <txsync/speculate/ab_trial.hpp>
#include <txsync/speculate/site_page.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// Whether waiters of the site's warming locks only wait at present, because trials have found that faster, or because
/// the policy says so. False before the first section. Cost, of both functions: two loads.
inline bool warm_up_is_off(const site& the_site) noexcept {
  return detail::site_state::of(the_site).when() == detail::warm_mode::never;
}
/// Whether closures are run before the lock is asked for, at present.
inline bool warm_up_is_early(const site& the_site) noexcept {
  return detail::site_state::of(the_site).when() == detail::warm_mode::before_lock;
}

/// The memory over which a waiter runs a section's body ahead of time. The body is the section's own, written once as a
/// template:
///
///     lock.section([&](auto& memory) {
///       for (node* at = memory.load(head); at != nullptr; at = memory.load(at->next))
///         if (memory.load(at->key) == key) memory.store(at->value, value);
///     });
///
/// What the body loads may be wrong, because other threads are writing. What it stores has no effect. Contract for
/// bodies:
///  - All shared data is read and written through `memory`; local variables as usual.
///  - It has no other effect: no allocation, no input or output, no other lock. A section that does such things is
///    written as `[&]<class Memory>(Memory& memory)`, and does them `if constexpr (!Memory::speculative)`.
///  - It may be left at any access. Its local variables are then not destroyed, so none of them may need that.
///  - It checks a loaded value before it uses the value as an index into a local array: unlike shared data, the stack
///    is really written.
///
/// Bounds:
///  - Once the policy's accesses are used up, the body is left at its next access.
///  - Every fourth access checks whether the wait is over. If it is, the body is left at its next load. store(),
///    update() and fetch() do not wait for memory; they go on for up to 128 accesses, whose lines arrive while the
///    section begins.
///  - A fault (an invalid access, a division by zero) ends the body, and so does an exception.
///  - A loop that makes no access is not bounded.
class warm_memory {
 public:
  static constexpr bool speculative = true;

  /// Without a wait: for warming up before the lock is asked for. A body can be left only if machine::run_guarded()
  /// runs it, as warm_ahead() does. Otherwise it goes on where it would be left: its loads return zero, and it fetches
  /// nothing more.
  explicit warm_memory(std::uint32_t accesses) noexcept : left_(accesses) {}
  warm_memory(const lock_wait& wait, std::uint32_t accesses) noexcept : wait_(&wait), left_(accesses) {}
  warm_memory(const warm_memory&) = delete;
  warm_memory& operator=(const warm_memory&) = delete;

  /// The value of an object of up to 8 bytes (a number, a pointer). It may be wrong.
  template <class T>
  T load(const T& place) noexcept {
    return goes_on() ? machine::speculative_load(&place) : T{};
  }
  /// Fetches the object's line for writing.
  template <class T, class V>
  void store(T& place, V&&) noexcept {
    if (fetches()) machine::prefetch_write(static_cast<const void*>(&place));
  }
  template <class T, class Change>
  void update(T& place, Change&&) noexcept {
    if (fetches()) machine::prefetch_write(static_cast<const void*>(&place));
  }
  /// Fetches bytes that the section will read.
  void fetch(const void* place, std::size_t bytes) noexcept {
    const char* const first = static_cast<const char*>(place);
    for (std::size_t at = 0; at < bytes && fetches(); at += line) machine::prefetch_read(first + at);
  }
  /// Whether the rest of the body has no use any more, so that it may as well return. Counts as an access, but the body
  /// is not left.
  bool over() noexcept {
    if (left_ == 0) [[unlikely]]
      return true;
    --left_;
    if (left_ % look_every != 0 || wait_ == nullptr || !wait_->over()) [[likely]]
      return false;
    left_ = 0;
    late_ = max_late;
    return true;
  }

 private:
  static constexpr std::size_t line = 64;
  static constexpr std::uint32_t look_every = 4;
  static constexpr std::uint32_t max_late = 128;

  bool goes_on() noexcept { return !over() || false_or_leave(); }
  bool fetches() noexcept { return !over() || fetches_late(); }
  bool fetches_late() noexcept {
    if (late_ == 0) return false_or_leave();
    --late_;
    return true;
  }
  TXSYNC_EXPORT bool false_or_leave() noexcept;

  const lock_wait* wait_ = nullptr;
  std::uint32_t left_;
  std::uint32_t late_ = 0;  ///< fetches that may still begin once the wait is over
};

/// The memory over which the holder of the lock runs a section's body: plain accesses.
class section_memory {
 public:
  static constexpr bool speculative = false;

  template <class T>
  T load(const T& place) const noexcept {
    return place;
  }
  template <class T, class V>
  void store(T& place, V&& value) const noexcept {
    place = std::forward<V>(value);
  }
  /// place = change(place).
  template <class T, class Change>
  void update(T& place, Change&& change) const {
    place = std::forward<Change>(change)(place);
  }
  void fetch(const void*, std::size_t) const noexcept {}
  static constexpr bool over() noexcept { return false; }
};

namespace detail {

/// A body, and the memory over which it runs.
struct warm_call {
  void (*run)(warm_call& call);
  warm_memory* memory;
  bool threw = false;
};
/// Runs it guarded. True if it came to its end, or threw.
TXSYNC_EXPORT bool run_warm(warm_call& call) noexcept;

template <class Body>
struct warm_call_of : warm_call {
  explicit warm_call_of(const Body& warm) noexcept : warm_call{call, nullptr}, body(warm) {}
  static void call(warm_call& self) {
#if defined(__cpp_exceptions)
    try {
      static_cast<warm_call_of&>(self).body(*self.memory);
    } catch (...) {
      self.threw = true;  // dropped: what the body has loaded may be wrong
    }
#else
    static_cast<warm_call_of&>(self).body(*self.memory);
#endif
  }
  const Body& body;
};

}  // namespace detail

/// What a thread does before it asks for a lock, and while it waits. Each call of lock() makes one of these, and uses
/// it on the calling thread. Warm-ups are counted at the site, if it counts. Counting costs two reads of the clock and
/// a call for each.
class TXSYNC_EXPORT warm_wait final : public wait_task {
 public:
  /// Without a call, it makes always-abort attempts at the caller's section, if the machine has them.
  explicit warm_wait(site& the_site, detail::warm_call* call = nullptr) noexcept
      : state_(state_of(the_site)), call_(call) {}
  /// When the call is to be run: never, in the wait, or before it.
  detail::warm_mode when() const noexcept { return state_.when(); }
  /// Runs the call before the lock is asked for (prefetch before lock). Requires: there is a call.
  void run_before_lock() noexcept;
  [[deprecated("run_before_lock")]] void spend_early() noexcept { run_before_lock(); }
  result run_once(const lock_wait& wait) noexcept override;
  [[deprecated("run_once")]] result spend(const lock_wait& wait) noexcept { return run_once(wait); }

 private:
  static detail::site_state& state_of(site& the_site) noexcept {
    detail::site_state& state = detail::site_state::of(the_site);
    if (state.warm_up() != nullptr) [[likely]]
      return state;
    return detail::decide_state(the_site, detail::speculation::warm_up);
  }
  result attempt(const lock_wait& wait) noexcept;
  bool run(warm_memory& memory) noexcept;
  bool join(std::uint32_t most) noexcept;
  void leave() noexcept;
  std::atomic<std::uint32_t>& speculators() const noexcept;
  detail::site_state& state_;
  detail::warm_call* call_;
  const warm_up_policy& policy_ = *state_.warm_up();
  std::uint32_t tries_ = policy_.tries;
  bool is_warm_ = false;  ///< the call ran before the lock was asked for, and run_once() has not reported that
};

/// Runs a body over a warm_memory without a lock of txsync, for callers that know early what a section will touch. A
/// fair comparison measures warm-up against it. Cost: about 30 ns and the body. Errors: faults and exceptions end the
/// body.
template <class Body>
void warm_ahead(const Body& body, std::uint32_t accesses = warm_up_presets::standard.max_accesses) noexcept {
  warm_memory memory(accesses);
  detail::warm_call_of<Body> call(body);
  call.memory = &memory;
  (void)detail::run_warm(call);
}

namespace detail {

/// Counts down the calling thread's sections of all sites, until the next look at a trial.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local count_down until_warm_look;

/// When a section of the site is to be warmed up.
[[gnu::always_inline]] inline warm_mode warm_mode_of(const site& the_site) noexcept {
  return site_state::of(the_site).when();
}

TXSYNC_EXPORT void look_at_warm_trial(site_page& page, bool has_call) noexcept;

/// Counts a section, with or without a closure, for the site's trials. Requires: its thread has the lock. The lock's
/// atomic operation would wait for accesses before it. Accesses after it overlap with the section's own cache misses.
[[gnu::always_inline]] inline void count_warm_section(const site& the_site, bool has_call) noexcept {
  site_state& state = site_state::of(the_site);
  if (state.counts_for_warm_up() && my_trial_sampler.count(until_warm_look, &state)) [[unlikely]]
    look_at_warm_trial(static_cast<site_page&>(state), has_call);
}

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND
