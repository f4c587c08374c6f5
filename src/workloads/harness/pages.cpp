// SPDX-License-Identifier: Apache-2.0
#include "workloads/harness/pages.hpp"

#include <iterator>

#include <txsync/locks/tatas.hpp>
#include <txsync/machine/memory.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

struct block {
  void* address = nullptr;
  std::size_t bytes = 0;
};

constexpr std::size_t max_kept_bytes = std::size_t{64} << 20;
constinit tatas_lock guard;
constinit block kept[4];  ///< given back and not taken again yet
constinit unsigned next_kept = 0;

void* take_kept(std::size_t bytes) noexcept {
  guard.lock();
  void* found = nullptr;
  for (block& one : kept) {
    if (one.address != nullptr && one.bytes == bytes) {
      found = one.address;
      one = {};
      break;
    }
  }
  guard.unlock();
  return found;
}

}  // namespace

void* take_pages(std::size_t bytes) noexcept {
  void* const again = take_kept(bytes);
  return again != nullptr ? again : machine::map_pages(bytes);
}

void give_pages(void* address, std::size_t bytes) noexcept {
  block old{address, bytes};
  if (bytes <= max_kept_bytes) {
    guard.lock();
    block& place = kept[next_kept++ % std::size(kept)];
    old = place;
    place = {address, bytes};
    guard.unlock();
  }
  if (old.address != nullptr) machine::unmap_pages(old.address, old.bytes);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
