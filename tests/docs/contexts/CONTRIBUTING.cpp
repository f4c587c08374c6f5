// SPDX-License-Identifier: Apache-2.0
#define TXSYNC_BACKEND native
#define TXSYNC_INLINE_BACKEND inline TXSYNC_BACKEND  // ctags takes it for a namespace, and does not parse `::inline`
//@ namespace txsync::TXSYNC_INLINE_BACKEND { ... }
