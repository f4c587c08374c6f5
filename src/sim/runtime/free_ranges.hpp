// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses that are free: in order, and none adjacent to the next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout.hpp"

namespace txsync::sim {

class free_ranges {
 public:
  /// Requires: called first. At most this many ranges are kept; a further one is forgotten.
  void reserve_for(std::size_t most, const char* what) noexcept { ranges_.reserve_for(most, what); }
  /// Takes memory from the first range that has room; 0 if none has.
  std::uintptr_t take(std::size_t bytes, std::size_t alignment) noexcept;
  /// Makes a range no longer free, as far as it was.
  void remove(std::uintptr_t from, std::uintptr_t end) noexcept;
  /// Makes a range free. Some of it may be free already.
  void add(std::uintptr_t from, std::uintptr_t end) noexcept;

 private:
  struct range {
    std::uintptr_t from;
    std::uintptr_t end;
  };

  /// The index of the first range that ends after or at `address`.
  std::size_t find(std::uintptr_t address) noexcept;
  void insert(std::size_t place, const range& one) noexcept;
  void erase(std::size_t place, std::size_t count) noexcept;

  growing_list<range> ranges_;
};

}  // namespace txsync::sim
