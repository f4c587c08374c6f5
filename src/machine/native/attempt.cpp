// SPDX-License-Identifier: Apache-2.0
// What this machine claims about hardware transactions, and what htm() remembers of its trial.
#include <atomic>

#include <pthread.h>

#if defined(__powerpc64__) || defined(__s390x__)
#include <sys/auxv.h>
#endif

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/capability.hpp>
#include <txsync/machine/cpu.hpp>

#include "../claim.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {

trial_scope::trial_scope() noexcept = default;
trial_scope::~trial_scope() = default;

#if defined(__x86_64__) || defined(__powerpc64__) || defined(__s390x__)
[[gnu::tls_model("initial-exec")]] constinit thread_local bool in_warm_attempt = false;
constinit std::atomic<facility> attempt_facility{facility::unknown};
constinit std::atomic<facility> working_attempts{facility::unknown};

namespace {
bool remember(bool present) noexcept {
  attempt_facility.store(present ? facility::present : facility::absent, std::memory_order_relaxed);
  return present;
}
}  // namespace
#endif

#if defined(__x86_64__)

namespace {
constexpr std::uint32_t hle_bit = 1u << 4;   // CPUID.7.0:EBX
constexpr std::uint32_t rtm_bit = 1u << 11;  // CPUID.7.0:EBX
}  // namespace

bool find_facility() noexcept {  // XTEST exists with either of them
  std::uint32_t leaf[4];
  return remember(cpuid(7, 0, leaf) && (leaf[1] & (hle_bit | rtm_bit)) != 0);
}

namespace {
/// Elides a lock and checks inside whether it is in an attempt. Later microcode keeps the claim but ignores the hint.
bool hle_elides() noexcept {
  static constinit std::atomic<std::uint32_t> word{0};
  for (unsigned i = 0; i < htm_default_tries; ++i) {
    const std::uint32_t before = hle_acquire(word, 1);
    const bool inside = active();
    hle_release(word, before);
    if (inside) return true;
  }
  return false;
}
}  // namespace

void add_extras(htm_capability& found) noexcept {
  std::uint32_t leaf[4];
  found.hle = cpuid(7, 0, leaf) && (leaf[1] & hle_bit) != 0 && hle_elides();
}

#elif defined(__powerpc64__)

namespace {
// asm/cputable.h of Linux
constexpr unsigned long feature2_htm = 0x40000000;
constexpr unsigned long feature2_htm_no_suspend = 0x00080000;
}  // namespace

bool find_facility() noexcept { return remember((getauxval(AT_HWCAP2) & feature2_htm) != 0); }

void add_extras(htm_capability& found) noexcept {
  found.suspend = (getauxval(AT_HWCAP2) & feature2_htm_no_suspend) == 0;
  found.rollback_only = true;
}

#elif defined(__s390x__)

constinit thread_local diagnostic_block last_abort{};

bool find_facility() noexcept {
  constexpr unsigned long transactional_execution = 1024;  // HWCAP_S390_TE
  return remember((getauxval(AT_HWCAP) & transactional_execution) != 0);
}

void add_extras(htm_capability&) noexcept {}

#else

void add_extras(htm_capability&) noexcept {}

#endif

}  // namespace detail

htm_claim claimed_htm() noexcept {
#if defined(__x86_64__)
  (void)detail::find_facility();  // now: CPUID inside an attempt, by the first active() there, would always abort it
  return detail::claim_by_cpuid();
#elif defined(__powerpc64__) || defined(__s390x__)
  return detail::find_facility() ? htm_claim::present : htm_claim::absent;
#else
  return htm_claim::no_instructions;
#endif
}

const htm_capability& htm() noexcept {
  static htm_capability capability;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    capability = try_htm(htm_default_tries).capability;
#if defined(__x86_64__) || defined(__powerpc64__) || defined(__s390x__)
    detail::working_attempts.store(capability.attempts ? detail::facility::present : detail::facility::absent,
                                   std::memory_order_relaxed);
#endif
  });
  return capability;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
