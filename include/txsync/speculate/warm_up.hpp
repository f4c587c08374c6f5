// SPDX-License-Identifier: Apache-2.0
// Warm-up: threads that wait for a lock, or are about to ask for it, run their section ahead of time, without effect,
// so that its data is in their caches when the lock is theirs (always-abort paper, sections II and III). Here is the
// memory that a section's body is run over. Their site has the policy and what was learnt by it (site.hpp); the locks
// are in warming.hpp. How it works and when it pays: docs/warm-up.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <txsync/export.hpp>
#include <txsync/locks/pastime.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/guarded.hpp>
#include <txsync/observe/site_state.hpp>
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/policy/warm_up_policy.hpp>
#include <txsync/site.hpp>
#include <txsync/speculate/site_page.hpp>
#include <txsync/speculate/two_ways.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// Whether waiters of the site's warming locks just wait for now: because trials have found that faster, or because the
/// policy has them do so. False before the first section. Cost, of both: two loads.
inline bool warm_up_is_off(const site& place) noexcept {
  return detail::site_state::of(place).when() == detail::warmth::never;
}
/// Whether closures are run before the lock is asked for, for now.
inline bool warm_up_is_early(const site& place) noexcept {
  return detail::site_state::of(place).when() == detail::warmth::early;
}

/// The memory that a section's body is run over ahead of time. The body is the section's own, written once as a
/// template:
///
///     lock.section([&](auto& memory) {
///       for (node* at = memory.load(head); at != nullptr; at = memory.load(at->next))
///         if (memory.load(at->key) == key) memory.store(at->value, value);
///     });
///
/// Nothing that it loads need be true: others are writing. What it stores goes nowhere. Contract for bodies:
///  - All shared data is read and written through `memory`; local variables as usual.
///  - Nothing in it has an effect of its own: no allocation, no input or output, no other lock. A section that has such
///    things is written as `[&]<class Memory>(Memory& memory)`, and does them `if constexpr (!Memory::speculative)`.
///  - It may be left at any access, its local variables not destroyed: they hold nothing that needs to be.
///  - What it loads is no index into an array of its own without a look at it first: unlike shared data, the stack is
///    really written.
/// Bounds: once the policy's accesses are used up the body is left at its next access. Once the wait is over (which is
/// looked at with each fourth access) it is left at its next load; what does not wait for memory, store(), update() and
/// fetch(), goes on for up to 128 accesses, which come in while the section begins. A fault (of an access, of a
/// division by zero), and an exception, end it. A loop that makes no access is not bounded.
class warm_memory {
 public:
  static constexpr bool speculative = true;

  /// Of no wait: for warming up before one locks. Where nothing guards the body (machine::run_guarded(), as
  /// warm_ahead() does), it cannot be left: loads then answer zero, and nothing is fetched any more.
  explicit warm_memory(std::uint32_t accesses) noexcept : left_(accesses) {}
  warm_memory(const lock_wait& wait, std::uint32_t accesses) noexcept : wait_(&wait), left_(accesses) {}
  warm_memory(const warm_memory&) = delete;
  warm_memory& operator=(const warm_memory&) = delete;

  /// The value of an object of up to 8 bytes (a number, a pointer), which may be anything.
  template <class T>
  T load(const T& place) noexcept {
    return goes_on() ? machine::peek(&place) : T{};
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
  /// Whether what follows is for nothing: the body may as well return. Counts as an access, but the body is not left.
  bool over() noexcept {
    if (left_ == 0) [[unlikely]]
      return true;
    --left_;
    if (left_ % look_every != 0 || wait_ == nullptr || !wait_->over()) [[likely]]
      return false;
    left_ = 0;
    late_ = most_late;
    return true;
  }

 private:
  static constexpr std::size_t line = 64;
  static constexpr std::uint32_t look_every = 4;
  static constexpr std::uint32_t most_late = 128;

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
  std::uint32_t late_ = 0;  ///< fetches that may begin once the wait is over
};

/// The memory that a section's body is run over by the thread that holds the lock: plain accesses.
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

/// A body with the memory that it is run over.
struct warm_call {
  void (*run)(warm_call& call);
  warm_memory* memory;
  bool threw = false;
};
/// Runs it guarded; true where it came to its end, or threw.
TXSYNC_EXPORT bool run_warm(warm_call& call) noexcept;

template <class Body>
struct warm_call_of : warm_call {
  explicit warm_call_of(const Body& warm) noexcept : warm_call{call, nullptr}, body(warm) {}
  static void call(warm_call& self) {
#if defined(__cpp_exceptions)
    try {
      static_cast<warm_call_of&>(self).body(*self.memory);
    } catch (...) {
      self.threw = true;  // what it has seen need not make sense: nobody wants to hear of it
    }
#else
    static_cast<warm_call_of&>(self).body(*self.memory);
#endif
  }
  const Body& body;
};

}  // namespace detail

/// What a thread does before it asks for a lock, and while it waits: one of these for each call of lock(), used on that
/// thread. Warm-ups are counted at the site, if it counts. Cost of that: two reads of the clock and a call for each.
class TXSYNC_EXPORT warm_wait final : public pastime {
 public:
  /// Without a call, always-abort attempts at the caller's section, where the machine has them.
  explicit warm_wait(site& place, detail::warm_call* call = nullptr) noexcept : state_(state_of(place)), call_(call) {}
  /// When the call is to be run.
  detail::warmth when() const noexcept { return state_.when(); }
  /// Runs the call before the lock is asked for. Requires: there is one.
  void spend_early() noexcept;
  spent spend(const lock_wait& wait) noexcept override;

 private:
  static detail::site_state& state_of(site& place) noexcept {
    detail::site_state& state = detail::site_state::of(place);
    if (state.warm_up() != nullptr) [[likely]]
      return state;
    return detail::decide_state(place, detail::speculation::warm_up);
  }
  spent attempt(const lock_wait& wait) noexcept;
  bool run(warm_memory& memory) noexcept;
  bool join(std::uint32_t most) noexcept;
  void leave() noexcept;
  std::atomic<std::uint32_t>& speculators() const noexcept;
  detail::site_state& state_;
  detail::warm_call* call_;
  const warm_up_policy& policy_ = *state_.warm_up();
  std::uint32_t tries_ = policy_.tries;
  bool is_warm_ = false;  ///< since before it asked for the lock, which the lock has not been told
};

/// Runs a body without a lock in mind, for whoever knows early what a section will touch: the honest rival of warm-up.
/// Cost: about 30 ns and the body. Errors: faults and exceptions end the body.
template <class Body>
void warm_ahead(const Body& body, std::uint32_t accesses = warm_up_presets::standard.most_accesses) noexcept {
  warm_memory memory(accesses);
  detail::warm_call_of<Body> call(body);
  call.memory = &memory;
  (void)detail::run_warm(call);
}

namespace detail {

/// The calling thread's sections of all sites, until the next look at a trial.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local count_down until_warm_look;

/// When a section of the site is to be warmed up.
[[gnu::always_inline]] inline warmth warmth_of(const site& place) noexcept { return site_state::of(place).when(); }

TXSYNC_EXPORT void look_at_warm_trial(site_page& page, bool has_call) noexcept;

/// Counts a section, with a closure or without, for the site's trials. Its thread has the lock by now: what comes
/// before a lock's atomic operation is waited for there, and what is done with it goes on beside the section's own
/// misses.
[[gnu::always_inline]] inline void count_warm_section(const site& place, bool has_call) noexcept {
  site_state& state = site_state::of(place);
  if (state.counts_for_warm_up() && my_turns.count(until_warm_look, &state)) [[unlikely]]
    look_at_warm_trial(static_cast<site_page&>(state), has_call);
}

}  // namespace detail

}  // namespace txsync::inline TXSYNC_BACKEND
