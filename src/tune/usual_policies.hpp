// SPDX-License-Identifier: Apache-2.0
// Which policies of unmodified programs are tried where the user names none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace txsync::inline TXSYNC_BACKEND::tune {

/// Why a policy runs only when it is named, on this machine; null for the others.
const char* why_left_out(std::string_view policy);

/// The names of the others, in the order of policy::named_policies().
std::vector<std::string> usual_policies();

}  // namespace txsync::inline TXSYNC_BACKEND::tune
