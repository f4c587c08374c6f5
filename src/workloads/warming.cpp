// SPDX-License-Identifier: Apache-2.0
// Our locks with warm-up: in software by what the workload foretells, or in always-abort attempts at the
// section itself, as the always-abort paper has it, where the machine has those.
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/priority_tatas.hpp>
#include <txsync/speculate/warming.hpp>

#include "workloads/by_policy.hpp"
#include "workloads/make_subject.hpp"
#include "workloads/subjects.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

template <class Warming>
using of_run = with_role_of_run<Warming, warm_up>;

constexpr bool peer = false;
constexpr subject ticket = make_subject<warmed<of_run<warming<ticket_lock>>>>("", peer, waiting::spins, "");
constexpr subject mcs =
    make_subject<warmed_with_node<of_run<warming_with_node<mcs_lock>>>>("", peer, waiting::spins, "");
constexpr subject tatas = make_subject<warmed<of_run<warming<tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject priority = make_subject<warmed<of_run<warming<priority_tatas_lock>>>>("", peer, waiting::spins, "");
// Without a closure: what runs ahead is the section itself.
constexpr subject tatas_attempts = make_subject<lockable<of_run<warming<tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject priority_attempts =
    make_subject<lockable<of_run<warming<priority_tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject ticket_attempts =
    make_subject<lockable<of_run<warming<fifo_ticket_lock>>>>("", peer, waiting::spins, "");
constexpr subject mutexes = make_subject<warmed<of_run<warming<mutex>>>>("", peer, waiting::parks, "");

namespace by = warm_up_presets;

template <const subject& locked, const warm_up_policy& policy>
constexpr subject attempting(const char* name, const char* summary) noexcept {
  subject made = by_policy<warm_up, locked, policy>(name, summary);
  made.speculates = true;
  return made;
}
template <const subject& locked, const warm_up_policy& policy>
constexpr subject warm(const char* name, const char* summary) noexcept {
  return by_policy<warm_up, locked, policy>(name, summary);
}

constexpr subject table[] = {
    warm<ticket, by::standard>("warm_ticket", "ticket, warmed up where trials find that faster"),
    warm<mcs, by::standard>("warm_mcs", "mcs, warmed up where trials find that faster"),
    warm<tatas, by::standard>("warm_tatas", "tatas, warmed up where trials find that faster"),
    warm<priority, by::standard>("warm_priority_tatas", "tatas that goes to warm waiters first"),
    warm<mutexes, by::standard>("warm_mutex", "txsync::mutex, warmed up where trials find that faster"),
    warm<ticket, by::eager>("eager_warm_ticket", "ticket, whose waiters always warm up"),
    warm<mcs, by::eager>("eager_warm_mcs", "mcs, whose waiters always warm up"),
    attempting<tatas_attempts, by::paper>("aahtm_tatas", "tatas, whose waiters run ahead in always-abort attempts"),
    attempting<priority_attempts, by::paper_priority>("aahtm_priority_tatas", "the same; warm waiters go first"),
    attempting<ticket_attempts, by::paper_ticket>("aahtm_fifo_ticket", "fifo_ticket, those near the front run ahead"),
};

}  // namespace

std::span<const subject> warming_subjects() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
