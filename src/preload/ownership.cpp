// SPDX-License-Identifier: Apache-2.0
// The owner of a block of counters holds a robust mutex of the C library until it ends. Then the system marks the
// mutex. So the library takes no thread-specific key from the program. It also counts up to the thread's last
// instruction: a program may take locks in destructors of keys. If the system serves no robust mutexes (user-mode
// emulation), each block has one owner for ever.
#include "observe/ownership.hpp"

#include <linux/futex.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <new>

#include "next.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

namespace {

static_assert(sizeof(pthread_mutex_t) <= sizeof(ownership::room) && alignof(pthread_mutex_t) <= alignof(ownership));

pthread_mutex_t& mutex_of(ownership& block) noexcept {
  return *std::launder(reinterpret_cast<pthread_mutex_t*>(block.room));
}

/// relaxed: only a look, cheaper than a try
bool may_be_free(ownership& block) noexcept {
  const auto word =
      static_cast<unsigned>(std::atomic_ref<int>(mutex_of(block).__data.__lock).load(std::memory_order_relaxed));
  return word == 0 || (word & FUTEX_OWNER_DIED) != 0;
}

}  // namespace

bool may_be_unowned(const ownerships&) noexcept { return true; }

void make_unowned(ownership& block, ownerships&) noexcept {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  preload::next().mutex_init(new (block.room) pthread_mutex_t, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

bool own(ownership& block) noexcept {
  if (!may_be_free(block)) return false;
  const int status = preload::next().mutex_trylock(&mutex_of(block));
  if (status == EOWNERDEAD) return pthread_mutex_consistent(&mutex_of(block)) == 0;
  return status == 0;
}

bool may_own() noexcept { return true; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
