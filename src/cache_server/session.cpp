// SPDX-License-Identifier: Apache-2.0
#include "cache_server/session.hpp"

#include <vector>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warming.hpp>

#include "workloads/cache/locked.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

namespace {

using workloads::lockable;
using workloads::warmed;
using workloads::warmed_with_node;
using workloads::with_node;

constinit site_with_policy eager_site{"cache.eager", warm_up_presets::eager, site::counting::off};

/// A lock whose waiters always warm up.
template <class Warming>
class eager : public Warming {
 public:
  eager() noexcept : Warming(eager_site) {}
};

template <class Adapter>
class locked_session final : public session {
 public:
  explicit locked_session(cache::locked<Adapter>& data) noexcept : data_(data) {}
  void run(const cache::item_key& key, cache::request& asked) override { data_.run(slots_, key, asked); }
  void flush(cache::request& asked) override { data_.flush(slots_, asked); }
  cache::statistics told() override { return data_.told(slots_); }

 private:
  cache::locked<Adapter>& data_;
  cache::lock_slots<Adapter> slots_;
};

template <class Adapter>
class locked_cache final : public served_cache {
 public:
  explicit locked_cache(const std::vector<cache::store_shape>& shapes) : data_(shapes) {}
  bool ok() const noexcept { return data_.ok(); }
  std::unique_ptr<session> open() override { return std::make_unique<locked_session<Adapter>>(data_); }
  const char* complaint() const override { return data_.complaint(); }

 private:
  cache::locked<Adapter> data_;
};

template <class Adapter>
std::unique_ptr<served_cache> make(const std::vector<cache::store_shape>& shapes) {
  auto made = std::make_unique<locked_cache<Adapter>>(shapes);
  return made->ok() ? std::unique_ptr<served_cache>(std::move(made)) : nullptr;
}

struct kind {
  std::string_view name;
  std::unique_ptr<served_cache> (*make)(const std::vector<cache::store_shape>& shapes);
};

constexpr kind kinds[] = {
    {"mutex", make<lockable<mutex>>},
    {"futex", make<lockable<futex_mutex>>},
    {"pthread", make<lockable<posix_mutex>>},
    {"tatas", make<lockable<tatas_lock>>},
    {"ticket", make<lockable<ticket_lock>>},
    {"mcs", make<with_node<mcs_lock>>},
    {"elided-futex", make<lockable<elided<futex_mutex>>>},
    {"elided-tatas", make<lockable<elided<tatas_lock>>>},
    {"elided-mcs", make<with_node<elided_with_node<mcs_lock>>>},
    {"warm-mutex", make<warmed<warming<mutex>>>},
    {"warm-tatas", make<warmed<warming<tatas_lock>>>},
    {"warm-ticket", make<warmed<warming<ticket_lock>>>},
    {"warm-mcs", make<warmed_with_node<warming_with_node<mcs_lock>>>},
    {"eager-warm-mutex", make<warmed<eager<warming<mutex>>>>},
    {"eager-warm-ticket", make<warmed<eager<warming<ticket_lock>>>>},
    {"eager-warm-mcs", make<warmed_with_node<eager<warming_with_node<mcs_lock>>>>},
};

const kind* find(std::string_view lock) noexcept {
  for (const kind& one : kinds) {
    if (one.name == lock) return &one;
  }
  return nullptr;
}

}  // namespace

bool known_lock(std::string_view lock) { return find(lock) != nullptr; }

std::string lock_names(std::string_view separator) {
  std::string all;
  for (const kind& one : kinds) all.append(all.empty() ? "" : separator).append(one.name);
  return all;
}

std::unique_ptr<served_cache> make_cache(std::string_view lock, const cache_shape& shape) {
  TXSYNC_ASSERT(known_lock(lock), "the cache's lock is a known one");
  const std::size_t bytes = shape.bytes / shape.stripes;
  constexpr std::size_t usual_item = 192;  // if items are this large, there are more buckets than items
  return find(lock)->make(std::vector<cache::store_shape>(
      shape.stripes, {.bytes = bytes, .buckets = bytes / usual_item + 1, .first_runs = true}));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server
