// SPDX-License-Identifier: Apache-2.0
// What the Shore-MT paper (3.2) first put in the place of occ_rwlock: pthread's reader-writer lock of its time, plain
// and elided. For the simulated machine, and for sections that read. These locks are for study, not for use.
#include <txsync/speculate/elided.hpp>

#include "workloads/generators/readers.hpp"
#include "workloads/subjects/by_policy.hpp"
#include "workloads/subjects/counting_rwlock.hpp"
#include "workloads/subjects/sleeping.hpp"
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr subject of_readers(const char* name, bool speculates, const char* summary, subject::runner run) noexcept {
  subject made{.name = name,
               .how = waiting::parks,
               .speculates = speculates,
               .simulated_only = true,
               .has_shared = true,
               .summary = summary};
  made.run[static_cast<unsigned>(workload_id::readers)] = run;
  return made;
}

using plain_lock = counting_rwlock<sleeping_mutex>;
using small_lock_elided = counting_rwlock<hle_sleeping_mutex>;
using section_elided = of_run<elided_shared<counting_rwlock_of_glibc<sleeping_mutex>>>;

outcome run_section_elided(const parameters& values, const plan& how) {
  scoped_site place(elision_presets::glibc);
  site_of_run = &place;
  return run_readers<lockable<section_elided>>(values, how);
}

constexpr subject table[] = {
    of_readers("counting_rwlock", false, "counters under a small lock, as glibc's until 2.24",
               run_readers<lockable<plain_lock>>),
    of_readers("hle_counting_rwlock", true, "its small lock by Intel's prefixes",
               run_readers<lockable<small_lock_elided>>),
    of_readers("glibc_counting_rwlock", true, "its sections elided by glibc's rule", run_section_elided),
};

}  // namespace

std::span<const subject> shore_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
