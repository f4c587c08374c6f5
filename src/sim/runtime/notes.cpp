// SPDX-License-Identifier: Apache-2.0
// What threads note while a schedule runs. Notes are not memory of the program: noting takes no step, empties no store
// buffer, and is not undone with an attempt.
#include "notes.hpp"

#include <cstdint>

#include "failure.hpp"

namespace txsync::sim {

namespace {

constexpr std::uint32_t max_notes = 20'000;  // a livelock ends before it has this many, or nearly so
constinit std::uint64_t notes[max_notes] = {};
constinit std::uint32_t count = 0;

}  // namespace

void forget_notes() noexcept { count = 0; }

}  // namespace txsync::sim

extern "C" {

std::uint32_t txsync_sim_note(std::uint64_t word) {
  using namespace txsync::sim;
  if (count == max_notes) fail("a schedule has more switches than can be recorded: perhaps a livelock");
  notes[count] = word;
  return count++;
}

std::uint32_t txsync_sim_note_count(void) { return txsync::sim::count; }

std::uint64_t txsync_sim_note_at(std::uint32_t index) {
  using namespace txsync::sim;
  return index < count ? notes[index] : 0;
}

}  // extern "C"
