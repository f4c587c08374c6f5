// SPDX-License-Identifier: Apache-2.0
// In the place of LevelDB's file of this name: annotations that say nothing.
#pragma once

#define LOCKABLE
#define EXCLUSIVE_LOCK_FUNCTION(...)
#define UNLOCK_FUNCTION(...)
#define ASSERT_EXCLUSIVE_LOCK(...)
