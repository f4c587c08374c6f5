// SPDX-License-Identifier: Apache-2.0
// One interface for all locks, so that a workload is written once:
//
//   struct adapter {
//     struct slot {};                                       // what a thread brings along, such as an MCS node
//     void lock(slot&);
//     void unlock(slot&);
//     void lock_shared(slot&);                              // optional: for read sections
//     void unlock_shared(slot&);                            // optional, with lock_shared()
//     template <class Warm> void lock(slot&, const Warm&);  // optional: waiters run warm(memory), see warm_up.hpp
//     static constexpr bool exclusive = true;               // optional: false if sections do not exclude each other
//     bool try_section(slot&);                              // instead of lock(): may give up; then no section is run
//   };
//
// An adapter is default-constructible and never moved. A slot belongs to one thread and serves one lock at a time.
#pragma once

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/speculate/warm_up.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

template <class Lock>
concept lockable_shared = requires(Lock& lock) {
  lock.lock_shared();
  lock.unlock_shared();
};

/// For locks with lock() and unlock(), and with lock_shared() if they have it. Inline, as a lock's own functions are if
/// its author wants that. A call would store a return address, and the next atomic instruction would wait for that
/// store. Not analysed by -Wthread-safety, since adapters for any lock have no capability of their own.
template <class Lock>
class lockable {
 public:
  struct slot {};
  [[gnu::always_inline]] TXSYNC_UNCHECKED void lock(slot&) { lock_.lock(); }
  [[gnu::always_inline]] TXSYNC_UNCHECKED void unlock(slot&) { lock_.unlock(); }
  [[gnu::always_inline]] TXSYNC_UNCHECKED void lock_shared(slot&)
    requires lockable_shared<Lock>
  {
    lock_.lock_shared();
  }
  [[gnu::always_inline]] TXSYNC_UNCHECKED void unlock_shared(slot&)
    requires lockable_shared<Lock>
  {
    lock_.unlock_shared();
  }

 protected:
  Lock lock_;
};

/// For queue locks whose waiters bring a Lock::node.
template <class Lock>
class with_node {
 public:
  using slot = typename Lock::node;
  [[gnu::always_inline]] TXSYNC_UNCHECKED void lock(slot& node) { lock_.lock(node); }
  [[gnu::always_inline]] TXSYNC_UNCHECKED void unlock(slot& node) { lock_.unlock(node); }

 protected:
  Lock lock_;
};

/// No lock at all: measures the cost of everything else. Loses updates as soon as there are two threads.
class no_lock {
 public:
  static constexpr bool exclusive = false;
  struct slot {};
  void lock(slot&) noexcept { machine::compiler_fence(); }
  void unlock(slot&) noexcept { machine::compiler_fence(); }
};

/// For locks of warming.hpp, whose waiters run the warm-up that they are given.
template <class Warming>
class warmed : public lockable<Warming> {
 public:
  using typename lockable<Warming>::slot;
  using lockable<Warming>::lock;
  template <class Warm>
  TXSYNC_UNCHECKED void lock(slot&, const Warm& warm) {
    lockable<Warming>::lock_.lock(warm);
  }
};
template <class Warming>
class warmed_with_node : public with_node<Warming> {
 public:
  using typename with_node<Warming>::slot;
  using with_node<Warming>::lock;
  template <class Warm>
  TXSYNC_UNCHECKED void lock(slot& node, const Warm& warm) {
    with_node<Warming>::lock_.lock(node, warm);
  }
};

/// The alternative to warm-up, prefetch before lock: every thread warms up before it locks, whether it has to wait or
/// not.
template <class Adapter>
class ahead : public Adapter {
 public:
  using Adapter::lock;
  using typename Adapter::slot;
  template <class Warm>
  void lock(slot& mine, const Warm& warm) {
    warm_ahead(warm);
    Adapter::lock(mine);
  }
};

/// Locks. If the adapter warms up, its waiters run warm(memory) while they wait.
template <class Adapter, class Warm>
[[gnu::always_inline]] inline void lock_warming(Adapter& lock, typename Adapter::slot& mine, const Warm& warm) {
  if constexpr (requires { lock.lock(mine, warm); }) {
    lock.lock(mine, warm);
  } else {
    lock.lock(mine);
  }
}

/// Whether critical sections under the adapter exclude each other, so that results can be checked.
template <class Adapter>
constexpr bool excludes() noexcept {
  if constexpr (requires { Adapter::exclusive; }) {
    return Adapter::exclusive;
  } else {
    return true;
  }
}

template <class Adapter>
concept has_read_sections = requires(Adapter& lock, typename Adapter::slot& mine) {
  lock.lock_shared(mine);
  lock.unlock_shared(mine);
};

/// Whether the adapter may give up a critical section. Then only some workloads can run on it.
template <class Adapter>
concept gives_up = requires(Adapter& lock, typename Adapter::slot& mine) { lock.try_section(mine); };

/// Null, or why nothing can run on the adapter here: an adapter that gives up at an abort needs hardware attempts.
template <class Adapter>
const char* unable() noexcept {
  if (!gives_up<Adapter> || machine::htm().attempts) return nullptr;
  return "the machine has no hardware transactions that work, and a bare attempt has no lock to fall back on";
}

/// Enters the critical section. False if it is not to be run.
template <class Adapter>
[[gnu::always_inline]] inline bool enter(Adapter& lock, typename Adapter::slot& mine) {
  if constexpr (gives_up<Adapter>) {
    return lock.try_section(mine);
  } else {
    lock.lock(mine);
    return true;
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
