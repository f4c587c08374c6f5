// SPDX-License-Identifier: Apache-2.0
#include "tune/usual_policies.hpp"

#include <txsync/machine/attempt.hpp>

#include "policy/policy.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

offered_attempts offered_here() { return {machine::htm().attempts, machine::htm().always_abort}; }

const char* why_left_out(std::string_view policy, offered_attempts machine) {
  if (policy == "fifo-ticket" || policy == "fifo_ticket")
    return "a lock of strict order waits for threads that do not run";
  if (policy == "tatas") return "it may starve a thread";
  if (policy == "as-mutex") return "a program whose readers meet inside a reader-writer lock would hang";
  if (policy == "elide" && !machine.attempts) return "without hardware transactions it is 'mutex'";
  if (policy == "warm" && !machine.always_abort) return "without attempts that always abort it is 'ticket'";
  return nullptr;
}

std::vector<std::string> usual_policies(offered_attempts machine) {
  std::vector<std::string> names;
  for (const policy::named_policy& one : policy::named_policies())
    if (why_left_out(one.name, machine) == nullptr) names.emplace_back(one.name);
  return names;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
