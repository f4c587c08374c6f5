// SPDX-License-Identifier: Apache-2.0
// Memory that dmp_norec, dmp_tinystm and dmp_dctl divide between hardware and software, page by page (docs/tm/algorithms/dmp.md).
// Under the other algorithms, blocks may use all memory alike.
//
//     txsync::tm::in_heap<txsync::tm::hash_map<int, int>> accounts;
//     constinit txsync::tm::block transfer{"bank.transfer", {.memory_class = 1}};
//     txsync::tm::atomically(transfer, [&](auto& tx) { accounts->insert(tx, 1, 100); });
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// Of the heap.
struct heap_options {
  /// Addresses are reserved for that much; memory is taken as it is used. Rounded up to 64 KiB.
  std::size_t max_bytes = std::size_t{4} << 30;
  /// What is given to hardware or software as a whole: 4, 16 or 64 KiB, and no less than a page of the system. Smaller
  /// pages divide memory more finely. Larger ones need fewer changes of rights.
  std::size_t page_bytes = std::size_t{64} << 10;
};

/// Makes the heap of the process. From then on it has the objects that blocks make, under every algorithm. Where
/// hardware transactions work, the first in_heap and the choice of a dmp algorithm do it, too, with the defaults. They
/// try less memory if the system refuses.
/// At a fork, blocks of other threads wait while the heap is copied for the child: 0.3 ms for each MiB that is used.
/// False: there is one already, the options are not possible, or the system refuses. Thread-safe.
TXSYNC_EXPORT bool make_heap(const heap_options& options = {}) noexcept;

/// The heap as it is. Zeros: there is none.
struct heap_totals {
  std::size_t max_bytes = 0;
  std::size_t page_bytes = 0;
  std::size_t used_bytes = 0;  ///< of its 64 KiB parts that have objects, or are kept for some
  bool has_been_full = false;  ///< objects lie elsewhere; blocks that use them run serially under dmp
  /// The system has refused to divide it further, since a process can have only so many mappings
  /// (/proc/sys/vm/max_map_count). Since then dmp's blocks all run in software.
  bool is_refused = false;
};
TXSYNC_EXPORT heap_totals heap_now() noexcept;

/// Whether dmp's blocks may use the address without running serially.
TXSYNC_EXPORT bool is_in_heap(const void* address) noexcept;

namespace detail {
/// Throws std::bad_alloc.
TXSYNC_EXPORT void* take_in_heap(std::size_t bytes, unsigned memory_class);
TXSYNC_EXPORT void give_in_heap(void* object) noexcept;
}  // namespace detail

/// Which part of the heap an object lies in: objects of different classes share no page. Blocks make objects in that of
/// their policy. 0..7.
struct memory_class {
  unsigned number = 0;
};

/// A T in the heap, and so at another address than the in_heap: for what blocks begin at, such as a container. If there
/// is no heap, or no room in it, the T lies elsewhere. Created and destroyed outside of blocks. Requires of the
/// destructor: no block uses the T any more.
/// Throws: std::bad_alloc, and what the constructor of T throws. Thread-safe, as T is. Cost: one load more than a T.
template <class T>
class in_heap {
 public:
  in_heap() : in_heap(memory_class{}) {}
  template <class... Arguments>
  explicit in_heap(memory_class where, Arguments&&... arguments) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    struct unless_made {
      void* memory;
      ~unless_made() {
        if (memory != nullptr) detail::give_in_heap(memory);
      }
    } guard{detail::take_in_heap(sizeof(T), where.number)};
    object_ = std::construct_at(static_cast<T*>(guard.memory), std::forward<Arguments>(arguments)...);
    guard.memory = nullptr;
  }
  in_heap(const in_heap&) = delete;
  in_heap& operator=(const in_heap&) = delete;
  ~in_heap() {
    std::destroy_at(object_);
    detail::give_in_heap(object_);
  }

  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  T* get() const noexcept { return object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm
