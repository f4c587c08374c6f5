// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Follows the declaration of a function and gives its name for the linker.
#define TXSYNC_LINKED_AS(name) __asm__(name)

/// For a function that the C library has under two versions: since glibc 2.34 by default, and as `before` for programs
/// linked earlier. Other versions are in exports.map.in. `TXSYNC_GLIBC_FIRST` is the first version of this processor's
/// glibc. It is not defined for objects that are linked into programs, where versions mean nothing.
#ifdef TXSYNC_GLIBC_FIRST
#define TXSYNC_MOVED_IN_2_34(name, before)                                                             \
  extern "C" __attribute__((alias(#name), visibility("default"))) __typeof__(name) name##_before_2_34; \
  __asm__(".symver " #name "_before_2_34, " #name "@" before);                                         \
  __asm__(".symver " #name ", " #name "@@@GLIBC_2.34")
/// For programs that were linked before glibc 2.34, the C library also has the function under `old_name`.
#define TXSYNC_LINKED_BEFORE_2_34_AS(old_name, name)                                                      \
  extern "C" __attribute__((alias(#name), visibility("default"))) __typeof__(name) name##_under_old_name; \
  __asm__(".symver " #name "_under_old_name, " #old_name "@" TXSYNC_GLIBC_FIRST)
#else
#define TXSYNC_MOVED_IN_2_34(name, before) static_assert(true)
#define TXSYNC_LINKED_BEFORE_2_34_AS(old_name, name) static_assert(true)
#endif
