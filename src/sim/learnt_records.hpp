// SPDX-License-Identifier: Apache-2.0
// Records from which the process that started an image learns how to make the next schedules. They are a part of the
// protocol (protocol.hpp).
#pragma once

#include <cstdint>

namespace txsync::sim {

/// An instruction of the program that has accessed memory that several threads use, and that one of them writes.
struct shared_instruction {
  static constexpr char record_name[] = "shared";
  std::uint64_t code = 0;  ///< the instruction after it

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.address(self.code);
  }
};

/// How often a thread has accessed eight bytes of memory at a step.
struct word_use {
  static constexpr char record_name[] = "word_use";
  static constexpr unsigned members = 5;
  std::uint64_t address = 0;
  std::uint32_t thread = 0;
  std::uint32_t creator = 0;  ///< the thread that has started it
  std::uint32_t count = 0;
  std::uint32_t written = 0;  ///< whether one of the accesses was a write

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.address(self.address);
    words.number(self.thread);
    words.number(self.creator);
    words.number(self.count);
    words.number(self.written);
  }
};

/// In the order systematic: a thread goes on. What it does until the next choice is a segment; its touches and events
/// follow.
struct segment_begin {
  static constexpr char record_name[] = "segment";
  std::uint32_t thread = 0;
  std::uint64_t enabled = 0;  ///< the threads that could have gone on, a bit for each

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.number(self.thread);
    words.number(self.enabled);
  }
};

/// Bytes of a word of memory that a segment has accessed, a bit for each.
struct segment_touch {
  static constexpr char record_name[] = "touch";
  std::uint64_t word = 0;  ///< its address
  std::uint32_t bytes = 0;
  std::uint32_t written = 0;  ///< whether

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.address(self.word);
    words.number(self.bytes);
    words.number(self.written);
  }
};

enum class segment_event_kind : std::uint8_t {
  makes_runnable,  ///< a thread; it has started it or woken it
  joins,           ///< a thread that has ended
  takes,           ///< the lock at an address
  gives_up,
  waits_at  ///< the semaphore at an address: it could go on only where that was not 0
};
inline constexpr unsigned segment_event_kinds = 5;

struct segment_event {
  static constexpr char record_name[] = "event";
  segment_event_kind kind = segment_event_kind::makes_runnable;
  std::uint64_t of = 0;

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.choice(self.kind, segment_event_kinds);
    words.number(self.of);
  }
};

}  // namespace txsync::sim
