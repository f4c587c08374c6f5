// SPDX-License-Identifier: Apache-2.0
// How a program asks its launcher. If the launcher has stopped looking, nobody waits for it longer than
// launcher_timeout_ns. If it has ended, nobody waits for it at all.
#pragma once

#include <cstdint>

#include "channel/channel.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

/// The launcher is looking: it may answer.
bool launcher_lives(const head& file) noexcept;

/// The launcher will never look again: it has said so, or it was killed. False if this process cannot know. A few
/// microseconds.
bool launcher_has_ended(head& file) noexcept;

/// A slot for a request, owned by the calling thread.
struct claim {
  site_request* slot = nullptr;  ///< null: the launcher is gone, or too slow
  std::uint32_t number = 0;      ///< the request's number, at its position in `state`
};
claim claim_site_request(head& file) noexcept;

/// Sends the request that the caller has put into the slot. False if the launcher is gone, or too slow: then the slot
/// is no longer the caller's. True: the answer is in the slot, until give_back().
bool ask(head& file, const claim& claimed) noexcept;
void give_back(const claim& claimed) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel
