// SPDX-License-Identifier: Apache-2.0
// Finds memory accesses that no hook sees, by following each function's control flow in the disassembly.
//
// A hook permits the access that follows it in the caller, on every path; another call ends that. Accesses without a
// hook are right if no other thread looks at them. These are the function's own frame (addresses made from the stack
// pointer), constants, and what the dynamic loader or the unwinder provides.
#pragma once

#include <string>
#include <vector>

#include "object_file.hpp"

namespace txsync::sim::toolchain {

struct unseen_access {
  std::string object, section, function;  // the function's mangled name
  std::uint64_t address = 0;              // in the section
  std::string text;                       // the instruction
  std::string reason;
};

// A function's rarely run part, NAME.cold, is a symbol of its own. This returns NAME for both.
std::string whole_function(const std::string& name);

std::vector<unseen_access> unseen_accesses(const object_file& object);

}  // namespace txsync::sim::toolchain
