// SPDX-License-Identifier: Apache-2.0
// Store buffers, for exploration. A store waits in its thread's buffer until the order of execution lets it out, oldest
// first. Until then only the thread itself sees it. The model is that of x86 (Owens, Sarkar and Sewell, "A better x86
// memory model: x86-TSO", TPHOLs 2009). These empty the buffer: fences, read-modify-writes, sequentially consistent
// stores, system calls and the begin of an attempt. Inside an attempt nothing waits.
//
// Programs load and store by themselves, right after their hooks. So a waiting store is in memory while its thread
// runs, where the thread finds it. It is taken out of memory while another thread runs.
//
// A store to the thread's own stack does not wait, because the frame may be gone by then. It lets out what was stored
// before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fiber.hpp"

namespace txsync::sim {

void set_up_store_buffers() noexcept;

/// A store that the running thread does next. True: it waits in the buffer and is no access yet. False: it is an
/// ordinary access, and the buffer is empty.
bool buffer_store(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept;

/// Lets all stores of the running thread out. No effect without store buffers.
void drain_own() noexcept;

struct waiting_store {
  std::uintptr_t address;
  std::size_t bytes;
  std::uintptr_t code;
  /// The thread's bytes while it does not run; while it runs, the bytes of memory below them.
  std::uint8_t hidden[16];
};

struct store_buffer {
  static constexpr unsigned most = 16;
  unsigned count;   ///< how many wait
  unsigned oldest;  ///< index of the first one
  bool in_memory;
  waiting_store stores[most];

  waiting_store* begin() noexcept { return stores + oldest; }
  waiting_store* end() noexcept { return stores + oldest + count; }
};
extern constinit store_buffer* buffer_of_thread;  ///< by thread; null if there are none

inline bool has_waiting_stores(const thread_record& thread) noexcept { return buffer_of_thread[thread.id].count != 0; }
/// Lets the oldest store out. Does not return if that ends the running thread's attempt.
void drain_oldest(thread_record& thread) noexcept;

/// Called when another thread is about to run.
void change_view(thread_record& before, thread_record& next) noexcept;

/// While such an object exists, memory is what all threads see, without what waits for the running one.
class common_view {
 public:
  common_view() noexcept;
  ~common_view();
  common_view(const common_view&) = delete;
  common_view& operator=(const common_view&) = delete;

 private:
  thread_record* hidden_ = nullptr;
};

}  // namespace txsync::sim
