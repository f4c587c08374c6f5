// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/list.hpp"

#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum list_key : unsigned { list_items, list_values, list_reads, list_alignment, list_allocation };

constexpr parameter list_keys[] = {
    {"items", 100, 0, 1'000'000, "values in the list at the start"},
    {"values", 1'000, 1, 1'000'000'000, "values are below this; one may be in the list several times"},
    {"reads", 50, 0, 100, "percent of operations that look a value up; half of the others insert, half remove"},
    {"alignment", 0, 0, 1, "aligned: each item alone on 64 bytes; malloc: as malloc gives it", alignments},
    {"allocation", 0, 0, 1, "outside: items are taken and given back before and after the section; inside: in it",
     allocation_places},
};

constexpr setting fig_3_17[] = {{"items", 100}, {"values", 1'000}, {"reads", 50}};
constexpr setting only_reads[] = {{"items", 100}, {"values", 1'000}, {"reads", 100}};
constexpr setting only_updates[] = {{"items", 100}, {"values", 1'000}, {"reads", 0}};
constexpr setting unaligned[] = {{"items", 100}, {"values", 1'000}, {"reads", 50}, {"alignment", 1}};
constexpr setting inside[] = {{"items", 100}, {"values", 1'000}, {"reads", 50}, {"allocation", 1}};

constexpr preset list_presets[] = {
    {"thesis", "thesis on TSX in InnoDB, Fig 3.17, 50 % read", fig_3_17, 2},
    {"read-only", "thesis on TSX in InnoDB, Fig 3.17, 100 % read", only_reads, 2},
    {"update-only", "thesis on TSX in InnoDB, Fig 3.17, 0 % read", only_updates, 2},
    {"unaligned", "thesis on TSX in InnoDB, Fig D.5, 50 % read", unaligned, 4},
    {"malloc-inside", "thesis on TSX in InnoDB, 3.3.3: what it avoids", inside, 2},
};

}  // namespace

constinit const workload list_workload{
    .name = "list",
    .summary = "lookups, insertions and removals in a doubly linked list under one lock",
    .operation = "operations",
    .keys = list_keys,
    .presets = list_presets,
};

std::unique_ptr<structure> make_list(const parameters& values, const plan& how) {
  auto made = std::make_unique<value_list>(values, how);
  return made->ok() ? std::move(made) : nullptr;
}

value_list::value_list(const parameters& values, const plan& how)
    : value_set({.items = values[list_items],
                 .values = values[list_values],
                 .reads = values[list_reads],
                 .unique = false,
                 .aligned = values[list_alignment] == 0,
                 .allocates_inside = values[list_allocation] != 0,
                 .removes_own = true},
                how) {
  filled_ = visitors_ok() && fill(how.seed);
}

item* value_list::item_of(std::uint32_t value) const noexcept {
  item* one = first();
  while (one != nullptr && one->value != value) one = one->next;
  return one;
}

bool value_list::insert(item* fresh) noexcept {
  item* const end = last();
  fresh->before = end;
  (end != nullptr ? end->next : first_.object) = fresh;
  last_.object = fresh;
  return true;
}

item* value_list::remove(std::uint32_t value) noexcept {
  item* const gone = item_of(value);
  if (gone == nullptr) return nullptr;
  (gone->before != nullptr ? gone->before->next : first_.object) = gone->next;
  (gone->next != nullptr ? gone->next->before : last_.object) = gone->before;
  return gone;
}

const char* value_list::wrong_at(unsigned, const item* before, const item& one) const noexcept {
  return one.before == before ? nullptr : "an item does not refer to the one before it";
}

const char* value_list::wrong_at_end(const item* end) const noexcept {
  return end == last() ? nullptr : "the end of the list is not its last item";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
