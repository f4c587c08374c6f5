// SPDX-License-Identifier: Apache-2.0
// Always-abort attempts on machines with flat nesting: the same code for all of them.
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {
/// Set inside an always-abort attempt only: the abort undoes it.
// initial-exec: otherwise a call would get its address. Lazy binding of that call aborts each attempt in which it
// happens.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local bool in_warm_attempt;
}  // namespace detail

inline attempt_status warm_begin() noexcept {
  // The first touch is here: inside the attempt it would be a page fault. That aborts, and leaves the page untouched.
  *const_cast<volatile bool*>(&detail::in_warm_attempt) = false;
  const attempt_status status = begin();
  if (status.started()) {
    // always-abort paper, section I and Fig. 1: a stray end of an attempt must only close one of these levels.
    for (unsigned level = 0; level < detail::warm_extra_depth; ++level) (void)begin();
    detail::in_warm_attempt = true;
  }
  return status;
}

inline bool warm_active() noexcept { return detail::in_warm_attempt; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
