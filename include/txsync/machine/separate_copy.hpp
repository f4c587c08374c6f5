// SPDX-License-Identifier: Apache-2.0
// For a module (a plug-in, for example) that links the static library. It must share no lock, condition variable or
// tm::var of txsync with other modules. Include this header in one of its sources, or in several. The message about two
// copies of the library in one process then leaves this module's copy out (docs/other-tools.md). No effect with the
// shared library.
#pragma once

#include <txsync/language.hpp>

extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const char txsync_separate_copy;
const char txsync_separate_copy = 1;
}
