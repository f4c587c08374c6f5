// SPDX-License-Identifier: Apache-2.0
// What a shared txsync library shows to its users.
#pragma once

#include <txsync/language.hpp>

/// Stands before each function, variable or class that is declared in a public header and defined in src/. Everything
/// else stays inside the library (it is compiled with -fvisibility=hidden); tests/packaging checks the list. A macro,
/// because an attribute cannot be named by a template or a constant.
#define TXSYNC_EXPORT [[gnu::visibility("default")]]
