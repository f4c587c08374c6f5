// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/hashmap.hpp"

#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum map_key : unsigned {
  map_buckets,
  map_locking,
  map_items,
  map_values,
  map_reads,
  map_removes,
  map_alignment,
  map_allocation
};
enum : std::uint64_t { lock_a_bucket, lock_all_buckets };
constexpr const char* map_lockings[] = {"bucket", "global"};
constexpr const char* removals[] = {"own", "drawn"};
constexpr std::uint64_t int_max = 0x7FFF'FFFF;

constexpr parameter map_keys[] = {
    {"buckets", 100, 1, 1'000'000, "the map's size, which stays"},
    {"locking", lock_a_bucket, lock_a_bucket, lock_all_buckets, "bucket: a lock a bucket; global: one for all",
     map_lockings},
    {"items", 1'000, 0, 10'000'000, "values in the map at the start"},
    {"values", int_max, 1, int_max, "values are below this; none is in the map twice"},
    {"reads", 50, 0, 100, "percent of operations that look a value up; half of the others insert, half remove"},
    {"removes", 0, 0, 1, "own: the oldest value that the thread has inserted; drawn: any, which is seldom there",
     removals},
    {"alignment", 0, 0, 1, "aligned: each item alone on 64 bytes; malloc: as malloc gives it", alignments},
    {"allocation", 0, 0, 1, "outside: items are taken and given back before and after the section; inside: in it",
     allocation_places},
};

constexpr setting bucket_10[] = {{"buckets", 10}};
constexpr setting bucket_100[] = {{"buckets", 100}};
constexpr setting bucket_1000[] = {{"buckets", 1'000}};
constexpr setting global_1000[] = {{"buckets", 1'000}, {"locking", lock_all_buckets}};
constexpr setting large[] = {{"buckets", 1'000'000}, {"locking", lock_all_buckets},
                             {"items", 2'000'000},   {"values", 4'000'000},
                             {"reads", 80},          {"removes", 1}};
constexpr setting map_inside[] = {{"buckets", 100}, {"allocation", 1}};

constexpr preset map_presets[] = {
    {"bucket-10", "thesis on TSX in InnoDB, Fig 3.18, 10 buckets", bucket_10, 4},
    {"bucket-100", "thesis on TSX in InnoDB, Fig 3.18, 100 buckets", bucket_100, 4},
    {"bucket-1000", "thesis on TSX in InnoDB, Fig 3.19, a mutex a bucket", bucket_1000, 4},
    {"global-1000", "thesis on TSX in InnoDB, Fig 3.19, a global mutex", global_1000, 4},
    {"large", "txsync: 190 MB under one lock, for warm-up", large},
    {"malloc-inside", "thesis on TSX in InnoDB, 3.3.4: what it avoids", map_inside, 4},
};

const char* map_contradiction(const parameters& values) noexcept {
  return values[map_values] < values[map_items] ? "items is greater than values: there are not so many different ones"
                                                : nullptr;
}

}  // namespace

constinit const workload hashmap_workload{
    .name = "hashmap",
    .summary = "lookups, insertions and removals in a hash map of linked lists, a lock a bucket or one for all",
    .operation = "operations",
    .keys = map_keys,
    .presets = map_presets,
    .contradiction = map_contradiction,
};

std::unique_ptr<structure> make_hashmap(const parameters& values, const plan& how) {
  auto made = std::make_unique<value_map>(values, how);
  return made->ok() ? std::move(made) : nullptr;
}

value_map::value_map(const parameters& values, const plan& how)
    : value_set({.items = values[map_items],
                 .values = values[map_values],
                 .reads = values[map_reads],
                 .unique = true,
                 .aligned = values[map_alignment] == 0,
                 .allocates_inside = values[map_allocation] != 0,
                 .removes_own = values[map_removes] == 0},
                how),
      one_lock_(values[map_locking] == lock_all_buckets),
      buckets_(values[map_buckets]) {
  filled_ = visitors_ok() && buckets_.ok() && fill(how.seed);
}

template <class Memory>
item** value_map::link_to(std::uint32_t value, Memory& memory) noexcept {
  item** link = &head(bucket_of(value));
  item* one = memory.load(*link);
  while (one != nullptr && memory.load(one->value) != value) {
    link = &one->next;
    one = memory.load(*link);
  }
  return link;
}

bool value_map::find(std::uint32_t value) const noexcept {
  section_memory memory;
  return *const_cast<value_map*>(this)->link_to(value, memory) != nullptr;
}

bool value_map::insert(item* fresh) noexcept {
  section_memory memory;
  item** const link = link_to(fresh->value, memory);
  if (*link != nullptr) return false;
  *link = fresh;
  return true;
}

item* value_map::remove(std::uint32_t value) noexcept {
  section_memory memory;
  item** const link = link_to(value, memory);
  item* const gone = *link;
  if (gone != nullptr) *link = gone->next;
  return gone;
}

void value_map::foretell(std::uint32_t value, bool changes, warm_memory& memory) noexcept {
  item** const link = link_to(value, memory);
  if (changes) memory.store(*link, nullptr);
}

const char* value_map::wrong_at(unsigned chain, const item*, const item& one) const noexcept {
  return bucket_of(one.value) == chain ? nullptr : "a value is in another bucket than its own";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
