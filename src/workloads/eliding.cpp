// SPDX-License-Identifier: Apache-2.0
// Our locks, elided: sections run as hardware attempts where the machine has them, and as plain ones elsewhere.
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/speculate/elided.hpp>

#include "workloads/make_subject.hpp"
#include "workloads/subjects.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

/// A held lock uses attempts up, and nobody waits for it before trying again: after one thread has taken the lock all
/// others do (the lemming effect; Dice et al., ASPLOS 2009). Here to be looked at.
constexpr retry_rules lemming_rules{.busy_counts = true, .waits_for_lock = false};

class lemming_tatas : public elided<tatas_lock> {
 public:
  constexpr lemming_tatas() noexcept : elided(lemming_rules) {}
};

constexpr bool peer = false;

template <class Adapter>
constexpr subject speculating(const char* name, bool is_peer, waiting how, const char* summary) noexcept {
  subject made = make_subject<Adapter>(name, is_peer, how, summary);
  made.speculates = true;
  return made;
}

constexpr subject table[] = {
    speculating<lockable<elided<tatas_lock>>>("elided_tatas", peer, waiting::spins, "tatas, elided"),
    speculating<with_node<elided_with_node<mcs_lock>>>("elided_mcs", peer, waiting::spins, "mcs, elided"),
    speculating<lockable<elided<futex_mutex>>>("elided_futex", peer, waiting::parks, "futex, elided"),
    speculating<lockable<lemming_tatas>>("lemming_tatas", peer, waiting::spins,
                                         "tatas, elided by a rule that counts a busy lock: not for use"),
};

}  // namespace

std::span<const subject> eliding_subjects() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
