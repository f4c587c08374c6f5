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
namespace detail {
class site_state;
/// Of a site of which no section has asked yet whether it speculates.
TXSYNC_EXPORT extern site_state undecided;
}  // namespace detail

/// The bits of site::policy().
struct policy_word {
  static constexpr std::uint32_t counting_off = 1u << 0;  ///< nothing of this site's locks is counted
  static constexpr std::uint32_t in_code = 1u << 1;       ///< of a site_with_policy, always; of others never
};

/// What locks are for, by name ("store.log.insert"): many locks may share one. Statistics, policies and advice are per
/// site, under this name in every table, document and policy file.
///
/// Requires: static storage duration, and a name that lives as long (a literal), in a module that stays loaded: the
/// library's list keeps both. So a plug-in is linked with -z nodelete; by CMake's txsync::txsync and by pkg-config it
/// is, and one with a copy of the static library stays anyway. Constant-initialised: may be used by locks of static
/// storage before main. Thread-safe. 24 bytes at most. Costs nothing until a lock of it is first counted or waited for;
/// from then on each thread that counts at it has counters of it, two kilobytes at most.
///
///     constinit txsync::site orders{"shop.orders"};
///     txsync::mutex orders_lock{orders};
///
/// Locks that speculate (speculate/elided.hpp, speculate/warming.hpp) are told by their site what they do. The policy
/// word says so; where it says nothing of elision or of warm-up, the code (policy/site_with_policy.hpp); where that
/// says nothing, the standard preset. The first section that may speculate takes a page of memory for the site, for
/// what its locks learn together. The page is never given back. So give locks whose sections differ sites of their own.
/// A site whose locks never speculate takes none.
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
  /// Takes effect at each lock's next acquisition; a policy_mutex in use begins elision at its next sample. It also
  /// changes what sections that speculate read. The bit in_code stays. Outside attempts. Cost: some ten nanoseconds.
  TXSYNC_EXPORT void set_policy(std::uint32_t packed) noexcept;
  /// Whether acquisitions, waits and attempts are counted now.
  bool is_counted() const noexcept { return (policy() & policy_word::counting_off) == 0; }

  /// The site of locks that were given none; its name is "(unnamed)".
  static constexpr site& unnamed() noexcept { return unnamed_; }

  static constexpr std::uint32_t site_limit = 4096;

  enum class counting : std::uint8_t { on, off };

 protected:
  constexpr site(const char* name, counting counts, std::uint32_t more_bits) noexcept
      : name_(name), policy_((counts == counting::on ? 0 : policy_word::counting_off) | more_bits) {}

 private:
  friend class observe::site_registry;
  friend class detail::site_state;
  static constexpr std::uint32_t unregistered = ~std::uint32_t{0};
  /// Of a number that was given elsewhere (site_registry).
  constexpr site(const char* name, std::uint32_t id) noexcept : name_(name), id_(id) {}
  TXSYNC_EXPORT static site unnamed_;

  TXSYNC_EXPORT std::uint32_t register_site() noexcept;

  const char* name_;
  std::atomic<std::uint32_t> id_{unregistered};
  std::atomic<std::uint32_t> policy_{0};
  std::atomic<detail::site_state*> state_{&detail::undecided};
};
static_assert(sizeof(site) <= 24);

}  // namespace txsync::inline TXSYNC_BACKEND
