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

/// A lock of a role of its own, with a policy by name. All locks of a run have the same role.
template <class Elided, const elision_policy& policy>
class of_role : public Elided {
 public:
  of_role() noexcept : Elided(role) {}

 private:
  static inline constinit elision role{policy};
};

using elision_presets::lemming;
using elision_presets::standard;

constexpr bool peer = false;

template <class Adapter>
constexpr subject speculating(const char* name, bool is_peer, waiting how, const char* summary) noexcept {
  subject made = make_subject<Adapter>(name, is_peer, how, summary);
  made.speculates = true;
  return made;
}

constexpr subject table[] = {
    speculating<lockable<of_role<elided<tatas_lock>, standard>>>("elided_tatas", peer, waiting::spins, "tatas, elided"),
    speculating<with_node<of_role<elided_with_node<mcs_lock>, standard>>>("elided_mcs", peer, waiting::spins,
                                                                          "mcs, elided"),
    speculating<lockable<of_role<elided<futex_mutex>, standard>>>("elided_futex", peer, waiting::parks,
                                                                  "futex, elided"),
    speculating<lockable<of_role<elided<tatas_lock>, lemming>>>(
        "lemming_tatas", peer, waiting::spins, "tatas, elided by a rule that counts a busy lock: not for use"),
};

}  // namespace

std::span<const subject> eliding_subjects() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
