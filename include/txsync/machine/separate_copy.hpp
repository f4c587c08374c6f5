// SPDX-License-Identifier: Apache-2.0
// For a module (a plug-in, say) that links the static library and shares no lock, condition variable or tm::var of
// txsync with other modules: include this in one of its sources, or in several. Its copy of the library is then left
// out of the notice about two copies in one process (docs/other-tools.md). No effect with the shared library.
#pragma once

#include <txsync/language.hpp>

extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const char txsync_separate_copy;
const char txsync_separate_copy = 1;
}
