// SPDX-License-Identifier: Apache-2.0
// The former name of jump_target.hpp.
#pragma once

#include <txsync/machine/jump_target.hpp>
