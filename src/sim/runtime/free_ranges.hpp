// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses that are to be had again: in order, none touching the next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout.hpp"

namespace txsync::sim {

class free_ranges {
 public:
  /// Requires: before all others. At most so many ranges; what would be one more is forgotten.
  void reserve_for(std::size_t most, const char* what) noexcept { ranges_.reserve_for(most, what); }
  /// The first that has room; 0: none has.
  std::uintptr_t take(std::size_t bytes, std::size_t alignment) noexcept;
  /// No longer to be had, as far as it was.
  void remove(std::uintptr_t from, std::uintptr_t end) noexcept;
  /// Some of it may be free already.
  void add(std::uintptr_t from, std::uintptr_t end) noexcept;

 private:
  struct range {
    std::uintptr_t from;
    std::uintptr_t end;
  };

  /// The first that ends behind `address`, or there.
  std::size_t find(std::uintptr_t address) noexcept;
  void insert(std::size_t place, const range& one) noexcept;
  void erase(std::size_t place, std::size_t count) noexcept;

  growing_list<range> ranges_;
};

}  // namespace txsync::sim
