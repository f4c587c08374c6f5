// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND {

namespace observe {
class site_registry;
}

/// A named role of locks ("store.log.insert"): many locks may share one. Statistics, policies and advice are per site,
/// under this name in every table, document and policy file.
///
/// Requires: static storage duration, and a name that lives as long (a literal). Constant-initialised: may be used by
/// locks of static storage before main. Thread-safe. 24 bytes at most. Costs nothing until a lock of it is first
/// counted or waited for; from then on each thread that counts at it has counters of it, two kilobytes at most.
///
///     constinit txsync::site orders{"shop.orders"};
///     txsync::mutex orders_lock{orders};
class site {
 public:
  constexpr explicit site(const char* name) noexcept : name_(name) {}
  site(const site&) = delete;
  site& operator=(const site&) = delete;

  const char* name() const noexcept { return name_; }

  /// A dense number, 1 and up, given at the first call. 0 when the process has more sites than site_limit; such a site
  /// works and is not counted.
  std::uint32_t id() noexcept {
    // acquire pairs with the release in register_site(): whoever sees the number may use the registry's entry
    const std::uint32_t known = id_.load(std::memory_order_acquire);
    return known != unregistered ? known : register_site();
  }

  /// What locks of this site do, packed; 0 is the default. See policy_word.
  std::uint32_t policy() const noexcept { return policy_.load(std::memory_order_relaxed); }
  /// Takes effect at each lock's next acquisition. Relaxed: every policy is right at any time, it guards no other data.
  void set_policy(std::uint32_t packed) noexcept { policy_.store(packed, std::memory_order_relaxed); }

  /// The site of locks that were given none; its name is "(unnamed)".
  static site& unnamed() noexcept { return unnamed_; }

  static constexpr std::uint32_t site_limit = 4096;

 private:
  friend class observe::site_registry;
  static constexpr std::uint32_t unregistered = ~std::uint32_t{0};
  /// Of a number that was given elsewhere (site_registry).
  constexpr site(const char* name, std::uint32_t id) noexcept : name_(name), id_(id) {}
  TXSYNC_EXPORT static site unnamed_;

  TXSYNC_EXPORT std::uint32_t register_site() noexcept;

  const char* name_;
  std::atomic<std::uint32_t> id_{unregistered};
  std::atomic<std::uint32_t> policy_{0};
};
static_assert(sizeof(site) <= 24);

/// The bits of site::policy().
struct policy_word {
  /// Nothing of this site's locks is counted. A thread that counts commits of attempts there looks at this about once
  /// in 256 of them; a site that is made to count again does so at once.
  static constexpr std::uint32_t counting_off = 1u << 0;
};

}  // namespace txsync::inline TXSYNC_BACKEND
