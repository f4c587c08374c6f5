// SPDX-License-Identifier: Apache-2.0
// The image that counting_cost.cpp starts on machine models: ROUNDS SECTIONS. Records "counted.N" and "uncounted.N",
// the nanoseconds of round N.
#include <txsync_backend/runtime.h>

#include "locks/counted_sections.hpp"

namespace {

unsigned number(const char* text) noexcept {
  unsigned value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<unsigned>(*text - '0');
  return value;
}

/// "NAME.ROUND", of a round below 1,000.
void record(const char* name, unsigned round, std::uint64_t value) noexcept {
  char text[32] = "";
  unsigned length = 0;
  for (; *name != 0; ++name) text[length++] = *name;
  text[length++] = '.';
  for (unsigned unit = 100; unit != 0; unit /= 10) text[length++] = static_cast<char>('0' + round / unit % 10);
  text[length] = 0;
  txsync_sim_record(text, value);
}

}  // namespace

int main(int count, char** words) {
  constexpr int wrong_use = 2;
  if (count != 3) return wrong_use;
  unsigned round = 0;
  txsync::benchmarks::run_counted_sections(number(words[1]), number(words[2]),
                                           [&](const txsync::benchmarks::counted_round& seen) {
                                             record("counted", round, seen.counted);
                                             record("uncounted", round, seen.uncounted);
                                             ++round;
                                           });
  return 0;
}
