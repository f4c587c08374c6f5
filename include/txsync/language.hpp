// SPDX-License-Identifier: Apache-2.0
// What these headers need of those who include them: said here, before the compiler stumbles over something else. The
// file that is not there ends the compilation behind the sentence, which #error alone does not.
#pragma once

#if __cplusplus < 202002L
#error "txsync needs C++20: compile with -std=c++20 or later"
#include <txsync/stopped_by_the_error_above>
#endif

#include <version>

// An installed copy says which standard library it was built with: some of its functions have types of that in their
// names.
#if __has_include(<txsync_backend/built_with.hpp>)
#include <txsync_backend/built_with.hpp>
#if defined(_LIBCPP_VERSION) && !TXSYNC_BUILT_WITH_LIBCXX
#error "this copy of txsync was built with libstdc++: compile without -stdlib=libc++, or build txsync with it"
#include <txsync/stopped_by_the_error_above>
#elif !defined(_LIBCPP_VERSION) && TXSYNC_BUILT_WITH_LIBCXX
#error "this copy of txsync was built with libc++: compile with -stdlib=libc++, or build txsync without it"
#include <txsync/stopped_by_the_error_above>
#endif
#endif
