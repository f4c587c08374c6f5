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

/// The end of the process depends on whatever else happens. It is a touch of this word.
inline constexpr std::uint64_t whole_process = ~std::uint64_t{0};

/// Whether the order of the two matters.
constexpr bool are_dependent(const segment_touch& a, const segment_touch& b) noexcept {
  if (a.word == whole_process || b.word == whole_process) return true;
  return a.word == b.word && (a.bytes & b.bytes) != 0 && (a.written != 0 || b.written != 0);
}

/// At the end of a run, a thread still waits. What it would touch then.
struct awaited_touch {
  static constexpr char record_name[] = "awaited";
  std::uint32_t thread = 0;
  std::uint64_t word = 0;
  std::uint32_t written = 0;
  std::uint32_t is_semaphore = 0;  ///< else it is a lock

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.number(self.thread);
    words.address(self.word);
    words.number(self.written);
    words.number(self.is_semaphore);
  }
};

enum class segment_event_kind : std::uint8_t {
  makes_runnable,  ///< a thread; it has started it or woken it
  joins,           ///< a thread that has ended
  takes,           ///< the lock at an address; it could go on only where nobody held that
  takes_by_try,    ///< the same by a try, which could go on anywhere
  gives_up,        ///< altogether, if it was taken several times
  waits_at,        ///< the semaphore at an address: it could go on only where that was not 0
  waits_shortly    ///< for a time that may end at any step; the systematic order has no such steps
};
inline constexpr unsigned segment_event_kinds = 7;

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
