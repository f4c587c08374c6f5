// SPDX-License-Identifier: Apache-2.0
// One shape for every lock, so that a workload is written once:
//
//   struct adapter {
//     struct slot {};                                   // what a thread brings along, such as an MCS node
//     void lock(slot&);  void unlock(slot&);
//     void lock_shared(slot&);  void unlock_shared(slot&);  // optional: read sections
//     static constexpr bool exclusive = true;           // optional: false for what does not exclude
//   };
//
// An adapter is default-constructible and never moved. A slot belongs to one thread and serves one lock at a time.
#pragma once

#include <txsync/machine/cpu.hpp>

namespace txsync::inline TXSYNC_BACKEND::workloads {

template <class Lock>
concept lockable_shared = requires(Lock& lock) {
  lock.lock_shared();
  lock.unlock_shared();
};

/// For locks with lock() and unlock(), and with lock_shared() where they have it.
template <class Lock>
class lockable {
 public:
  struct slot {};
  void lock(slot&) { lock_.lock(); }
  void unlock(slot&) { lock_.unlock(); }
  void lock_shared(slot&)
    requires lockable_shared<Lock>
  {
    lock_.lock_shared();
  }
  void unlock_shared(slot&)
    requires lockable_shared<Lock>
  {
    lock_.unlock_shared();
  }

 private:
  Lock lock_;
};

/// For queue locks whose waiters bring a Lock::node.
template <class Lock>
class with_node {
 public:
  using slot = typename Lock::node;
  void lock(slot& node) { lock_.lock(node); }
  void unlock(slot& node) { lock_.unlock(node); }

 private:
  Lock lock_;
};

/// No lock at all: the cost of everything else. Loses updates as soon as there are two threads.
class no_lock {
 public:
  static constexpr bool exclusive = false;
  struct slot {};
  void lock(slot&) noexcept { machine::compiler_fence(); }
  void unlock(slot&) noexcept { machine::compiler_fence(); }
};

/// Whether sections under the adapter exclude each other, so that results can be checked.
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

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
