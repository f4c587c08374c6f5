// SPDX-License-Identifier: Apache-2.0
// Chosen by include directory: this build runs on a fake machine whose answers a unit test scripts.
#pragma once
#define TXSYNC_BACKEND scripted
#define TXSYNC_INLINE_BACKEND inline TXSYNC_BACKEND  // ctags takes it for a namespace, and does not parse `::inline`
