// SPDX-License-Identifier: Apache-2.0
#include "machine/probes.hpp"

#include <array>

// The build checks whether the header exists (cmake/platform.cmake).
#ifdef TXSYNC_HAVE_SDT
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#define TXSYNC_SEMAPHORE [[gnu::section(".probes"), gnu::used, gnu::visibility("hidden")]]
#else
#define STAP_PROBE3(...) static_cast<void>(0)
#define STAP_PROBE5(...) static_cast<void>(0)
#define TXSYNC_SEMAPHORE static
#endif

// How many tools have attached to each probe. The kernel or the tool writes them. The notes of the probes refer to
// these names.
extern "C" {
TXSYNC_SEMAPHORE volatile unsigned short txsync_wait_begin_semaphore = 0;
TXSYNC_SEMAPHORE volatile unsigned short txsync_wait_end_semaphore = 0;
TXSYNC_SEMAPHORE volatile unsigned short txsync_abort_semaphore = 0;
TXSYNC_SEMAPHORE volatile unsigned short txsync_fallback_semaphore = 0;
}

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {
/// to_string() would build its table in each call.
constexpr auto words = [] {
  std::array<const char*, abort_cause_count> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = to_string(static_cast<abort_cause>(i));
  return all;
}();
[[maybe_unused]] const char* word_of(abort_cause why) noexcept { return words[static_cast<std::size_t>(why)]; }
}  // namespace

bool waits_are_probed() noexcept { return (txsync_wait_begin_semaphore | txsync_wait_end_semaphore) != 0; }
bool attempts_are_probed() noexcept { return (txsync_abort_semaphore | txsync_fallback_semaphore) != 0; }

// Not inlined, so that each probe has one address at which a tool can trap.

[[gnu::noinline]] void probe_wait_begin([[maybe_unused]] std::uint32_t site_id, [[maybe_unused]] const char* site_name,
                                        [[maybe_unused]] const void* lock) noexcept {
  STAP_PROBE3(txsync, wait_begin, site_id, site_name, lock);
}

[[gnu::noinline]] void probe_wait_end([[maybe_unused]] std::uint32_t site_id, [[maybe_unused]] const char* site_name,
                                      [[maybe_unused]] const void* lock, [[maybe_unused]] std::uint64_t ns,
                                      [[maybe_unused]] bool acquired) noexcept {
  STAP_PROBE5(txsync, wait_end, site_id, site_name, lock, ns, static_cast<int>(acquired));
}

[[gnu::noinline]] void probe_abort([[maybe_unused]] std::uint32_t site_id, [[maybe_unused]] const char* site_name,
                                   [[maybe_unused]] const void* lock, [[maybe_unused]] abort_cause why) noexcept {
  STAP_PROBE5(txsync, abort, site_id, site_name, lock, static_cast<int>(why), word_of(why));
}

[[gnu::noinline]] void probe_fallback([[maybe_unused]] std::uint32_t site_id, [[maybe_unused]] const char* site_name,
                                      [[maybe_unused]] const void* lock, [[maybe_unused]] abort_cause why) noexcept {
  STAP_PROBE5(txsync, fallback, site_id, site_name, lock, static_cast<int>(why), word_of(why));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
