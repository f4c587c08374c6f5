// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace observe {
class site_registry;
}
namespace detail {
class site_state;
/// The state of sites whose critical sections have not asked yet whether they speculate.
TXSYNC_EXPORT extern site_state undecided;
}  // namespace detail

/// The bits of site::policy().
struct policy_word {
  static constexpr std::uint32_t counting_off = 1u << 0;  ///< the locks of this site are not counted
  static constexpr std::uint32_t in_code = 1u << 1;       ///< always set in a site_with_policy, never in another site
};

/// A named role of locks ("store.log.insert"). Many locks may share one site. Statistics, policies and advice are kept
/// for each site, under its name, in every table, document and policy file.
///
/// Requires: static storage duration; a name that lives as long (a literal); a module that is not unloaded. The
/// library's list keeps pointers to the site and its name. A plug-in is therefore linked with -z nodelete. CMake's
/// txsync::txsync and pkg-config set that option. A plug-in that contains a copy of the static library is never
/// unloaded anyway.
/// Constant-initialised: locks of static storage may use it before main. Thread-safe. At most 24 bytes. It costs
/// nothing until a lock of the site is first counted or waited for. From then on each thread that counts at the site
/// has its own counters for it, two kilobytes at most.
///
///     constinit txsync::site orders{"shop.orders"};
///     txsync::mutex orders_lock{orders};
///
/// The site tells locks that speculate (speculate/elided.hpp, speculate/warming.hpp) what to do. The policy word
/// decides. If it says nothing about elision or about warm-up, the policy given in code decides
/// (policy/site_with_policy.hpp); if there is none either, the standard preset. A policy_mutex makes no attempts then.
/// When a critical section may speculate for the first time, the site gets a page of memory for what its locks learn
/// together. The page is never given back. So use separate sites for locks whose critical sections differ. A site whose
/// locks never speculate gets no page.
class site {
 public:
  constexpr explicit site(const char* name) noexcept : name_(name) {}
  site(const site&) = delete;
  site& operator=(const site&) = delete;

  const char* name() const noexcept { return name_; }

  /// A dense number from 1 up, assigned at the first call. 0 if the process has more sites than site_limit: such a site
  /// works, but is not counted.
  std::uint32_t id() noexcept {
    // acquire pairs with the release in register_site(): a thread that sees the number may use the registry's entry
    const std::uint32_t known = id_.load(std::memory_order_acquire);
    return known != unregistered ? known : register_site();
  }

  /// The policy of the site's locks as a packed word; 0 is the default. See policy_word.
  std::uint32_t policy() const noexcept { return policy_.load(std::memory_order_relaxed); }
  /// Takes effect at each lock's next acquisition; a policy_mutex in use begins elision at its next sample. It also
  /// updates the line that speculating critical sections read. The bit in_code stays as it is. Requires: the calling
  /// thread is not in an attempt. Cost: some ten nanoseconds.
  TXSYNC_EXPORT void set_policy(std::uint32_t packed) noexcept;
  /// Whether acquisitions, waits and attempts are counted at present.
  bool is_counted() const noexcept { return (policy() & policy_word::counting_off) == 0; }

  /// The site of locks that were given none. Its name is "(unnamed)".
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
  /// With a number that was assigned elsewhere (site_registry).
  constexpr site(const char* name, std::uint32_t id) noexcept : name_(name), id_(id) {}
  TXSYNC_EXPORT static site unnamed_;

  TXSYNC_EXPORT std::uint32_t register_site() noexcept;

  const char* name_;
  std::atomic<std::uint32_t> id_{unregistered};
  std::atomic<std::uint32_t> policy_{0};
  std::atomic<detail::site_state*> state_{&detail::undecided};
};
static_assert(sizeof(site) <= 24);

}  // namespace txsync::TXSYNC_INLINE_BACKEND
