// SPDX-License-Identifier: Apache-2.0
// Where tests count attempts: what the thread has learnt in earlier tests, of locks whose addresses share an entry with
// the next one's, would decide with (which share one differs from run to run).
#pragma once

#include <machine/scripted/script.hpp>
#include <speculate/experience.hpp>

/// The machine has hardware transactions, and the calling thread has not used them yet.
inline void have_unlearnt_rtm(txsync::script::machine_script& script) {
  script.have_rtm();
  txsync::detail::forget_experience();
}
