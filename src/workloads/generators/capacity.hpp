// SPDX-License-Identifier: Apache-2.0
// capacity: sections that touch many places of an array. Each thread has its own array and lock. With the subject
// `attempt` it measures what a hardware attempt can hold (thesis on TSX in InnoDB, 3.2.1, 3.2.2, C.2).
#pragma once

#include <cstdint>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/random.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload capacity_workload;

/// The parameters by name.
struct capacity_shape {
  explicit capacity_shape(const parameters& values) noexcept;
  std::size_t bytes() const noexcept { return places * step; }

  std::uint64_t lines;    ///< places that a section touches
  std::uint64_t step;     ///< bytes from one place to the next
  std::uint64_t touches;  ///< bytes touched at each place
  bool writes;
  bool random;
  std::uint64_t places;  ///< places in the array
  bool warm;
};

/// A permutation of the numbers below `size`, different for each key. It is a Feistel network over an even number of
/// bits, repeated until the number is in range. It needs no table, whose lines would also be in the attempt.
class permutation {
 public:
  permutation(std::uint64_t size, std::uint64_t key) noexcept : size_(size), key_(mix(key)) {
    while (half_ < 31 && std::uint64_t{1} << (2 * half_) < size) ++half_;
  }
  std::uint64_t operator()(std::uint64_t number) const noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
    do {
      std::uint64_t left = number >> half_;
      std::uint64_t right = number & mask;
      for (std::uint64_t round = 0; round < 4; ++round) {
        const std::uint64_t other = left ^ (mix(key_ + (round << 32) + right) & mask);
        left = right;
        right = other;
      }
      number = left << half_ | right;
    } while (number >= size_);
    return number;
  }

 private:
  std::uint64_t size_;
  std::uint64_t key_;
  unsigned half_ = 1;  ///< in bits
};

/// A thread's array, in pages that have not been touched, unless the shape says so.
class capacity_array {
 public:
  explicit capacity_array(const capacity_shape& shape) noexcept;
  capacity_array(const capacity_array&) = delete;
  capacity_array& operator=(const capacity_array&) = delete;
  ~capacity_array();

  bool ok() const noexcept { return at_ != nullptr; }
  volatile unsigned char* data() const noexcept { return at_; }
  /// How many places have this value.
  std::uint64_t count(const capacity_shape& shape, unsigned char value) const noexcept;
  std::uint64_t hash(const capacity_shape& shape) const noexcept;

 private:
  std::size_t bytes_;
  volatile unsigned char* at_;
};

/// The value that section `number` writes. It is never 0, the value in fresh pages.
constexpr unsigned char capacity_value(std::uint64_t number) noexcept {
  return static_cast<unsigned char>(1 + number % 255);
}

template <class Adapter>
struct capacity_shared {
  capacity_shape shape;
  std::uint64_t seed;
  page_array<padded<Adapter>> locks;  ///< one per thread: no thread ever waits
};

/// The section itself. Everything that it uses besides the array is in registers, so the attempt holds nothing else.
[[gnu::always_inline]] inline std::uint64_t touch_places(volatile unsigned char* at, capacity_shape shape,
                                                         std::uint64_t key, unsigned char value) noexcept {
  const permutation place(shape.places, key);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < shape.lines; ++i) {
    volatile unsigned char* const here = at + (shape.random ? place(i) : i) * shape.step;
    if (shape.writes) {
      for (std::uint64_t byte = 0; byte < shape.touches; ++byte) here[byte] = value;
    } else {
      for (std::uint64_t byte = 0; byte < shape.touches; ++byte) sum += here[byte];
    }
  }
  return sum;
}

/// Tallies: 0, arrays that do not contain what was written; 1, hashes.
template <class Adapter>
void fill_sections(worker& me, capacity_shared<Adapter>& shared) {
  Adapter& lock = shared.locks[me.index()].object;
  const capacity_array array(shared.shape);
  volatile unsigned char* const at = array.data();
  [[maybe_unused]] typename Adapter::slot mine{};
  std::uint64_t key = mix(shared.seed + me.index());
  std::uint64_t number = 0;
  unsigned char newest = 0;

  me.wait_for_start();
  while (me.more()) {
    if (!array.ok()) break;
    ++key;
    const unsigned char value = capacity_value(number++);
    const capacity_shape shape = shared.shape;  // read before the attempt begins
    me.begin();
    if (enter(lock, mine)) {
      touch_places(at, shape, key, value);
      lock.unlock(mine);
      newest = value;
    }
    me.finish();
  }
  const bool wrong = shared.shape.writes && newest != 0 && array.count(shared.shape, newest) < shared.shape.lines;
  if (!array.ok() || wrong) ++me.tally(0);
  me.tally(1) = array.ok() ? array.hash(shared.shape) : 0;
}

template <class Adapter>
outcome run_capacity(const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(capacity_workload, values, how)) return refused(wrong);
  if (const char* const wrong = unable<Adapter>()) return refused(wrong);
  capacity_shared<Adapter> shared{capacity_shape(values), how.seed, page_array<padded<Adapter>>(how.threads)};
  if (!shared.locks.ok()) return refused(no_memory);
  team_result result = run_team<fill_sections<Adapter>>(how, shared);
  return result.checked(result.tallies[0] != 0 ? "an array does not hold what the last section wrote" : nullptr,
                        result.tallies[1]);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
