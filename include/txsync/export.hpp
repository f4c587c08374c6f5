// SPDX-License-Identifier: Apache-2.0
// The symbols that a shared txsync library exports.
#pragma once

#include <txsync/language.hpp>

/// Stands before each function, variable or class that is declared in a public header and defined in src/. All other
/// symbols stay inside the library, because it is compiled with -fvisibility=hidden. tests/packaging checks the list.
/// It is a macro, because neither a template nor a constant can name an attribute.
#define TXSYNC_EXPORT [[gnu::visibility("default")]]
