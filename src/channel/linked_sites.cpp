// SPDX-License-Identifier: Apache-2.0
// The linked library under `txsync run`. Its sites get the launcher's numbers, so they stand in one table with the
// sites of pthread's locks. Its threads count in the launcher's file.
#include <atomic>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "channel/file.hpp"
#include "channel/site_requests.hpp"
#include "observe/blocks.hpp"
#include "observe/outside.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

const counting_library this_library = counting_library::linked;
const char* const without_file = "only the process itself sees the counts of its named sites";

void begin_in(head&) noexcept {
  // The child counts for itself, in the same file.
  (void)machine::after_fork([] {
    open_file()->linked_processes.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
    observe::forget_blocks();
  });
}

namespace {

// At once if the environment names a file: the first lock may be taken in a signal handler, or in a sandbox.
[[gnu::constructor(101)]] void open_early() noexcept { (void)open_file(); }

[[gnu::destructor]] void finish() noexcept {
  if (open_file() != nullptr) observe::end_of_process();
}

observe::outside_number ask_for(head& file, const char* name, std::uint32_t heeded) noexcept {
  const claim claimed = claim_site_request(file);
  if (claimed.slot == nullptr) return {.by = observe::numbering::later};
  site_request& request = *claimed.slot;
  request.kind = object_kind::named;
  request.by = asked_by::name;
  request.heeded = heeded;
  put_name(name, request.where);
  if (!ask(file, claimed)) return {.by = observe::numbering::later};
  const observe::outside_number told{.by = observe::numbering::outside,
                                     .takes_policies = true,
                                     .id = request.site <= max_sites ? request.site : 0,
                                     .policy = {request.policy, request.mask}};
  give_back(claimed);
  return told;
}

/// The launcher has ended, and nobody reads the file any more. From then on the process numbers its sites itself.
bool nobody_reads(head& file) noexcept {
  if (file.launcher_alive.load(std::memory_order_relaxed) == 0) return true;  // relaxed: a sign of life
  if (launcher_lives(file)) return false;
  // Stopped or killed. Each lock without a number comes here, so only some of them ask the system.
  constexpr std::uint64_t pause_ns = 100'000'000;
  static constinit std::atomic<std::uint64_t> next_look{0};
  const std::uint64_t now = machine::clock_ns();
  std::uint64_t at = next_look.load(std::memory_order_relaxed);  // relaxed: a clock
  if (now < at || !next_look.compare_exchange_strong(at, now + pause_ns, std::memory_order_relaxed)) return false;
  return launcher_has_ended(file);
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

void open_outside() noexcept { (void)channel::open_file(); }

void announce_outside() noexcept {
  // relaxed: read after the program has ended
  if (channel::head* const file = channel::open_file()) file->unwatched_locks.store(1, std::memory_order_relaxed);
}

outside_number number_from_outside(const char* name, std::uint32_t heeded) noexcept {
  channel::head* const file = channel::open_file();
  if (file == nullptr || channel::nobody_reads(*file)) return {.by = numbering::here, .takes_policies = true};
  // A request would end an attempt.
  if (machine::active() || machine::warm_active()) return {.by = numbering::later};
  // A number of our own would be another site's in the launcher's table. Until the launcher answers, there is none.
  return channel::ask_for(*file, name, heeded);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
