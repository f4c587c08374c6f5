// SPDX-License-Identifier: Apache-2.0
// How a program asks its launcher. Nobody waits longer than launcher_patience_ns for a launcher that has stopped
// looking, and not at all for one that has ended.
#pragma once

#include <cstdint>

#include "channel/channel.hpp"

namespace txsync::inline TXSYNC_BACKEND::channel {

/// The launcher looks: it may answer.
bool launcher_lives(const head& file) noexcept;

/// It will never look again: it has said so, or it was killed. False where this process cannot know. A few
/// microseconds.
bool launcher_has_ended(head& file) noexcept;

/// A slot for a question, which is the calling thread's.
struct claim {
  question* slot = nullptr;  ///< null: the launcher is gone, or too slow
  std::uint32_t number = 0;  ///< of the question, in place in `state`
};
claim claim_question(head& file) noexcept;

/// Asks what the caller has put into the slot. False when the launcher is gone, or too slow: then the slot is no longer
/// the caller's. True: the answer is in the slot, until give_back().
bool ask(head& file, const claim& mine) noexcept;
void give_back(const claim& mine) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::channel
