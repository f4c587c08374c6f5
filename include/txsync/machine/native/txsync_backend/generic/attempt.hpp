// SPDX-License-Identifier: Apache-2.0
// No hardware transactions: begin() returns status 0, "no reason"; everything else does nothing.
#pragma once

#include <txsync_backend/plain_hle.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

inline attempt_status begin() noexcept { return attempt_status{0}; }
inline void end() noexcept {}
template <std::uint8_t Code>
inline void abort() noexcept {}
inline bool active() noexcept { return false; }
inline unsigned depth() noexcept { return 0; }

inline attempt_status warm_begin() noexcept { return attempt_status{0}; }
inline bool warm_active() noexcept { return false; }
inline void suspend() noexcept {}
inline void resume() noexcept {}
inline attempt_status begin_rollback_only() noexcept { return attempt_status{0}; }
inline bool attempts_work() noexcept { return false; }
inline bool attempts_never_work() noexcept { return true; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
