// SPDX-License-Identifier: Apache-2.0
#include "sim/models/geometry.hpp"

#include <bit>
#include <initializer_list>
#include <string>

#include <fmt/core.h>

#include "sim/models/field.hpp"

namespace txsync::sim {
namespace {

using member = std::uint32_t machine_model::*;
using model = machine_model;
using finding = std::optional<impossibility>;

constexpr std::uint32_t max_hardware_threads = 1024;  // sets of readers are sized for it

std::string name_of(member at) { return fields()[field_index(at)].name(); }

/// "l1.kib = 32".
std::string with_value(const model& of, member at) { return fmt::format("{} = {}", name_of(at), of.*at); }

finding blame(const model& of, member at, const std::string& why, const std::string& allowed) {
  return impossibility{at, fmt::format("{} {}; allowed: {}", with_value(of, at), why, allowed)};
}

finding not_less(const model& of, member at, member than) {
  if (of.*at >= of.*than) return {};
  return blame(of, at, "is less than " + with_value(of, than), fmt::format("{} or more", of.*than));
}

finding power_of_two(const model& of, member at) {
  if (std::has_single_bit(of.*at)) return {};
  return blame(of, at, "is no power of two", "a power of two");
}

// ---- threads

finding check_threads(const model& of) {
  if (of.hardware_threads() <= max_hardware_threads) return {};
  return blame(of, &model::core_cores, fmt::format("makes {} hardware threads", of.hardware_threads()),
               fmt::format("at most {} (sockets x cores x threads)", max_hardware_threads));
}

/// A share is given for 1, 2, 4 and 8 threads of a core, as far as the core has that many. Those between are
/// interpolated, so a core with three threads needs the share of four.
finding check_shares(const model& of) {
  const struct {
    member share;
    std::uint32_t from;  // it is needed from this number of hardware threads of a core on
  } shares[] = {{&model::smt_share_2, 2}, {&model::smt_share_4, 3}, {&model::smt_share_8, 5}};
  member before = &model::smt_share_1;
  for (const auto& [share, from] : shares) {
    const std::string threads = with_value(of, &model::core_threads);
    if (of.core_threads < from) {
      if (of.*share != 0) return blame(of, share, "is for more hardware threads than " + threads, "0");
      continue;
    }
    const std::string range = fmt::format("1 to {}", of.*before);
    if (of.*share == 0) return blame(of, share, "is needed for " + threads, range);
    if (of.*share > of.*before) return blame(of, share, "is more than " + with_value(of, before), range);
    before = share;
  }
  return {};
}

// ---- caches

struct cache {
  member kib;
  member ways;
  bool power_of_two_sets;  // last levels are hashed over slices and may have any number
};

finding check_cache(const model& of, const cache& one) {
  if ((of.*one.kib == 0) != (of.*one.ways == 0)) {
    const member zero = of.*one.kib == 0 ? one.kib : one.ways;
    const member other = of.*one.kib == 0 ? one.ways : one.kib;
    return blame(of, zero, "with " + with_value(of, other), "both 0 (no such cache) or neither");
  }
  if (of.*one.kib == 0) return {};
  const std::uint64_t bytes = std::uint64_t{of.*one.kib} * 1024;
  const std::uint64_t row = std::uint64_t{of.*one.ways} * of.l1_line;
  const std::string rows = fmt::format("{} of lines of {} bytes", with_value(of, one.ways), of.l1_line);
  if (bytes % row != 0) {
    return blame(of, one.kib, "is no whole number of sets, with " + rows, "sets x ways x line");
  }
  if (one.power_of_two_sets && !std::has_single_bit(bytes / row)) {
    return blame(of, one.kib, fmt::format("makes {} sets, with {}", bytes / row, rows), "a power of two of sets");
  }
  return {};
}

finding check_caches(const model& of) {
  const cache caches[] = {{&model::l1_kib, &model::l1_ways, true},
                          {&model::l2_kib, &model::l2_ways, true},
                          {&model::l3_kib, &model::l3_ways, false}};
  for (const cache& one : caches) {
    if (const finding found = check_cache(of, one)) return found;
  }
  if (of.l2_kib != 0) {
    if (const finding found = not_less(of, &model::l2_kib, &model::l1_kib)) return found;
  }
  const member private_level = of.l2_kib != 0 ? &model::l2_kib : &model::l1_kib;
  if (of.l3_kib != 0) return not_less(of, &model::l3_kib, private_level);
  if (of.l3_inclusive != 0) return blame(of, &model::l3_inclusive, "without a last level (l3.kib = 0)", "0");
  return {};
}

// ---- times

/// Each level that exists takes at least as long as the one before it.
finding check_hit_times(const model& of) {
  member before = &model::core_access;
  const struct {
    member size;
    member hit;
  } levels[] = {{&model::l2_kib, &model::l2_hit}, {&model::l3_kib, &model::l3_hit}};
  for (const auto& [size, hit] : levels) {
    if (of.*size == 0) {
      if (of.*hit != 0)
        return blame(of, hit, "is a time of a cache that is not there (" + with_value(of, size) + ")", "0");
      continue;
    }
    if (const finding found = not_less(of, hit, before)) return found;
    before = hit;
  }
  for (const member later : {&model::memory_local, &model::memory_dirty_core}) {
    if (const finding found = not_less(of, later, before)) return found;
  }
  if (const finding found = not_less(of, &model::memory_remote, &model::memory_local)) return found;
  return not_less(of, &model::memory_dirty_socket, &model::memory_dirty_core);
}

finding check_translation(const model& of) {
  if (of.tlb_entries == 0) {
    for (const member other : {&model::tlb_second_entries, &model::tlb_second_hit, &model::tlb_walk}) {
      if (of.*other != 0) return blame(of, other, "where translation is free (tlb.entries = 0)", "0");
    }
    return {};
  }
  if (of.tlb_second_entries == 0) {
    if (of.tlb_second_hit == 0) return {};
    return blame(of, &model::tlb_second_hit, "without a second level (tlb.second_entries = 0)", "0");
  }
  if (const finding found = not_less(of, &model::tlb_second_entries, &model::tlb_entries)) return found;
  return not_less(of, &model::tlb_walk, &model::tlb_second_hit);
}

finding check_page(const model& of) {
  if (const finding found = power_of_two(of, &model::page_bytes)) return found;
  return not_less(of, &model::page_bytes, &model::l1_line);
}

finding check_prefetch(const model& of) {
  if ((of.prefetch_streams == 0) == (of.prefetch_distance == 0)) return {};
  const member zero = of.prefetch_streams == 0 ? &model::prefetch_streams : &model::prefetch_distance;
  const member other = of.prefetch_streams == 0 ? &model::prefetch_distance : &model::prefetch_streams;
  return blame(of, zero, "with " + with_value(of, other), "both 0 (no prefetcher) or neither");
}

// ---- hardware transactions

finding check_htm(const model& of) {
  if (of.htm_attempts == 0) return {};  // the other keys are not used
  if (of.htm_reads_in_entries != 0 && of.htm_entries == 0) {
    return blame(of, &model::htm_reads_in_entries, "without entries (htm.entries = 0)", "0");
  }
  if ((of.htm_hle != 0) != (of.htm_hle_locks != 0)) {
    return blame(of, &model::htm_hle_locks, "with " + with_value(of, &model::htm_hle),
                 of.htm_hle != 0 ? "1 to 16" : "0");
  }
  return {};
}

}  // namespace

finding find_impossibility(const machine_model& of) {
  for (const auto check : {check_threads, check_shares}) {
    if (finding found = check(of)) return found;
  }
  // Caches are counted in lines, so the line is checked before them.
  if (finding found = power_of_two(of, &model::l1_line)) return found;
  for (const auto check : {check_caches, check_hit_times, check_translation, check_page, check_prefetch, check_htm}) {
    if (finding found = check(of)) return found;
  }
  return {};
}

}  // namespace txsync::sim
