// SPDX-License-Identifier: Apache-2.0
#include "uniform_walk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "failure.hpp"
#include "layout.hpp"
#include "records.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

constexpr unsigned word_bytes = 8;
constexpr std::size_t max_uses = std::size_t{1} << 16;  // what comes beyond them is not interesting

struct counted_use : word_use {
  std::uint32_t number = 0;  ///< in the order in which they came
};

struct counted_uses {
  growing_list<counted_use> uses;
  /// The first use of each word that several threads use. They are in the order in which the words were used first: it
  /// does not depend on where the heap has its blocks.
  growing_list<std::uint32_t> words;
  std::uint16_t creators[max_threads] = {};
  unsigned threads = 0;  ///< the numbers of all others are higher
};
constinit counted_uses of_usual_steps{};
constinit counted_uses of_all_steps{};
constinit counted_uses* counted = &of_usual_steps;
constinit std::uint32_t* slots = nullptr;  // while counting: by hash, one more than the number of the use; 0: none
constexpr std::size_t all_slots = 2 * max_uses;

// Of the schedule:
constinit std::uint64_t word = 0;  // 0: none
constinit std::uint32_t left[max_threads] = {};
constinit bool started[max_threads] = {};
constinit unsigned drawn = 0;
constinit std::uint64_t all_left = 0;

void make_room() noexcept {
  counted->uses.reserve_for(max_uses, "uses of words");
  counted->words.reserve_for(max_uses, "words");
}

counted_use* find_use(std::uint64_t address, std::uint32_t thread) noexcept {
  growing_list<counted_use>& uses = counted->uses;
  const std::uint64_t hash = (address / word_bytes ^ std::uint64_t{thread} << 32) * 0x9E3779B97F4A7C15u;
  for (std::size_t at = hash >> 47;; ++at) {
    std::uint32_t& slot = slots[at % all_slots];
    if (slot != 0 && (uses[slot - 1].address != address || uses[slot - 1].thread != thread)) continue;
    const auto number = static_cast<std::uint32_t>(uses.size());
    if (slot == 0 && !uses.push({{.address = address, .thread = thread}, number})) return nullptr;
    if (slot == 0) slot = static_cast<std::uint32_t>(uses.size());
    return &uses[slot - 1];
  }
}

bool is_before(const counted_use& a, const counted_use& b) noexcept {
  return a.address != b.address ? a.address < b.address : a.thread < b.thread;
}

/// Calls each(FIRST, END) for the uses of each word that several threads use, and one of them writes.
template <class Each>
void for_shared_words(Each each) noexcept {
  growing_list<counted_use>& uses = counted->uses;
  for (std::size_t first = 0, end = 0; first < uses.size(); first = end) {
    bool written = false;
    for (; end < uses.size() && uses[end].address == uses[first].address; ++end) written |= uses[end].written;
    if (written && end - first > 1) each(first, end);
  }
}

void find_shared_words() noexcept {
  std::sort(counted->uses.begin(), counted->uses.end(), is_before);
  counted->words.clear();
  for_shared_words([](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      counted->uses[first].number = std::min(counted->uses[first].number, counted->uses[i].number);
    counted->words.push(static_cast<std::uint32_t>(first));
  });
  std::sort(counted->words.begin(), counted->words.end(), [](std::uint32_t a, std::uint32_t b) noexcept {
    return counted->uses[a].number < counted->uses[b].number;
  });
  for (const counted_use& one : counted->uses) {
    counted->creators[one.thread] = static_cast<std::uint16_t>(one.creator);
    counted->threads = std::max(counted->threads, std::max(one.thread, one.creator) + 1);
  }
}

/// The thread itself, or the one that is to start it or its creator.
unsigned owner_of(unsigned thread) noexcept {
  for (unsigned generations = 0; !started[thread] && generations < counted->threads; ++generations)
    thread = counted->creators[thread];
  return thread;
}

std::uint64_t left_of(unsigned owner) noexcept {
  std::uint64_t sum = 0;
  for (unsigned thread = 0; thread < counted->threads; ++thread) {
    if (left[thread] != 0 && owner_of(thread) == owner) sum += left[thread];
  }
  return sum;
}

void draw() noexcept {
  if (all_left == 0) return;
  std::uint64_t rest = state.random.below(all_left);
  for (unsigned thread = 0; thread < counted->threads; ++thread) {
    if (rest < left[thread]) {
      drawn = owner_of(thread);
      return;
    }
    rest -= left[thread];
  }
}

bool is_interesting(const thread_record& thread) noexcept {
  const byte_range& next = thread.next_access;
  return word != 0 && next.bytes != 0 && next.from < word + word_bytes && word < next.from + next.bytes;
}

}  // namespace

void choose_uses(bool with_all_steps) noexcept { counted = with_all_steps ? &of_all_steps : &of_usual_steps; }

void count_word_uses() noexcept {
  make_room();
  counted->uses.clear();
  if (slots == nullptr)
    slots = static_cast<std::uint32_t*>(reserve(0, all_slots * sizeof *slots, "uses of words"));
  else
    std::fill(slots, slots + all_slots, 0);
  state.counts_uses = true;
}

void count_use(const thread_record& thread) noexcept {
  const byte_range& next = thread.next_access;
  for (std::uintptr_t at = next.from / word_bytes * word_bytes; at < next.from + next.bytes; at += word_bytes) {
    counted_use* const use = find_use(at, thread.id);
    if (use == nullptr) return;
    ++use->count;
    use->creator = thread.creator;
    use->written |= thread.next_writes;
  }
}

void walk_by_counted_uses() noexcept {
  state.counts_uses = false;
  find_shared_words();
}

void walk_by_uses_of(const char* path) noexcept {
  make_room();
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  std::uint64_t one[word_use::members];
  ssize_t size = 0;
  while (file >= 0 && (size = read(file, one, sizeof one)) == sizeof one) {
    if (one[1] >= max_threads || one[2] >= max_threads) continue;
    counted->uses.push({{.address = one[0],
                         .thread = static_cast<std::uint32_t>(one[1]),
                         .creator = static_cast<std::uint32_t>(one[2]),
                         .count = static_cast<std::uint32_t>(one[3]),
                         .written = static_cast<std::uint32_t>(one[4])},
                        static_cast<std::uint32_t>(counted->uses.size())});
  }
  if (file < 0 || size != 0) {
    line_text line;
    line << "cannot read the uses of words in " << path;
    fail(line);
  }
  close(file);
  find_shared_words();
}

void write_word_uses() noexcept {
  if (!state.counts_uses) return;
  find_shared_words();
  for_shared_words([](std::size_t first, std::size_t end) {
    for (; first < end; ++first) write_record<word_use>(counted->uses[first]);
  });
}

void begin_walk() noexcept {
  word = all_left = 0;
  drawn = state.current->id;
  growing_list<counted_use>& uses = counted->uses;
  growing_list<std::uint32_t>& words = counted->words;
  if (words.size() == 0) return;
  std::fill(left, left + counted->threads, 0);
  std::fill(started, started + counted->threads, false);
  started[drawn] = true;
  std::size_t use = words[state.random.below(words.size())];
  word = uses[use].address;
  for (; use < uses.size() && uses[use].address == word; ++use) {
    left[uses[use].thread] = uses[use].count;
    all_left += uses[use].count;
  }
  draw();
}

bool waits_in_walk(const thread_record& thread) noexcept {
  return all_left != 0 && thread.id != drawn && is_interesting(thread);
}

std::uint32_t interesting_left(const thread_record& thread) noexcept { return left[thread.id]; }

void draw_in_walk(const thread_record& thread) noexcept { drawn = thread.id; }

bool goes_on_in_walk(const thread_record& thread) noexcept {
  if (!is_interesting(thread)) return false;
  if (left[thread.id] != 0) {
    --left[thread.id];
    --all_left;
  }
  draw();
  return true;
}

void started_in_walk(const thread_record& thread) noexcept {
  if (word == 0 || thread.id >= counted->threads || started[thread.id]) return;
  const std::uint64_t before = left_of(thread.creator);
  started[thread.id] = true;
  if (drawn != thread.creator || before == 0) return;
  if (state.random.below(before) >= left_of(thread.creator)) drawn = thread.id;
}

}  // namespace txsync::sim
