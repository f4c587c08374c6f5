// SPDX-License-Identifier: Apache-2.0
// Which policies of unmodified programs are tried if the user names none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// Which of the hardware transactions for elision and warm-up a machine has.
struct offered_attempts {
  bool attempts = false;      ///< hardware transactions that can commit
  bool always_abort = false;  ///< hardware transactions that always abort
};
offered_attempts offered_here();

/// Why a policy runs on such a machine only if it is named; null for the others.
const char* why_left_out(std::string_view policy, offered_attempts machine = offered_here());

/// The names of the others, in the order of policy::named_policies().
std::vector<std::string> usual_policies(offered_attempts machine = offered_here());

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
