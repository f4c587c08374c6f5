// SPDX-License-Identifier: Apache-2.0
// lock-array: threads take random locks of an array, one or several at once, and hold them for a while. Sources: thesis
// on TSX in InnoDB, 2.4, 3.2.3, 3.2.4, C.1, C.3, C.4.
#pragma once

#include <cstdint>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload lock_array_workload;

inline constexpr unsigned max_held = 100;

/// The parameters by name.
struct lock_array_shape {
  explicit lock_array_shape(const parameters& values) noexcept;

  std::uint64_t locks;
  unsigned held;       ///< locks held at once
  std::uint64_t hold;  ///< in cycles
  std::uint64_t data;  ///< bytes that a section reads
  enum class allocation : std::uint8_t { none, stack, heap } allocates;
  std::uint64_t every_ns;  ///< from the start of one section to the start of the next
  bool own_locks;          ///< each thread takes locks from its own part
};

/// What a thread does in a section besides holding its locks.
class section_work {
 public:
  section_work(const lock_array_shape& shape, const volatile unsigned char* data) noexcept
      : shape_(shape), data_(data) {}
  [[gnu::always_inline]] inline void run() const noexcept {
    for (std::uint64_t byte = 0; byte < shape_.data; ++byte) static_cast<void>(data_[byte]);
    if (shape_.allocates == lock_array_shape::allocation::heap) allocate();
    if (shape_.allocates == lock_array_shape::allocation::stack) use_stack();
    if (shape_.hold == 0) return;
    // No pause instruction, because that ends attempts on some machines. A fence touches no memory.
    for (const std::uint64_t begun = machine::cycles(); machine::cycles() - begun < shape_.hold;) machine::fence();
  }

 private:
  static void allocate() noexcept;
  static void use_stack() noexcept;

  const lock_array_shape& shape_;
  const volatile unsigned char* data_;
};

/// Waits until the time of the next section, if sections have one.
class section_clock {
 public:
  explicit section_clock(std::uint64_t every_ns) noexcept : every_ns_(every_ns) {}
  void start() noexcept;
  void wait() noexcept;

 private:
  std::uint64_t every_ns_;
  std::uint64_t next_ns_ = 0;
};

template <class Adapter>
struct lock_array_shared {
  lock_array_shape shape;
  unsigned threads;
  page_array<padded<Adapter>> locks;
  page_array<unsigned char> data;  ///< a page or more per thread

  std::uint64_t bytes_each() const noexcept { return data.size() / threads; }
};

/// A range of locks from which a thread draws the first of those that it takes.
struct lock_range {
  std::uint64_t first;
  std::uint64_t count;
};
lock_range locks_of(const lock_array_shape& shape, unsigned thread, unsigned threads) noexcept;

/// Tally 0: a hash of what was drawn.
template <class Adapter>
void take_locks(worker& me, lock_array_shared<Adapter>& shared) {
  const lock_array_shape shape = shared.shape;
  const lock_range range = locks_of(shape, me.index(), shared.threads);
  const section_work work(shape, shared.data.data() + me.index() * shared.bytes_each());
  [[maybe_unused]] typename Adapter::slot mine[max_held]{};
  random_stream random = me.random();
  running_hash drawn;
  section_clock clock(shape.every_ns);

  me.wait_for_start();
  clock.start();
  while (me.more()) {
    padded<Adapter>* const locks = &shared.locks[range.first + random.below(range.count)];
    drawn.add(static_cast<std::uint64_t>(locks - shared.locks.data()));
    clock.wait();
    const bool timed = me.begin();
    // Always from the lower to the higher lock, so that no deadlock is possible. An aborted attempt returns to its
    // first enter(), which then returns false.
    bool entered = true;
    for (unsigned i = 0; entered && i < shape.held; ++i) entered = enter(locks[i].object, mine[i]);
    if (entered) {
      me.entered(timed);
      work.run();
      for (unsigned i = shape.held; i-- != 0;) locks[i].object.unlock(mine[i]);
    }
    me.finish();
  }
  me.tally(0) = drawn.value();
}

template <class Adapter>
outcome run_lock_array(const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(lock_array_workload, values, how)) return refused(wrong);
  if (const char* const wrong = unable<Adapter>()) return refused(wrong);
  const lock_array_shape shape(values);
  constexpr std::uint64_t page = 4096;
  const std::uint64_t bytes = (shape.data / page + 1) * page;
  lock_array_shared<Adapter> shared{shape, how.threads, page_array<padded<Adapter>>(shape.locks),
                                    page_array<unsigned char>(bytes * how.threads)};
  if (!shared.locks.ok() || !shared.data.ok()) return refused(no_memory);
  team_result result = run_team<take_locks<Adapter>>(how, shared);
  return result.checked(nullptr, result.tallies[0]);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
