// SPDX-License-Identifier: Apache-2.0
// Our locks, elided: critical sections run as hardware attempts if the machine has them, and as plain ones otherwise.
// One lock, tatas, has all presets, which are those of the papers and of other libraries. Other locks have some of
// them. The table of presets (policy/presets.hpp) says which.
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warming.hpp>

#include "policy/presets.hpp"
#include "workloads/subjects/by_policy.hpp"
#include "workloads/subjects/by_preset.hpp"
#include "workloads/subjects/make_subject.hpp"
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

template <const subject& locked, const auto&... policies>
constexpr subject speculating(const char* name, const char* summary) noexcept {
  subject made = by_policy<locked, policies...>(name, summary);
  made.speculates = true;
  return made;
}

constexpr bool peer = false;
constexpr subject tatas = make_subject<lockable<of_run<elided<tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject mcs = make_subject<with_node<of_run<elided_with_node<mcs_lock>>>>("", peer, waiting::spins, "");
constexpr subject futex = make_subject<lockable<of_run<elided<futex_mutex>>>>("", peer, waiting::parks, "");
constexpr subject occ = make_subject<lockable<of_run<elided_shared<occ_rwlock>>>>("", peer, waiting::parks, "");
constexpr subject srw = make_subject<lockable<of_run<elided_shared<srwlock>>>>("", peer, waiting::spins, "");

// A thread that has to take the lock warms up while it waits (always-abort paper, IV-A 5: htm-10-fb-aahtm).
constexpr subject aahtm_tatas =
    make_subject<lockable<of_run<elided<warming<tatas_lock>>>>>("", peer, waiting::spins, "");

/// The lock for a bit of elision_preset::over.
template <unsigned lock>
constexpr const subject& lock_of() noexcept {
  if constexpr (lock == policy::over_mcs) {
    return mcs;
  } else if constexpr (lock == policy::over_futex) {
    return futex;
  } else if constexpr (lock == policy::over_occ_rwlock) {
    return occ;
  } else if constexpr (lock == policy::over_srwlock) {
    return srw;
  } else {
    static_assert(lock == policy::over_tatas);
    return tatas;
  }
}

constexpr auto of_row = []<unsigned row, unsigned lock>(const char* name, const char* summary) {
  constexpr const elision_policy& by = *policy::elision_table[row].policy;
  if constexpr (lock == policy::over_aahtm_tatas) {
    return speculating<aahtm_tatas, by, warm_up_presets::paper>(name, summary);
  } else {
    return speculating<lock_of<lock>(), by>(name, summary);
  }
};

/// One subject for each combination, and one with a rule that is not for use.
constexpr auto table = subjects_by<policy::elision_table>(
    of_row, speculating<tatas, elision_presets::lemming>("lemming_tatas",
                                                         "tatas, elided by a rule that makes lemmings: not for use"));

}  // namespace

std::span<const subject> eliding_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
