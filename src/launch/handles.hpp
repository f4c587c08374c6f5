// SPDX-License-Identifier: Apache-2.0
// Owners of numbers and pointers that the system gives.
#pragma once

#include <libelf.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// A file descriptor that is closed at the end of its life.
class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { reset(); }

  int get() const noexcept { return number_; }
  void reset() noexcept {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

struct elf_closer {
  void operator()(Elf* elf) const noexcept { elf_end(elf); }
};
using elf_handle = std::unique_ptr<Elf, elf_closer>;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
