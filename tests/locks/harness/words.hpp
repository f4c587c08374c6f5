// SPDX-License-Identifier: Apache-2.0
// Words of locks, which tests write as if more threads had come than a test can start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <txsync/machine/cpu.hpp>

namespace conformance {

/// The word that an object begins with, or the one so many words behind it.
template <class Word, class Object>
std::atomic<Word>& word_of(Object& object, std::size_t index = 0) {
  static_assert(std::is_standard_layout_v<Object>);
  return reinterpret_cast<std::atomic<Word>*>(&object)[index];
}

inline std::uint64_t soon() { return txsync::machine::clock_ns() + 2'000'000; }

}  // namespace conformance
