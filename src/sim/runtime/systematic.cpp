// SPDX-License-Identifier: Apache-2.0
#include "systematic.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "exploration.hpp"
#include "failure.hpp"
#include "held_locks.hpp"
#include "program_steps.hpp"
#include "records.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

constexpr unsigned max_explored_threads = 64;
constexpr std::size_t max_choices = std::size_t{1} << 20;
constexpr std::size_t max_touches = std::size_t{1} << 20;
constexpr unsigned word_bytes = 8;

struct sleeper {
  std::uint32_t thread;
  std::size_t first;  ///< of its touches in sleeping_touches
  std::size_t end;
};

constinit growing_list<std::uint32_t> choices;
constinit growing_list<segment_touch> sleeping_touches;
constinit sleeper sleepers[max_explored_threads] = {};
constinit unsigned sleeper_count = 0;

constinit std::size_t made_choices = 0;
constinit const thread_record* of_segment = nullptr;
constinit growing_list<segment_touch> touches;
constinit bool passes = false;

/// Calls each(touch) for the words of an access.
template <class Each>
void for_words(std::uintptr_t address, std::size_t bytes, bool write, Each each) noexcept {
  const std::uintptr_t end = address + bytes;
  for (std::uintptr_t word = address / word_bytes * word_bytes; word < end; word += word_bytes) {
    const unsigned from = word < address ? static_cast<unsigned>(address - word) : 0;
    const unsigned to = word + word_bytes > end ? static_cast<unsigned>(end - word) : word_bytes;
    each(segment_touch{word, (1u << to) - (1u << from), write ? 1u : 0u});
  }
}

bool wakes_up(const sleeper& one) noexcept {
  for (std::size_t i = one.first; i < one.end; ++i) {
    if (sleeping_touches[i].word == whole_process) return true;
    for (const segment_touch& made : touches) {
      if (are_dependent(sleeping_touches[i], made)) return true;
    }
  }
  return false;
}

bool is_asleep(const thread_record& thread) noexcept {
  for (unsigned i = 0; i < sleeper_count; ++i) {
    if (sleepers[i].thread == thread.id) return true;
  }
  return false;
}

void end_segment() noexcept {
  if (of_segment == nullptr) return;
  for (const segment_touch& one : touches) write_record(one);
  // The sleeping threads are those before the last of the given choices.
  if (made_choices >= choices.size()) {
    unsigned left = 0;
    for (unsigned i = 0; i < sleeper_count; ++i) {
      if (!wakes_up(sleepers[i])) sleepers[left++] = sleepers[i];
    }
    sleeper_count = left;
  }
  touches.clear();
  of_segment = nullptr;
}

void begin_segment(const thread_record& thread, std::uint64_t enabled) noexcept {
  ++made_choices;
  of_segment = &thread;
  write_record(segment_begin{thread.id, enabled});
}

[[noreturn]] void end_redundant() noexcept {
  write_record(number_record::redundant, 1);
  write_exploration();
  flush_records();
  _exit(0);
}

/// That is no fault of the program.
[[noreturn]] void refuse(const char* why) noexcept {
  write_record(number_record::unexplorable, 1);
  line_text line;
  line << "the systematic order cannot explore this program: " << why;
  fail(line);
}

std::uint64_t bit_of(const thread_record& thread) noexcept {
  if (thread.id >= max_explored_threads) refuse("it has more than 64 threads");
  return std::uint64_t{1} << thread.id;
}

/// The thread of the last segment, if it may go on; else the next one by number.
thread_record* usual_choice(thread_record* const* able, unsigned count, std::uint32_t last) noexcept {
  thread_record* next = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (is_asleep(*able[i])) continue;
    if (able[i]->id == last && !passes) return able[i];
    const auto distance = [&](const thread_record* one) noexcept {
      return (one->id + max_explored_threads - last - 1) % max_explored_threads;
    };
    if (next == nullptr || distance(able[i]) < distance(next)) next = able[i];
  }
  return next;
}

std::uint64_t next_number(int file) noexcept {
  std::uint64_t number = 0;
  if (read(file, &number, sizeof number) != sizeof number) refuse("its choices are cut short");
  return number;
}

void read_choices(int file) noexcept {
  for (std::uint64_t left = next_number(file); left != 0; --left)
    if (!choices.push(static_cast<std::uint32_t>(next_number(file)))) refuse("an execution has too many choices");
  for (std::uint64_t left = next_number(file); left != 0 && sleeper_count < max_explored_threads; --left) {
    sleeper& one = sleepers[sleeper_count++];
    one.thread = static_cast<std::uint32_t>(next_number(file));
    one.first = sleeping_touches.size();
    for (std::uint64_t touched = next_number(file); touched != 0; --touched) {
      segment_touch touch{.word = next_number(file)};
      touch.bytes = static_cast<std::uint32_t>(next_number(file));
      touch.written = static_cast<std::uint32_t>(next_number(file));
      if (!sleeping_touches.push(touch)) refuse("there is no room for what sleeping threads would touch");
    }
    one.end = sleeping_touches.size();
  }
}

}  // namespace

void set_up_systematic(const char* path) noexcept {
  choices.reserve_for(max_choices, "choices");
  touches.reserve_for(max_touches, "accesses of a segment");
  sleeping_touches.reserve_for(max_touches, "accesses of sleeping threads");
  if (path != nullptr) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) refuse("its choices cannot be read");
    read_choices(file);
    close(file);
  }
  begin_segment(*state.current, bit_of(*state.current));
}

thread_record* choose_systematically(thread_record* const* running, unsigned count) noexcept {
  thread_record* able[max_explored_threads];
  unsigned able_count = 0;
  std::uint64_t enabled = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (!can_go_on(*running[i])) continue;
    enabled |= bit_of(*running[i]);
    able[able_count++] = running[i];
  }
  if (able_count == 0) {
    end_segment();
    return nullptr;
  }
  // What comes after the end of another thread is a segment of its own: what comes before may also come before that.
  if (able_count == 1 && able[0] == of_segment && of_segment->asked_thread == nullptr) return able[0];
  const std::uint32_t last = of_segment != nullptr ? of_segment->id : 0;
  end_segment();
  thread_record* chosen = nullptr;
  if (made_choices < choices.size()) {
    for (unsigned i = 0; i < able_count; ++i) chosen = able[i]->id == choices[made_choices] ? able[i] : chosen;
    if (chosen == nullptr) refuse("with the same choices, it does not do the same again");
  } else {
    chosen = usual_choice(able, able_count, last);
    if (chosen == nullptr) end_redundant();
  }
  passes = false;
  begin_segment(*chosen, enabled);
  return chosen;
}

void passes_in_systematic() noexcept { passes = true; }

void touches_in_segment(std::uintptr_t address, std::size_t bytes, bool write) noexcept {
  // Two calls do not depend on each other because the library counts both.
  if (of_segment == nullptr || is_library_data(address) || state.current->calls_lock) return;
  for_words(address, bytes, write, [](const segment_touch& one) noexcept {
    constexpr std::size_t looked_at = 32;
    const std::size_t from = touches.size() > looked_at ? touches.size() - looked_at : 0;
    for (std::size_t i = from; i < touches.size(); ++i) {
      segment_touch& before = touches[i];
      if (before.word != one.word || before.written != one.written) continue;
      before.bytes |= one.bytes;
      return;
    }
    if (!touches.push(one)) refuse("a thread touches too much memory between two choices");
  });
}

void makes_runnable_in_segment(const thread_record& thread) noexcept {
  if (of_segment != nullptr) write_record(segment_event{segment_event_kind::makes_runnable, thread.id});
}
void joins_in_segment(const thread_record& ended) noexcept {
  if (of_segment != nullptr) write_record(segment_event{segment_event_kind::joins, ended.id});
}
void happens_in_segment(segment_event_kind kind, const void* object) noexcept {
  if (of_segment != nullptr) write_record(segment_event{kind, reinterpret_cast<std::uintptr_t>(object)});
}
void ends_process_in_segment() noexcept {
  if (of_segment != nullptr) touches.push({whole_process, 1, 1});
}

void end_segments() noexcept {
  end_segment();
  for (unsigned i = 0; i < state.thread_count; ++i) {
    const thread_record& thread = state.threads[i];
    if (thread.state != thread_state::running || can_go_on(thread)) continue;
    const auto at = [](const void* object) noexcept {
      return reinterpret_cast<std::uintptr_t>(object) / word_bytes * word_bytes;
    };
    if (thread.asked_semaphore != nullptr) {
      write_record(awaited_touch{thread.id, at(thread.asked_semaphore), 1, 1});
    } else if (thread.asked_lock != nullptr) {
      write_record(awaited_touch{thread.id, at(thread.asked_lock), asks_for_reading(thread) ? 0u : 1u, 0});
    }
  }
}

}  // namespace txsync::sim
