// SPDX-License-Identifier: Apache-2.0
// Our locks, elided: sections run as hardware attempts where the machine has them, and as plain ones elsewhere. One
// lock, tatas, also under the policies of the papers and of other libraries; occ_rwlock also under its own paper's.
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/speculate/elided.hpp>

#include "workloads/by_policy.hpp"
#include "workloads/make_subject.hpp"
#include "workloads/subjects.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

template <class Elided>
using of_run = with_role_of_run<Elided, elision>;

template <const subject& locked, const elision_policy& policy>
constexpr subject speculating(const char* name, const char* summary) noexcept {
  subject made = by_policy<elision, locked, policy>(name, summary);
  made.speculates = true;
  return made;
}

constexpr bool peer = false;
constexpr subject tatas = make_subject<lockable<of_run<elided<tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject mcs = make_subject<with_node<of_run<elided_with_node<mcs_lock>>>>("", peer, waiting::spins, "");
constexpr subject futex = make_subject<lockable<of_run<elided<futex_mutex>>>>("", peer, waiting::parks, "");
constexpr subject occ = make_subject<lockable<of_run<elided_shared<occ_rwlock>>>>("", peer, waiting::parks, "");

namespace by = elision_presets;

constexpr subject table[] = {
    speculating<tatas, by::standard>("elided_tatas", "tatas, elided where trials find that faster"),
    speculating<mcs, by::standard>("elided_mcs", "mcs, elided where trials find that faster"),
    speculating<futex, by::standard>("elided_futex", "futex, elided where trials find that faster"),
    speculating<occ, by::standard>("elided_occ_rwlock", "occ_rwlock, elided where trials find that faster"),
    speculating<tatas, by::eager>("eager_tatas", "tatas, every section tried as an attempt"),
    speculating<mcs, by::eager>("eager_mcs", "mcs, every section tried as an attempt"),
    speculating<futex, by::eager>("eager_futex", "futex, every section tried as an attempt"),
    speculating<tatas, by::shore>("shore_tatas", "tatas, elided by the Shore-MT paper's policy: two attempts"),
    speculating<occ, by::shore>("shore_occ_rwlock", "occ_rwlock, elided by the Shore-MT paper's policy: two attempts"),
    speculating<tatas, by::thesis_100>("thesis_tatas", "tatas, elided by the thesis on TSX in InnoDB: 100 retries"),
    speculating<tatas, by::htm_1>("htm_1_tatas", "tatas, elided by the always-abort paper: one attempt"),
    speculating<tatas, by::htm_10>("htm_10_tatas", "tatas, elided by the always-abort paper: ten attempts"),
    speculating<tatas, by::htm_1_patient>("htm_1_patient_tatas", "the same; who takes the lock costs no attempt"),
    speculating<tatas, by::htm_10_patient>("htm_10_patient_tatas", "ten attempts; who takes the lock costs none"),
    speculating<tatas, by::xsync>("xsync_tatas", "tatas, elided by the LevelDB paper: adaptive, coarsening"),
    speculating<tatas, by::glibc>("glibc_tatas", "tatas, elided by glibc's rule: skips after failures"),
    speculating<tatas, by::libomp>("libomp_tatas", "tatas, elided by the rule of LLVM's libomp: badness"),
    speculating<mcs, by::glibc>("glibc_mcs", "mcs, elided by glibc's rule: skips after failures"),
    speculating<mcs, by::libomp>("libomp_mcs", "mcs, elided by the rule of LLVM's libomp: badness"),
    speculating<mcs, by::xsync>("xsync_mcs", "mcs, elided by the LevelDB paper: adaptive, coarsening"),
    speculating<tatas, by::lemming>("lemming_tatas", "tatas, elided by a rule that makes lemmings: not for use"),
};

}  // namespace

std::span<const subject> eliding_subjects() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
