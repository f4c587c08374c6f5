// SPDX-License-Identifier: Apache-2.0
// A simulated program: walks through memory in several ways, and tells what a line costs in each.
// Compiled for the simulated machine; tests/sim/runtime/simulated_memory.cpp starts it and knows what is right.
#include <cstdint>
#include <utility>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/memory.hpp>

#include <txsync_backend/runtime.h>

using namespace txsync;

namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t lines = std::uint64_t{4} << 14;  // 4 MiB
constexpr std::uint64_t steps = 4096;

struct line {
  line* volatile next;
  volatile std::uint64_t number;
  char rest[line_bytes - 16];
};

std::uint64_t draw(std::uint64_t& state) noexcept {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

/// All lines in one ring, in random order (Sattolo, 1986).
void link(line* all) noexcept {
  std::uint64_t random = 1;
  for (std::uint64_t i = 0; i < lines; ++i) all[i].number = i;
  for (std::uint64_t i = lines - 1; i != 0; --i) {
    const std::uint64_t other = draw(random) % i;
    const std::uint64_t mine = all[i].number;
    all[i].number = all[other].number;
    all[other].number = mine;
  }
  for (std::uint64_t i = 0; i < lines; ++i) all[i].next = &all[all[i].number];
}

bool are_numbered(const line* all) noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < lines; ++i) sum += all[i].number;
  return sum == lines * (lines - 1) / 2;
}

template <class Body>
void measure(const char* name, Body body) noexcept {
  const std::uint64_t before = machine::cycles();
  body();
  txsync_sim_record(name, (machine::cycles() - before) * 100 / steps);
}

}  // namespace

int main() {
  auto* all = static_cast<line*>(machine::map_pages(lines * line_bytes));
  link(all);
  measure("asserted", [=] { TXSYNC_ASSERT(are_numbered(all), "each line has a number of its own"); });
  measure("chain", [=] {
    line* at = all;
    for (std::uint64_t i = 0; i < steps; ++i) at = at->next;
  });
  measure("independent", [=] {
    std::uint64_t random = 2;
    for (std::uint64_t i = 0; i < steps; ++i) static_cast<void>(all[draw(random) % lines].number);
  });
  measure("forward", [=] {
    for (std::uint64_t i = 0; i < steps; ++i) static_cast<void>(all[i].number);
  });
  measure("backward", [=] {
    for (std::uint64_t i = 0; i < steps; ++i) static_cast<void>(all[lines - 1 - i].number);
  });
  return 0;
}
