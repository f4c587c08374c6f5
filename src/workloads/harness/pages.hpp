// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include <txsync/machine/cpu.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// Pages like those of machine::map_pages(), but pages of an earlier run may be reused with their content. So whether
/// an array is on large pages does not change from one lock's run to the next.
void* take_pages(std::size_t bytes) noexcept;
void give_pages(void* address, std::size_t bytes) noexcept;

/// An array of value-initialised objects in its own pages: page-aligned, away from the heap, and every page touched
/// before anything is measured. Empty if the machine has not enough memory; ask ok(). Its destructor destroys the
/// cells.
template <class Cell>
class page_array {
 public:
  explicit page_array(std::size_t size) noexcept
      : cells_(size <= most ? static_cast<Cell*>(take_pages(size * cell_bytes)) : nullptr), size_(size) {
    if (ok()) std::uninitialized_value_construct_n(cells_, size_);
  }
  page_array(const page_array&) = delete;
  page_array& operator=(const page_array&) = delete;
  ~page_array() {
    if (!ok()) return;
    std::destroy_n(cells_, size_);
    give_pages(static_cast<void*>(cells_), size_ * cell_bytes);
  }

  bool ok() const noexcept { return cells_ != nullptr; }
  std::size_t size() const noexcept { return size_; }
  Cell* data() noexcept { return cells_; }
  const Cell* data() const noexcept { return cells_; }
  Cell& operator[](std::size_t index) noexcept { return cells_[index]; }
  const Cell& operator[](std::size_t index) const noexcept { return cells_[index]; }
  Cell* begin() noexcept { return cells_; }
  Cell* end() noexcept { return cells_ + size_; }
  const Cell* begin() const noexcept { return cells_; }
  const Cell* end() const noexcept { return cells_ + size_; }

 private:
  static constexpr std::size_t most = std::size_t{1} << 40;
  static constexpr std::size_t cell_bytes = sizeof(Cell);  // NOLINT(bugprone-sizeof-expression): pointers too

  Cell* cells_;
  std::size_t size_;
};

/// An object alone on its cache lines.
template <class Object>
struct alignas(machine::pad_bytes) padded {
  Object object{};
};

inline constexpr const char* no_memory = "the machine has no memory for the data of this workload";

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
