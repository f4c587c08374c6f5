// SPDX-License-Identifier: Apache-2.0
#include "caches.hpp"

#include <cstring>
#include <new>

namespace txsync::sim {

void tag_array::set_up(std::uint64_t bytes, unsigned ways, unsigned line_bytes) noexcept {
  if (bytes == 0) return;
  ways_ = ways;
  sets_ = bytes / (std::uint64_t{ways} * line_bytes);
  mask_ = (sets_ & (sets_ - 1)) == 0 ? sets_ - 1 : 0;
  if (sets_ == 1) mask_ = 0;
  width_ = (ways + lanes - 1) / lanes * lanes;
  const std::size_t numbers = sets_ * 2 * width_;
  tags_ = static_cast<std::uint32_t*>(reserve(0, numbers * sizeof *tags_, "tags of a cache"));
  if (width_ == ways) return;
  for (std::uint32_t* set = tags_; set < tags_ + numbers; set += std::size_t{2} * width_) {
    for (unsigned lane = ways; lane < width_; ++lane) set[width_ + lane] = no_way;
  }
}

/// The stamps are used up: those of each set are renumbered from 1, in their order.
void tag_array::renumber() noexcept {
  for (std::uint32_t* set = tags_; set < tags_ + sets_ * 2 * width_; set += std::size_t{2} * width_) {
    std::uint32_t* const stamps = set + width_;
    std::uint32_t ranks[max_ways];
    for (unsigned way = 0; way < ways_; ++way) {
      ranks[way] = stamps[way] == free_stamp ? free_stamp : 1;
      for (unsigned other = 0; other < ways_; ++other) {
        if (stamps[other] != free_stamp && stamps[other] < stamps[way]) ++ranks[way];
      }
    }
    std::memcpy(stamps, ranks, ways_ * sizeof *ranks);
  }
  now_ = ways_ + 1;
}

namespace {

constexpr unsigned tlb_ways = 4;

}  // namespace

void translation_buffer::set_up(const machine_model& model) noexcept {
  const auto make = [](tag_array& level, std::uint64_t entries) {
    if (entries == 0) return;
    level.set_up(entries < tlb_ways ? tlb_ways : entries / tlb_ways * tlb_ways, tlb_ways, 1);
  };
  make(first_, model.tlb_entries);
  make(second_, model.tlb_second_entries);
  second_hit_ = model.tlb_second_hit;
  walk_ = model.tlb_walk;
}

unsigned translation_buffer::look_further(std::uint64_t page) noexcept {
  const auto number = static_cast<line_number>(page);
  const auto any = [](line_number) { return false; };
  first_.insert(number, any);
  if (!second_.exists()) return walk_;
  if (second_.use(number)) return second_hit_;
  second_.insert(number, any);
  return walk_;
}

void caches::set_up(const machine_model& model) noexcept {
  cores = static_cast<core_caches*>(reserve(0, model.total_cores() * sizeof(core_caches), "caches"));
  for (unsigned i = 0; i < model.total_cores(); ++i) {
    core_caches& core = *new (&cores[i]) core_caches;
    core.l1.set_up(std::uint64_t{model.l1_kib} * 1024, model.l1_ways, model.l1_line);
    core.l2.set_up(std::uint64_t{model.l2_kib} * 1024, model.l2_ways, model.l1_line);
    core.tlb.set_up(model);
    core.streams.set_up(model);
  }
  last_level = static_cast<tag_array*>(reserve(0, model.core_sockets * sizeof(tag_array), "last-level caches"));
  for (unsigned i = 0; i < model.core_sockets; ++i) {
    new (&last_level[i]) tag_array;
    last_level[i].set_up(std::uint64_t{model.l3_kib} * 1024, model.l3_ways, model.l1_line);
  }
}

}  // namespace txsync::sim
