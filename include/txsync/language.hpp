// SPDX-License-Identifier: Apache-2.0
// What these headers require of a program that includes them. It is checked here, before the compiler meets another
// error. #error alone does not end the compilation; the #include of a missing file after it does.
#pragma once

#if __cplusplus < 202002L
#error "txsync needs C++20: compile with -std=c++20 or later"
#include <txsync/stopped_by_the_error_above>
#endif

#include <version>

// An installed copy records which standard library it was built with, because the names of some of its functions
// contain types of that library.
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
