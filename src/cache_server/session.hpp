// SPDX-License-Identifier: Apache-2.0
// The cache as the server sees it, independent of its locks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "workloads/cache/request.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

namespace cache = workloads::cache;

/// One thread's access to the cache.
class session {
 public:
  virtual ~session() = default;
  /// Runs a request for a key. A release or put needs the key of its item.
  virtual void run(const cache::item_key& key, cache::request& asked) = 0;
  /// Flushes the whole cache.
  virtual void flush(cache::request& asked) = 0;
  virtual cache::statistics told() = 0;
};

class served_cache {
 public:
  virtual ~served_cache() = default;
  virtual std::unique_ptr<session> open() = 0;
  /// Null, or what is wrong with the cache's data. Requires: no thread uses the cache.
  virtual const char* complaint() const = 0;
};

struct cache_shape {
  std::size_t bytes = 0;      ///< for items
  std::uint32_t stripes = 1;  ///< 1: two global locks
};

/// Null if the machine has not enough memory. Requires: known_lock(lock).
std::unique_ptr<served_cache> make_cache(std::string_view lock, const cache_shape& shape);
bool known_lock(std::string_view lock);
/// The names of all locks.
std::string lock_names(std::string_view separator = ", ");

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server
