// SPDX-License-Identifier: Apache-2.0
// For tests that count attempts. What the thread has learnt in earlier tests would influence them, if a lock's address
// shares an entry with a later one's. Which locks share an entry differs from run to run.
#pragma once

#include <machine/scripted/script.hpp>
#include <speculate/elision_history.hpp>

/// The machine has hardware transactions, and the calling thread has not used them yet.
inline void have_unlearnt_rtm(txsync::script::machine_script& script) {
  script.have_rtm();
  txsync::detail::forget_elision_history();
}
