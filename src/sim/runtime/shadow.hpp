// SPDX-License-Identifier: Apache-2.0
// A record for each cache line and one for each page: what the coherence directory and the transactions know about it.
// Sets of cores and hardware threads are as wide as the machine needs (up to 1024). So a record's size is known only at
// the start.
#pragma once

#include <cstdint>

#include "layout.hpp"

namespace txsync::sim {

using line_number = std::uint32_t;  ///< address / line size
inline constexpr std::uint16_t nobody = 0xFFFF;

/// A set of bits in words that are part of a record.
class bit_set {
 public:
  bit_set(std::uint64_t* words, unsigned count) noexcept : words_(words), count_(count) {}
  bool has(unsigned index) const noexcept { return (words_[index / 64] >> (index % 64) & 1) != 0; }
  void add(unsigned index) const noexcept { words_[index / 64] |= std::uint64_t{1} << (index % 64); }
  void remove(unsigned index) const noexcept { words_[index / 64] &= ~(std::uint64_t{1} << (index % 64)); }
  bool empty() const noexcept {
    for (unsigned i = 0; i < count_; ++i) {
      if (words_[i] != 0) return false;
    }
    return true;
  }
  bool only(unsigned index) const noexcept {
    for (unsigned i = 0; i < count_; ++i) {
      if (words_[i] != (i == index / 64 ? std::uint64_t{1} << (index % 64) : 0)) return false;
    }
    return true;
  }
  /// Calls function(index) for each member; it may remove the member that it is called with.
  template <class Function>
  void for_each(Function function) const {
    for (unsigned i = 0; i < count_; ++i) {
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1) {
        function(i * 64 + static_cast<unsigned>(__builtin_ctzll(rest)));
      }
    }
  }

 private:
  std::uint64_t* words_;
  unsigned count_;
};

struct line_record {
  std::uint16_t owner_plus_one;   ///< the core that has it exclusive or modified; 0: none
  std::uint16_t writer_plus_one;  ///< the hardware thread whose attempt has written it; 0: none
  std::uint32_t reserved;
  std::uint64_t sets[];  // cores that have a copy, then hardware threads whose attempts have read it
};

class shadow {
 public:
  void set_up(unsigned line_bytes, unsigned cores, unsigned hardware_threads) noexcept;

  unsigned line_shift() const noexcept { return line_shift_; }
  line_number line_of(std::uintptr_t address) const noexcept {
    return static_cast<line_number>(address >> line_shift_);
  }
  std::uintptr_t address_of(line_number line) const noexcept { return std::uintptr_t{line} << line_shift_; }

  line_record& record(line_number line) const noexcept {
    return *reinterpret_cast<line_record*>(records_begin + line * stride_);
  }
  bit_set copies(line_record& record) const noexcept { return {record.sets, core_words_}; }
  bit_set readers(line_record& record) const noexcept { return {record.sets + core_words_, thread_words_}; }

 private:
  unsigned line_shift_ = 6;
  unsigned core_words_ = 1;
  unsigned thread_words_ = 1;
  std::size_t stride_ = 0;
};

}  // namespace txsync::sim
