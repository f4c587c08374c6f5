// SPDX-License-Identifier: Apache-2.0
// Policies of elision are on the floor of policies, below the locks that follow them.
#pragma once

#include <txsync/policy/elision_policy.hpp>
