// SPDX-License-Identifier: Apache-2.0
// The cache as the server sees it: whatever its locks are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "workloads/cache/request.hpp"

namespace txsync::inline TXSYNC_BACKEND::cache_server {

namespace cache = workloads::cache;

/// One thread's way to the cache.
class session {
 public:
  virtual ~session() = default;
  /// Runs a request about a key; release and put need the key of their item.
  virtual void run(const cache::item_key& key, cache::request& asked) = 0;
  /// In all of the cache.
  virtual void flush(cache::request& asked) = 0;
  virtual cache::statistics told() = 0;
};

class served_cache {
 public:
  virtual ~served_cache() = default;
  virtual std::unique_ptr<session> open() = 0;
  /// Null, or what is wrong with its data. Requires: no thread is in it.
  virtual const char* complaint() const = 0;
};

struct cache_shape {
  std::size_t bytes = 0;      ///< of items
  std::uint32_t stripes = 1;  ///< 1: two global locks
};

/// Null where the machine has no memory for it. Requires: known_lock(lock).
std::unique_ptr<served_cache> make_cache(std::string_view lock, const cache_shape& shape);
bool known_lock(std::string_view lock);
/// All of them.
std::string lock_names(std::string_view separator = ", ");

}  // namespace txsync::inline TXSYNC_BACKEND::cache_server
