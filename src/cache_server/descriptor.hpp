// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <utility>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

/// A file descriptor that the destructor closes.
class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }

  int get() const noexcept { return number_; }
  bool ok() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server
