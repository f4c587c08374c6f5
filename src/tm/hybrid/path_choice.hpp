// SPDX-License-Identifier: Apache-2.0
// auto: which path a block takes, hardware first or software from the start. Each block has its own choice, which all
// threads share. Both paths run beside each other (hydctl.cpp).
//
// A thread times a block now and then, on the path that it takes, from the beginning to the commit. Aborts, waits and
// software after aborts are part of that. The path that costs less is preferred.
//
// The other path is looked at now and then, so that the choice is known to be right. From hardware, single blocks go to
// software. From software, all blocks of the process try the hardware together for a while. A single one would find
// software beside it. So blocks would keep each other there.
#pragma once

#include "tm/quiescence_gate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// One block on its way.
struct path_taken {
  bool in_hardware;
  bool beside = false;      ///< another thread may have run software transactions when it began
  std::uint64_t began = 0;  ///< machine::cycles(); 0: the block is not timed
  std::uint64_t waits = 0;  ///< times that the block's site had slept in retry()
};

path_taken choose_and_time(runner& me) noexcept;
/// Before a block of a thread that is not ready for it.
inline path_taken choose_path(runner& me) noexcept {
  // relaxed: a thread may notice a trial some blocks late
  const bool trial = shared.trial_ends.load(std::memory_order_relaxed) != 0;
  if (--me.until_timed == 0 || trial) [[unlikely]]
    return choose_and_time(me);
  return {.in_hardware = !me.where->costs().prefers_software()};
}
/// For explorations, before their threads start: each thread's blocks take one path and the other in turn.
void alternate_paths() noexcept;
void note_path_cost(runner& me, block& where, const path_taken& taken) noexcept;
/// The block has committed. `where`: commit actions may have run other blocks since.
inline void end_path(runner& me, block& where, const path_taken& taken) noexcept {
  if (taken.began != 0) [[unlikely]]
    note_path_cost(me, where, taken);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
