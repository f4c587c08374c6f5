// SPDX-License-Identifier: Apache-2.0
// What happens at sites, told as it happens to one function of the program: for tools of one's own. Tools outside the
// process see the same events by USDT probes, where the library was built with them (docs/other-tools.md).
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/abort_cause.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

/// The waits are those of `mutex`, `shared_mutex` and `policy_mutex`, and of elided<>, elided_shared<> and warming<>
/// over them. Other locks tell of no wait, with a site neither: those that have none of their own, and what is made of
/// them (elided<futex_mutex>, elided<tatas_lock>, elided_shared<srwlock>, warming<ticket_lock>). Nor do condition
/// variables and barriers. The aborts and fallbacks are those of all elided locks, of a policy_mutex and of atomic
/// blocks.
enum class event_kind : std::uint8_t {
  wait_begin,  ///< a thread begins to wait for a lock
  wait_end,    ///< the wait is over: the thread has the lock, or gives up at its deadline
  abort,       ///< an attempt, in hardware or in software, has aborted and is undone
  /// Attempts in hardware have aborted, and none of them is repeated: the section takes the lock, or the block goes on
  /// in software. A section that makes no attempt, because attempts have not paid, is not told.
  fallback,
};

struct event {
  event_kind kind = event_kind::wait_begin;
  bool acquired = false;                     ///< wait_end: the thread has the lock
  abort_cause cause = abort_cause::unknown;  ///< abort: its first cause; fallback: that of the last attempt
  std::uint32_t site_id = 0;                 ///< 0: a lock without a site that counts
  const char* site_name = "";                ///< of that site, never null; lives as long as the site
  /// Which lock: its address, of an elided lock that of the lock within it, of an atomic block that of its tm::block.
  const void* lock = nullptr;
  std::uint64_t wait_ns = 0;  ///< wait_end: the length of the wait
};

using listener = void (*)(const event& what) noexcept;

/// From now on `told` is called at each event of this process, or nothing is, if it is null. Returns the one before.
/// Thread-safe; may be called at any time, by a listener too.
///
/// Who calls it: the thread that waits or whose attempt has aborted, never within an attempt, so that it may make
/// system calls. At wait_end that thread holds the lock: what the listener takes is added to the section. Several
/// threads may call it at once. A wait_end belongs to the wait_begin that the same thread was told of last, and none is
/// left out while the listener stays the same. A thread that ends, or leaves by longjmp(), while it waits has no
/// wait_end.
///
/// Requires of the listener: it takes no lock of txsync, runs no atomic block, waits for no thread, and throws nothing.
/// It is async-signal-safe where locks are taken in signal handlers. It calls no allocator that is built upon these
/// locks. It may write to memory of its own, read clocks, make system calls, and outside of signal handlers call
/// snapshot(). Events within it are not told, so that it never calls itself.
///
/// Removal: after set_listener(nullptr) has returned, calls that have begun may go on, and each other thread may begin
/// one more call: it had read the old listener. So the code of a listener stays loaded. What it uses may be freed once
/// all threads that take locks have ended.
///
/// Cost without a listener: a load and a comparison where a lock is contended or an attempt has aborted, of the 30 to
/// 50 instructions that such an event takes there; elsewhere nothing. With one: some 50 more, besides what it does.
/// Errors: none.
TXSYNC_EXPORT listener set_listener(listener told) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe
