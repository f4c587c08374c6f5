// SPDX-License-Identifier: Apache-2.0
// capacity: sections that touch so many places of an array, each thread an array and a lock of its own. On the subject
// `attempt` it is the measurement of what a hardware attempt can hold (thesis on TSX in InnoDB, 3.2.1, 3.2.2, C.2).
#pragma once

#include <cstdint>

#include "workloads/adapters.hpp"
#include "workloads/pages.hpp"
#include "workloads/random.hpp"
#include "workloads/team.hpp"
#include "workloads/workload.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

extern const workload capacity_workload;

/// The parameters by name.
struct capacity_shape {
  explicit capacity_shape(const parameters& values) noexcept;
  std::size_t bytes() const noexcept { return places * step; }

  std::uint64_t lines;    ///< places that a section touches
  std::uint64_t step;     ///< bytes from one place to the next
  std::uint64_t touches;  ///< bytes that are touched at each place
  bool writes;
  bool random;
  std::uint64_t places;  ///< of the array
  bool warm;
};

/// A permutation of the numbers below `size`, another one for each key: multiplications and shifts that can be undone,
/// repeated until the number is in range. It needs no table, whose lines would be in the attempt too.
class permutation {
 public:
  permutation(std::uint64_t size, std::uint64_t key) noexcept : size_(size), key_(mix(key)) {
    while (mask_ < size - 1) mask_ = mask_ * 2 + 1;
    while (shift_ * 2 < bits()) ++shift_;
  }
  std::uint64_t operator()(std::uint64_t number) const noexcept {
    do {
      number = (number + key_) & mask_;
      for (unsigned round = 0; round < 3; ++round) {
        number = (number * (key_ | 1) * 0x9E3779B97F4A7C15u) & mask_;
        number ^= number >> shift_;
      }
    } while (number >= size_);
    return number;
  }

 private:
  unsigned bits() const noexcept { return static_cast<unsigned>(__builtin_popcountll(mask_)); }

  std::uint64_t size_;
  std::uint64_t key_;
  std::uint64_t mask_ = 0;
  unsigned shift_ = 1;
};

/// A thread's array, in pages that nobody has touched unless the shape says so.
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

/// What section number `number` writes: never 0, which stands in fresh pages.
constexpr unsigned char capacity_value(std::uint64_t number) noexcept {
  return static_cast<unsigned char>(1 + number % 255);
}

template <class Adapter>
struct capacity_shared {
  capacity_shape shape;
  std::uint64_t seed;
  page_array<padded<Adapter>> locks;  ///< one a thread: nobody ever waits
};

/// The section itself. All that it uses besides the array is in registers.
inline std::uint64_t touch_places(volatile unsigned char* at, const capacity_shape& shape, std::uint64_t key,
                                  unsigned char value) noexcept {
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

/// Tallies: 0, arrays that do not hold what was written; 1, hashes.
template <class Adapter>
void fill_sections(worker& me, capacity_shared<Adapter>& shared) {
  Adapter& lock = shared.locks[me.index()].object;
  const capacity_shape shape = shared.shape;
  const capacity_array array(shape);
  [[maybe_unused]] typename Adapter::slot mine{};
  std::uint64_t key = mix(shared.seed + me.index());
  std::uint64_t number = 0;
  unsigned char newest = 0;

  me.wait_for_start();
  while (me.more()) {
    if (!array.ok()) break;
    ++key;
    const unsigned char value = capacity_value(number++);
    me.begin();
    if (enter(lock, mine)) {
      touch_places(array.data(), shape, key, value);
      lock.unlock(mine);
      newest = value;
    }
    me.finish();
  }
  if (!array.ok() || (shape.writes && newest != 0 && array.count(shape, newest) < shape.lines)) ++me.tally(0);
  me.tally(1) = array.ok() ? array.hash(shape) : 0;
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

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
