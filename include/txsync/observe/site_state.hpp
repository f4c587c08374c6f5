// SPDX-License-Identifier: Apache-2.0
// What the critical sections of a site read to know whether they speculate. Every site points to one. Speculation
// itself is on floors above (speculate/site_page.hpp).
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/site.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

struct elision_policy;
struct warm_up_policy;

namespace detail {

/// When the closure of a critical section is run ahead of time: never, while its thread waits, or before it asks for
/// the lock.
enum class warm_mode : std::uint8_t { never, in_wait, before_lock };

/// One cache line, which hardly ever changes: a critical section reads it before it begins. Sites that do not speculate
/// share some of these. A site that does has its own, at the beginning of its page.
class alignas(machine::pad_bytes) site_state {
 public:
  using change = void (*)(site& the_site) noexcept;

  constexpr site_state() noexcept = default;
  constexpr site_state(site* owner, change on_change) noexcept : site_(owner), changed_(on_change) {}
  /// Shared by several sites. Null: their sections have not asked yet. set_policy() calls `on_change`.
  constexpr site_state(const elision_policy* elides, const warm_up_policy* warms, change on_change) noexcept
      : changed_(on_change),
        elision_(elides),
        warm_up_(warms),
        takes_lock_(elides != nullptr),
        when_(warms != nullptr ? warm_mode::never : warm_mode::in_wait) {}

  static site_state& of(const site& the_site) noexcept {
    return *the_site.state_.load(std::memory_order_acquire);  // pairs with the release in replace()
  }
  /// False: another thread has replaced it first.
  static bool replace(site& the_site, site_state& before, site_state& after) noexcept {
    site_state* expected = &before;
    // The program's inlined functions acquire by that word, and read what src/ has written.
    machine::annotate_unseen_release(&the_site.state_);
    // seq_cst: it releases the new state, which pairs with the acquire in of(). It also comes before the read of the
    // policy word that follows. site::set_policy() first stores the word, and then reads here: one of the two sees the
    // other.
    return the_site.state_.compare_exchange_strong(expected, &after, std::memory_order_seq_cst);
  }
  /// The policy word, read after all stores of the calling thread.
  static std::uint32_t latest_word(const site& the_site) noexcept {
    return the_site.policy_.load(std::memory_order_seq_cst);
  }

  /// The site that owns it; null: it is shared.
  site* get_site() const noexcept { return site_; }
  /// What set_policy() calls; null: there is nothing to do.
  change changed() const noexcept { return changed_; }

  // All of these are relaxed: each value is right at any time.
  /// Null: no section has asked yet.
  const elision_policy* elision() const noexcept { return elision_.load(std::memory_order_relaxed); }
  const warm_up_policy* warm_up() const noexcept { return warm_up_.load(std::memory_order_relaxed); }
  /// Whether sections of elided locks take the lock at present.
  bool takes_lock() const noexcept { return takes_lock_.load(std::memory_order_relaxed); }
  /// When closures are run ahead of time.
  [[gnu::always_inline]] warm_mode when() const noexcept { return when_.load(std::memory_order_relaxed); }
  /// Whether attempts and the outcome of their sections are counted at get_site().
  bool counts_attempts() const noexcept { return counts_attempts_.load(std::memory_order_relaxed); }
  /// Whether sections are counted for the A/B trials of warm-up.
  bool counts_for_warm_up() const noexcept { return counts_for_warm_up_.load(std::memory_order_relaxed); }

 private:
  site* const site_ = nullptr;
  const change changed_ = nullptr;

 protected:
  std::atomic<const elision_policy*> elision_{nullptr};
  std::atomic<const warm_up_policy*> warm_up_{nullptr};
  std::atomic<bool> takes_lock_{false};
  std::atomic<warm_mode> when_{warm_mode::in_wait};
  std::atomic<bool> counts_for_warm_up_{false};
  std::atomic<bool> counts_attempts_{false};
};
static_assert(sizeof(site_state) == machine::pad_bytes);

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND
