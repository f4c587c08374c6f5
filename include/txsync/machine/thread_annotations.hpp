// SPDX-License-Identifier: Apache-2.0
// The seam: which locks a function takes, gives up or requires, in words that Clang's -Wthread-safety checks. Other
// compilers see nothing. All locks and guards of txsync have them, so a program may annotate its data:
//
//     txsync::mutex orders_lock;
//     int orders TXSYNC_GUARDED_BY(orders_lock);
//
// What the analysis cannot follow:
//  - std::lock_guard, std::unique_lock and std::scoped_lock of libstdc++ have no annotations. A function that uses them
//    with annotated data says TXSYNC_UNCHECKED, or is compiled with libc++.
//  - try_upgrade() and downgrade() change the mode of a lock; they have no annotation.
//  - The code of the locks themselves, which computes who holds a lock. TXSYNC_LOCKS and the macros after it are for
//    these functions, and the analysis skips their bodies.
// Macros, because neither a template nor a constant can name an attribute. Cost: none.
// Source: Hutchins, Ballman and Sutherland, "C/C++ Thread Safety Analysis", SCAM 2014.
#pragma once

#include <txsync/language.hpp>

#if defined(__clang__)
#define TXSYNC_THREAD_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define TXSYNC_THREAD_ATTRIBUTE(...)
#endif

/// Of a class: it is a lock. Messages use `word` for the kind of lock.
#define TXSYNC_CAPABILITY(word) TXSYNC_THREAD_ATTRIBUTE(capability(word))
/// Of a class: it takes a lock in its constructor, and gives it up in its destructor.
#define TXSYNC_SCOPED_CAPABILITY TXSYNC_THREAD_ATTRIBUTE(scoped_lockable)

/// Of a variable: it is accessed under that lock only. With PT: what it points to.
#define TXSYNC_GUARDED_BY(lock) TXSYNC_THREAD_ATTRIBUTE(guarded_by(lock))
#define TXSYNC_PT_GUARDED_BY(lock) TXSYNC_THREAD_ATTRIBUTE(pt_guarded_by(lock))

/// Of a function: the caller holds these locks, or must not hold them.
#define TXSYNC_REQUIRES(...) TXSYNC_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TXSYNC_REQUIRES_SHARED(...) TXSYNC_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define TXSYNC_EXCLUDES(...) TXSYNC_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

/// Of a function: it takes these locks, or gives them up; without an argument, its own object. With TRY, it takes them
/// if it returns true.
#define TXSYNC_ACQUIRE(...) TXSYNC_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TXSYNC_ACQUIRE_SHARED(...) TXSYNC_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define TXSYNC_RELEASE(...) TXSYNC_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TXSYNC_RELEASE_SHARED(...) TXSYNC_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define TXSYNC_TRY_ACQUIRE(...) TXSYNC_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define TXSYNC_TRY_ACQUIRE_SHARED(...) TXSYNC_THREAD_ATTRIBUTE(try_acquire_shared_capability(__VA_ARGS__))

/// Of a function: its body is not checked.
#define TXSYNC_UNCHECKED TXSYNC_THREAD_ATTRIBUTE(no_thread_safety_analysis)

/// Of the functions of a lock.
#define TXSYNC_LOCKS TXSYNC_ACQUIRE() TXSYNC_UNCHECKED
#define TXSYNC_LOCKS_SHARED TXSYNC_ACQUIRE_SHARED() TXSYNC_UNCHECKED
#define TXSYNC_TRY_LOCKS TXSYNC_TRY_ACQUIRE(true) TXSYNC_UNCHECKED
#define TXSYNC_TRY_LOCKS_SHARED TXSYNC_TRY_ACQUIRE_SHARED(true) TXSYNC_UNCHECKED
#define TXSYNC_UNLOCKS TXSYNC_RELEASE() TXSYNC_UNCHECKED
#define TXSYNC_UNLOCKS_SHARED TXSYNC_RELEASE_SHARED() TXSYNC_UNCHECKED
