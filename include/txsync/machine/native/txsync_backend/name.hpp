// SPDX-License-Identifier: Apache-2.0
// Chosen by include directory: this build runs on the machine itself.
#pragma once
#include <txsync/language.hpp>
#define TXSYNC_BACKEND native
#define TXSYNC_INLINE_BACKEND inline TXSYNC_BACKEND  // ctags takes it for a namespace, and does not parse `::inline`
