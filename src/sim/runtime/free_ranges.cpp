// SPDX-License-Identifier: Apache-2.0
#include "free_ranges.hpp"

namespace txsync::sim {

std::size_t free_ranges::find(std::uintptr_t address) noexcept {
  std::size_t low = 0;
  for (std::size_t high = ranges_.size(); low < high;) {
    const std::size_t middle = (low + high) / 2;
    if (ranges_[middle].end < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void free_ranges::insert(std::size_t place, const range& one) noexcept {
  if (!ranges_.push(one)) return;
  for (std::size_t i = ranges_.size() - 1; i > place; --i) ranges_[i] = ranges_[i - 1];
  ranges_[place] = one;
}

void free_ranges::erase(std::size_t place, std::size_t count) noexcept {
  for (std::size_t i = place; i + count < ranges_.size(); ++i) ranges_[i] = ranges_[i + count];
  ranges_.shrink(ranges_.size() - count);
}

std::uintptr_t free_ranges::take(std::size_t bytes, std::size_t alignment) noexcept {
  for (const range& one : ranges_) {
    const std::uintptr_t start = (one.from + alignment - 1) & ~(alignment - 1);
    if (start >= one.end || one.end - start < bytes) continue;
    remove(start, start + bytes);
    return start;
  }
  return 0;
}

void free_ranges::remove(std::uintptr_t from, std::uintptr_t end) noexcept {
  std::size_t place = find(from + 1);
  if (place < ranges_.size() && ranges_[place].from < from) {
    const range behind{end, ranges_[place].end};
    ranges_[place].end = from;
    ++place;
    if (behind.end > behind.from) return insert(place, behind);
  }
  std::size_t whole = 0;
  while (place + whole < ranges_.size() && ranges_[place + whole].end <= end) ++whole;
  erase(place, whole);
  if (place < ranges_.size() && ranges_[place].from < end) ranges_[place].from = end;
}

void free_ranges::add(std::uintptr_t from, std::uintptr_t end) noexcept {
  const std::size_t place = find(from);
  std::size_t merged = 0;
  for (; place + merged < ranges_.size() && ranges_[place + merged].from <= end; ++merged) {
    const range& one = ranges_[place + merged];
    if (one.from < from) from = one.from;
    if (one.end > end) end = one.end;
  }
  if (merged == 0) return insert(place, {from, end});
  ranges_[place] = {from, end};
  erase(place + 1, merged - 1);
}

}  // namespace txsync::sim
