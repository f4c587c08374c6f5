// SPDX-License-Identifier: Apache-2.0
// The functions that replace the compiler's builtins. They belong to the runtime and the program library, and are
// declared on demand.
#pragma once

#include "compiler.hpp"

namespace txsync::sim::plugin {

enum class hook { read_range, write_range, system_call };

// The declaration of a hook that takes an address and a size; system_call takes a name.
tree declared(hook which);

// Rewrites a call of memcpy and the like, of prefetch, of the time stamp counter or of RTM. Returns whether it did.
bool redirect_builtin(gcall* call, gimple_stmt_iterator* at);

// asm("pause") and asm("rep; nop") become a call of the runtime's relax().
bool replace_pause(gasm* statement, gimple_stmt_iterator* at);

// The declarations above are in memory that the compiler collects.
extern const ggc_root_tab roots[];

}  // namespace txsync::sim::plugin
