// SPDX-License-Identifier: Apache-2.0
// Reports events at sites, as they happen, to one function of the program: for user-written tools. Tools outside the
// process see the same events by USDT probes, if the library was built with them (docs/other-tools.md).
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/abort_cause.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// What an event can belong to:
///  - Waits: those of `mutex`, `shared_mutex` and `policy_mutex`, and of elided<>, elided_shared<> and warming<> over
///    them.
///  - Aborts and fallbacks: those of all elided locks, of a policy_mutex and of atomic blocks.
///
/// Other locks report no wait, even with a site. These are the locks without a site of their own, and what is built
/// from them (elided<futex_mutex>, elided<tatas_lock>, elided_shared<srwlock>, warming<ticket_lock>). Condition
/// variables and barriers report none either.
enum class event_kind : std::uint8_t {
  wait_begin,  ///< a thread begins to wait for a lock
  wait_end,    ///< the wait is over: the thread has the lock, or gives up at its deadline
  abort,       ///< an attempt in hardware or a software transaction has aborted, and is undone
  /// Attempts in hardware have aborted, and are not repeated: the section takes the lock, or the block continues in
  /// software. A section that makes no attempt, because attempts have not paid, is not reported.
  fallback,
};

struct event {
  event_kind kind = event_kind::wait_begin;
  bool acquired = false;                     ///< wait_end: the thread has the lock
  abort_cause cause = abort_cause::unknown;  ///< abort: its first cause; fallback: that of the last attempt
  std::uint32_t site_id = 0;                 ///< 0: a lock without a site that counts
  const char* site_name = "";                ///< the name of that site, never null; lives as long as the site
  /// The address of the lock. For an elided lock it is that of the lock within it, for an atomic block that of its
  /// tm::block.
  const void* lock = nullptr;
  std::uint64_t wait_ns = 0;  ///< wait_end: the length of the wait
};

using listener = void (*)(const event& what) noexcept;

/// From now on, `called` is called at each event of this process; if it is null, no function is called. Returns the
/// previous listener. Thread-safe. It may be called at any time, also by a listener.
///
/// Who calls the listener: the thread that waits, or whose attempt has aborted. It is never called within an attempt,
/// so it may make system calls. At wait_end that thread holds the lock, so the time of the listener is added to the
/// critical section. Several threads may call it at once. A wait_end belongs to the last wait_begin of the same thread.
/// Neither is left out while the listener stays the same. If a thread ends while it waits, or leaves by longjmp(),
/// there is no wait_end.
///
/// Requires of the listener: it takes no lock of txsync, runs no atomic block, waits for no thread, and throws nothing.
/// If locks are taken in signal handlers, it is async-signal-safe. It calls no allocator that is built upon these
/// locks. It may write to its own memory, read clocks and make system calls. Outside signal handlers it may call
/// snapshot(). Events within it are not reported, so it never calls itself.
///
/// Removal: after set_listener(nullptr) has returned, calls that have begun may go on. Each other thread may begin one
/// more call, because it had read the old listener. So the code of a listener stays loaded. Its data may be freed once
/// all threads that take locks have ended.
///
/// Cost without a listener: a load and a comparison when a lock is contended or an attempt has aborted. They are among
/// the 30 to 50 instructions that such an event takes. Elsewhere there is no cost. Cost with a listener: some 50
/// instructions more, and the listener itself.
/// Errors: none.
TXSYNC_EXPORT listener set_listener(listener called) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
