// SPDX-License-Identifier: Apache-2.0
// Something to preload that does nothing.
extern "C" [[gnu::visibility("default")]] int txsync_empty_library() { return 0; }
