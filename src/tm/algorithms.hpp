// SPDX-License-Identifier: Apache-2.0
// The table of algorithms, and what they have in common.
#pragma once

#include "tm/quiescence_gate.hpp"
#include "tm/stripe_set.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

extern const algorithm automatic;         ///< hybrid/hydctl.cpp: `auto`
extern const algorithm dctl;              ///< stm/dctl.cpp
extern const algorithm dmp_dctl;          ///< partition/dmp.cpp
extern const algorithm dmp_norec;         ///< partition/dmp.cpp
extern const algorithm dmp_tinystm;       ///< partition/dmp.cpp
extern const algorithm htm_sgl;           ///< stm/sgl.cpp, hybrid/hardware.cpp
extern const algorithm htm_sgl_adaptive;  ///< likewise
extern const algorithm hydctl;            ///< hybrid/hydctl.cpp
extern const algorithm hynorec;           ///< hybrid/hynorec.cpp
extern const algorithm hytinystm;         ///< hybrid/hytinystm.cpp
extern const algorithm hytl2;             ///< hybrid/hytl2.cpp
extern const algorithm norec;             ///< stm/norec.cpp
extern const algorithm sgl;               ///< stm/sgl.cpp
extern const algorithm tinystm_wb;        ///< stm/tinystm.cpp
extern const algorithm tinystm_wt;        ///< stm/tinystm.cpp
extern const algorithm tl2;               ///< stm/tl2.cpp
extern const algorithm two_phase;         ///< stm/two_phase.cpp
// Not in the table: these run a serial transaction in place, with an undo log.
extern const algorithm serial;  ///< stm/sgl.cpp
extern const algorithm biased;  ///< stm/sgl.cpp: under the gate's bias; others may ask for its end
/// Attempts of each block, whatever the causes of their aborts (hybrid paper, section V).
inline constexpr std::uint32_t papers_tries = 10;
/// The same of dmp's blocks.
inline constexpr std::uint32_t dmp_tries = 100;
/// Before dmp is used. False: the system refuses.
bool divide_memory() noexcept;
/// By a transaction of sgl, htm_sgl or htm_sgl_adaptive.
bool global_lock_is_held() noexcept;
/// In the child of a fork. Null: its thread has never run a block.
void forget_global_lock(const runner* me) noexcept;

/// For a runner that runs no transaction: every access ends the program with a message.
extern const algorithm outside;

const algorithm& choose_first() noexcept;
/// The algorithm that new transactions use.
inline const algorithm& algorithm_now() noexcept {
  // acquire pairs with the release of the thread that chose another one, in a serial transaction
  const algorithm* const chosen = shared.in_use.load(std::memory_order_acquire);
  return chosen != nullptr ? *chosen : choose_first();
}

/// Every access is refused until the runner begins the next attempt.
inline void close_accesses(engine& me) noexcept {
  me.forget_attempt();
  me.in_place = engine::nobody;
  me.set_bound(0);
  me.mode = run_mode::idle;
  me.how = &outside;
}
/// An access to a software transaction while its thread runs none. In a hardware attempt the block is first restarted
/// in software, so that the access is part of it.
[[noreturn]] void refuse_access(engine& me);

// For the algorithms of a serial transaction:
/// Its reads are not logged, except after it has restarted for that. Then each read takes the slow path.
inline void begin_serial(engine& me) noexcept {
  me.set_bound(runner_of(me).wants_log ? 0 : engine::every_version);
  me.has_unlogged = !runner_of(me).wants_log;
}
inline bool commit_serial(engine& me) noexcept { return !me.undo.empty(); }

// For algorithms that store in place:
/// Restores the values from before the entries of the undo log from `from` on.
void undo_from(engine& me, std::size_t from) noexcept;
/// algorithm::roll_back_to(): owned records stay owned.
void undo_to(engine& me, const log_mark& mark) noexcept;
void add_undone_words(engine& me, stripe_set& into) noexcept;

// For algorithms that buffer:
void unbuffer_to(engine& me, const log_mark& mark) noexcept;
void add_buffered_words(engine& me, stripe_set& into) noexcept;

// For 2plsf:
/// Its transaction has ended, or continues in another way.
void drop_timestamp(runner& me) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
