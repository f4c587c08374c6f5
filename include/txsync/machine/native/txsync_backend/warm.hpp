// SPDX-License-Identifier: Apache-2.0
// Always-abort attempts on machines with flat nesting: the same on each.
#pragma once

namespace txsync::inline TXSYNC_BACKEND::machine {

namespace detail {
/// Set inside an always-abort attempt only: the abort undoes it.
// initial-exec: a call for its address would be bound lazily, which aborts every attempt that it happens in.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local bool in_warm_attempt;
}  // namespace detail

inline attempt_status warm_begin() noexcept {
  // A first touch inside would be a page fault, which aborts, and after which the page is still untouched.
  *const_cast<volatile bool*>(&detail::in_warm_attempt) = false;
  const attempt_status status = begin();
  if (status.started()) {
    // always-abort paper, section I and Fig. 1: a stray end of an attempt must only take one of these levels away.
    for (unsigned level = 0; level < detail::warm_extra_depth; ++level) (void)begin();
    detail::in_warm_attempt = true;
  }
  return status;
}

inline bool warm_active() noexcept { return detail::in_warm_attempt; }

}  // namespace txsync::inline TXSYNC_BACKEND::machine
