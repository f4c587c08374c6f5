// SPDX-License-Identifier: Apache-2.0
#include "../posix/permit.hpp"

#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

bool permitted(system_call call) noexcept {
  scripted_system_call();
  script::state& all = script::the_state();
  const std::lock_guard hold(all.guard);
  const auto found = all.system.failures.find(call);
  return found == all.system.failures.end() || !found->second.strike();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
