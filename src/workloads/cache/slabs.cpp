// SPDX-License-Identifier: Apache-2.0
#include "workloads/cache/slabs.hpp"

#include <array>

#include "workloads/harness/pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

namespace {

/// Items are whole lines, so that no two share a line.
constexpr std::size_t line = 64;
constexpr std::size_t smallest = 2 * line;

constexpr std::size_t next_size(std::size_t size) noexcept {
  const std::size_t next = (size + size / 4 + line - 1) / line * line;
  return next < largest_item ? next : largest_item;
}

struct size_table {
  std::array<std::size_t, slabs::max_classes> sizes{};
  unsigned classes = 0;

  constexpr size_table() noexcept {
    for (std::size_t size = smallest;; size = next_size(size)) {
      sizes.at(classes++) = size;
      if (size == largest_item) return;
    }
  }
};
constexpr size_table table;

/// How much memory the first runs of all classes may take beyond the limit.
constexpr std::size_t bytes_of_first_runs() noexcept {
  constexpr std::size_t usual_run = std::size_t{64} << 10;
  std::size_t sum = 0;
  for (unsigned i = 0; i < table.classes; ++i) sum += table.sizes[i] > usual_run ? table.sizes[i] : usual_run;
  return sum;
}

}  // namespace

slabs::slabs(std::size_t limit, bool first_runs) noexcept
    : limit_(limit),
      first_runs_(first_runs),
      bytes_(limit + (first_runs ? bytes_of_first_runs() : 0)),
      memory_(static_cast<char*>(take_pages(bytes_))) {}

slabs::~slabs() {
  if (ok()) give_pages(memory_, bytes_);
}

unsigned slabs::class_of(std::size_t bytes) noexcept {
  unsigned low = 0;
  unsigned high = table.classes;
  while (low < high) {  // finds the first that is large enough
    const unsigned middle = (low + high) / 2;
    if (table.sizes[middle] < bytes) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < table.classes ? low : max_classes;
}

std::size_t slabs::size_of(unsigned size_class) noexcept { return table.sizes[size_class]; }

std::uint64_t slabs::carved() const noexcept { return carved_; }

std::uint64_t slabs::free_items(std::uint64_t most) const noexcept {
  std::uint64_t seen = 0;
  for (const size_list& list : lists_) {
    for (const item* one = list.free; one != nullptr && seen <= most; one = one->next) ++seen;
  }
  return seen;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache
