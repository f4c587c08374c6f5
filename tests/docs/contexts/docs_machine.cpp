// SPDX-License-Identifier: Apache-2.0
// back end: scripted
#include <gtest/gtest.h>

#include "machine/scripted/script.hpp"

using txsync::machine::attempt_status;
using txsync::script::plan;

TEST(page, block) {
  //@ txsync::script::machine_script script;
}
