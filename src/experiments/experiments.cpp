// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

const char* to_string(quantity what) noexcept {
  switch (what) {
    case quantity::abort_rate:
      return "abort rate";
    case quantity::transactional_cycles:
      return "transactional cycles";
    case quantity::aborted_cycles:
      return "aborted cycles";
    case quantity::throughput:
      return "throughput";
    case quantity::attempt_cycles:
      return "cycles an attempt";
    case quantity::cycles_each:
      return "cycles an operation";
    case quantity::attempts_a_commit:
      return "attempts a commit";
    case quantity::conflict_aborts:
      return "aborts that are conflicts";
  }
  return "";
}

const char* unit_of(quantity what) noexcept {
  if (what == quantity::throughput) return "operations/s";
  if (what == quantity::attempts_a_commit) return "attempts";
  return what == quantity::cycles_each || what == quantity::attempt_cycles ? "cycles" : "%";
}

const char* to_string(standing how) noexcept {
  if (how == standing::closed_form) return "closed form";
  return how == standing::fit ? "fit" : "held out";
}

const std::vector<experiment>& all() {
  static const std::vector<experiment> list = [] {
    std::vector<experiment> made;
    for (auto group : {thesis_capacity, thesis_attempts, thesis_locks, thesis_counters, thesis_structures, always_abort,
                       always_abort_barrier, leveldb, shore_mt, published, closed_form_checks, whole_programs}) {
      std::vector<experiment> part = group();
      made.insert(made.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    return made;
  }();
  return list;
}

const experiment* find(std::string_view id) {
  for (const experiment& one : all()) {
    if (id == one.id) return &one;
  }
  return nullptr;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
