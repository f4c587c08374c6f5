// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/capacity.hpp"

#include <txsync/machine/memory.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum key : unsigned { lines, step, touches, access, order, places, memory };

constexpr const char* accesses[] = {"write", "read"};
constexpr const char* orders[] = {"sequential", "random"};
constexpr const char* memories[] = {"warm", "untouched"};
constexpr std::uint64_t max_places = std::uint64_t{1} << 22;
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;

constexpr parameter keys[] = {
    {"lines", 64, 1, max_places, "places that a section touches"},
    {"step", 64, 1, 1 << 20, "bytes from one place to the next: a line or several"},
    {"touches", 1, 1, 1 << 20, "bytes that are touched at each place, one after the other"},
    {"access", 0, 0, 1, "what is done with them", accesses},
    {"order", 0, 0, 1, "random: other places in each section, none twice", orders},
    {"places", 0, 0, max_places, "of the array, from which random ones are drawn; 0: as many as lines"},
    {"memory", 0, 0, 1, "warm: every page is touched before", memories},
};

constexpr setting thesis_write[] = {{"lines", 256}, {"touches", 64}};
constexpr setting thesis_read[] = {{"lines", 4096}, {"touches", 64}, {"access", 1}};
constexpr setting thesis_stride[] = {{"lines", 128}, {"step", 128}};
constexpr setting thesis_random[] = {{"lines", 256}, {"order", 1}};
constexpr preset presets[] = {
    {"write-16k", "thesis on TSX in InnoDB, Fig 3.1: one of its sizes", thesis_write, 1},
    {"read-256k", "thesis on TSX in InnoDB, Fig 3.2: one of its sizes", thesis_read, 1},
    {"stride-2", "thesis on TSX in InnoDB, Fig 3.5: one of its sizes", thesis_stride, 1},
    {"random-16k", "thesis on TSX in InnoDB, C.2: one of its sizes", thesis_random, 1},
};

const char* contradiction(const parameters& values) {
  const capacity_shape shape(values);
  if (shape.touches > shape.step) return "touches is greater than step: places would overlap";
  if (shape.places < shape.lines) return "places is less than lines: there are not so many";
  return shape.bytes() > max_bytes ? "the array is greater than 1 GiB" : nullptr;
}

}  // namespace

constinit const workload capacity_workload{
    .name = "capacity",
    .summary = "a section that touches many lines, each thread an array and a lock of its own",
    .operation = "sections",
    .keys = keys,
    .presets = presets,
    .contradiction = contradiction,
};

capacity_shape::capacity_shape(const parameters& values) noexcept
    : lines(values[key::lines]),
      step(values[key::step]),
      touches(values[key::touches]),
      writes(values[key::access] == 0),
      random(values[key::order] != 0),
      places(values[key::places] != 0 ? values[key::places] : values[key::lines]),
      warm(values[key::memory] == 0) {}

capacity_array::capacity_array(const capacity_shape& shape) noexcept
    : bytes_(shape.bytes()), at_(static_cast<unsigned char*>(machine::map_pages(bytes_))) {
  if (!ok() || !shape.warm) return;
  for (std::size_t byte = 0; byte < bytes_; byte += shape.step < 64 ? shape.step : 64) at_[byte] = 0;
}

capacity_array::~capacity_array() {
  if (ok()) machine::unmap_pages(const_cast<unsigned char*>(at_), bytes_);
}

std::uint64_t capacity_array::count(const capacity_shape& shape, unsigned char value) const noexcept {
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < shape.places; ++i) found += at_[i * shape.step] == value ? 1 : 0;
  return found;
}

std::uint64_t capacity_array::hash(const capacity_shape& shape) const noexcept {
  running_hash all;
  for (std::uint64_t i = 0; i < shape.places; ++i) all.add(at_[i * shape.step]);
  return all.value();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
