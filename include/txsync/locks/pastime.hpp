// SPDX-License-Identifier: Apache-2.0
// The former name of wait_task.hpp.
#pragma once

#include <txsync/locks/wait_task.hpp>
