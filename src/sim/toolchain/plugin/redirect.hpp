// SPDX-License-Identifier: Apache-2.0
// What stands in for the compiler's builtins: functions of the runtime and of the program library, declared on demand.
#pragma once

#include "compiler.hpp"

namespace txsync::sim::plugin {

enum class hook { read_range, write_range, system_call };

// The declaration of a hook that takes an address and a size; system_call takes a name.
tree declared(hook which);

// Rewrites a call of memcpy and its like, of prefetch, of the time stamp counter or of RTM; returns whether it did.
bool redirect_builtin(gcall* call, gimple_stmt_iterator* at);

// asm("pause") and asm("rep; nop") become a call of the runtime's relax().
bool replace_pause(gasm* statement, gimple_stmt_iterator* at);

// The declarations above live in the compiler's collected memory.
extern const ggc_root_tab roots[];

}  // namespace txsync::sim::plugin
