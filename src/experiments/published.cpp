// SPDX-License-Identifier: Apache-2.0
// Microbenchmarks of other publications, from memory: check them before quoting.
#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

constexpr double mib_of_lines = 64.0 / 1024 / 1024;

fact half_aborts(const char* variant, double at, standing how, const char* source) {
  return {.variant = variant, .expected = exactly(at), .how = how, .source = source, .read = reading::crossing};
}

experiment haswell_writes() {
  return {
      .id = "published-write-haswell",
      .title = "written lines that an attempt can hold",
      .source = "Nakaike et al., ISCA 2015; Hasenplaugh et al., WTTM 2015; Goel et al., IPDPS 2014",
      .machine = "haswell-i7-4770",
      .workload = "capacity",
      .along = {"lines", "lines written", {128, 256, 320, 352, 368, 384, 400, 448, 512, 520}},
      .variants = {{"sequential", bare_attempt}},
      .facts = {half_aborts("sequential", 22.0 * 1024 / 64, standing::held_out, "Nakaike, table 1: 22 KB"),
                half_aborts("sequential", 400, standing::held_out, "Hasenplaugh: about 400 lines"),
                {"sequential", 520, exactly(100), standing::held_out, "Goel: a cliff at 512 lines"}},
  };
}

experiment haswell_reads() {
  return {
      .id = "published-read-haswell",
      .title = "read lines that an attempt can hold",
      .source = "Dice et al., arXiv 1504.04640; Nakaike et al., ISCA 2015; Hasenplaugh et al., WTTM 2015",
      .machine = "haswell-i7-4770",
      .workload = "capacity",
      .operations = 40,
      .along = {"lines", "MiB read", {8192, 32'768, 65'536, 75'000, 98'304, 122'880, 139'264}, mib_of_lines},
      .variants = {{"sequential", bare_attempt, 1, {{"access", 1}}}},
      .facts = {half_aborts("sequential", 4, standing::fit, "Nakaike, table 1: 4 MB"),
                half_aborts("sequential", 75'000 * mib_of_lines, standing::held_out, "Hasenplaugh: about 75,000 lines"),
                {"sequential", 122'880, at_most(99.9), standing::held_out, "Dice: 7.5 MB are seen to commit"},
                {"sequential", 139'264, exactly(100), standing::fit, "Dice: nothing beyond 8 MB"}},
  };
}

experiment haswell_duration() {
  return {
      .id = "published-duration-haswell",
      .title = "how long an attempt may last that touches nothing",
      .source = "Leis et al., ICDE 2014; Goel et al., IPDPS 2014",
      .machine = "haswell-i7-4770",
      .workload = "lock-array",
      .operations = 300,
      .along = {"hold", "cycles", {1'000, 10'000, 30'000, 100'000, 1'000'000, 10'000'000}},
      .variants = {{"attempt", bare_attempt, 1, {{"locks", 1}}}},
      .facts = {{"attempt", 10'000, at_most(1), standing::held_out, "Leis: negligible below 10^4 cycles"},
                {"attempt", 1'000'000, at_least(10), standing::held_out, "Leis: strong from 10^6 cycles"},
                {"attempt", 10'000'000, exactly(100), standing::held_out, "Goel: nearly all beyond 10^7 cycles"}},
  };
}

experiment power8() {
  const std::vector<setting> line{{"step", 128}};
  return {
      .id = "published-power8",
      .title = "lines that an attempt can hold on POWER8",
      .source = "Nakaike et al., ISCA 2015; Hasenplaugh et al., WTTM 2015",
      .machine = "power8-8284-22a",
      .workload = "capacity",
      .along = {"lines", "KiB", {32, 48, 60, 62, 63, 64, 65, 66, 96}, 128.0 / 1024},
      .variants = {{"writes", bare_attempt, 1, line}, {"reads", bare_attempt, 1, {{"step", 128}, {"access", 1}}}},
      .facts = {half_aborts("writes", 8, standing::fit, "Nakaike, table 1: 8 KB"),
                half_aborts("reads", 8, standing::fit, "Nakaike, table 1: 8 KB; Hasenplaugh: 64 lines")},
  };
}

experiment zec12() {
  return {
      .id = "published-write-zec12",
      .title = "written lines that an attempt can hold on zEC12",
      .source = "Nakaike et al., ISCA 2015",
      .machine = "zec12-like",
      .workload = "capacity",
      .along = {"lines", "KiB written", {16, 24, 30, 31, 32, 33, 34, 48}, 256.0 / 1024},
      .variants = {{"writes", bare_attempt, 1, {{"step", 256}}}},
      .facts = {half_aborts("writes", 8, standing::fit, "Nakaike, table 1: 8 KB")},
  };
}

}  // namespace

std::vector<experiment> published() {
  return {haswell_writes(), haswell_reads(), haswell_duration(), power8(), zec12()};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
