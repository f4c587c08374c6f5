// SPDX-License-Identifier: Apache-2.0
// Our locks with warm-up. Waiters run in software what the workload predicts. Or they run the critical section itself
// in always-abort attempts, as in the always-abort paper, if the machine has those. The table of presets
// (policy/presets.hpp) says which exist.
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/warming.hpp>

#include "policy/presets.hpp"
#include "workloads/subjects/by_policy.hpp"
#include "workloads/subjects/by_preset.hpp"
#include "workloads/subjects/make_subject.hpp"
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr bool peer = false;
constexpr subject ticket = make_subject<warmed<of_run<warming<ticket_lock>>>>("", peer, waiting::spins, "");
constexpr subject mcs =
    make_subject<warmed_with_node<of_run<warming_with_node<mcs_lock>>>>("", peer, waiting::spins, "");
constexpr subject tatas = make_subject<warmed<of_run<warming<tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject priority = make_subject<warmed<of_run<warming<priority_tatas_lock>>>>("", peer, waiting::spins, "");
// Without a closure: waiters run the section itself.
constexpr subject tatas_attempts = make_subject<lockable<of_run<warming<tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject priority_attempts =
    make_subject<lockable<of_run<warming<priority_tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject ticket_attempts =
    make_subject<lockable<of_run<warming<fifo_ticket_lock>>>>("", peer, waiting::spins, "");
constexpr subject posix_attempts = make_subject<lockable<of_run<warming<posix_mutex>>>>("", peer, waiting::parks, "");
constexpr subject mutexes = make_subject<warmed<of_run<warming<mutex>>>>("", peer, waiting::parks, "");

/// The lock for a bit of warm_up_preset::over: with a closure of the workload's, or with attempts.
template <unsigned lock, bool attempts>
constexpr const subject& lock_of() noexcept {
  if constexpr (lock == policy::over_tatas) {
    return attempts ? tatas_attempts : tatas;
  } else if constexpr (lock == policy::over_priority_tatas) {
    return attempts ? priority_attempts : priority;
  } else if constexpr (attempts) {
    static_assert(lock == policy::over_fifo_ticket || lock == policy::over_posix);
    return lock == policy::over_posix ? posix_attempts : ticket_attempts;
  } else if constexpr (lock == policy::over_mcs) {
    return mcs;
  } else {
    static_assert(lock == policy::over_ticket || lock == policy::over_mutex);
    return lock == policy::over_mutex ? mutexes : ticket;
  }
}

constexpr auto of_row = []<unsigned row, unsigned lock>(const char* name, const char* summary) {
  constexpr const policy::warm_up_preset& preset = policy::warm_up_table[row];
  subject made = by_policy<lock_of<lock, preset.attempts>(), *preset.policy>(name, summary);
  made.speculates = preset.attempts;
  return made;
};

constexpr auto table = subjects_by<policy::warm_up_table>(of_row);

}  // namespace

std::span<const subject> warming_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
