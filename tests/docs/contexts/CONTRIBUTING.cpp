// SPDX-License-Identifier: Apache-2.0
#define TXSYNC_BACKEND native
//@ namespace txsync::inline TXSYNC_BACKEND { ... }
