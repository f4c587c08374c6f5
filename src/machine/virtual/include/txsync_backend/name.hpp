// SPDX-License-Identifier: Apache-2.0
// Chosen by include directory: this build runs on the simulated machine (src/sim).
#pragma once
#define TXSYNC_BACKEND simulated
#define TXSYNC_SIMULATED 1                           // compiled with the hooks of ThreadSanitizer, and without that
#define TXSYNC_INLINE_BACKEND inline TXSYNC_BACKEND  // ctags takes it for a namespace, and does not parse `::inline`
