// SPDX-License-Identifier: Apache-2.0
// How long and how deep an attempt may be, and what it costs: the thesis on TSX in InnoDB (2014), sections 3.2.3 to
// 3.2.5. Also appendices C.1 and C.3.
#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

experiment duration() {
  constexpr double ms_of_cycles = 1 / 2.3e6;
  return {
      .id = "thesis-duration",
      .title = "how long an attempt may last that touches nothing",
      .source = "thesis on TSX in InnoDB, 3.2.3, Fig 3.7",
      .machine = thesis_machine,
      .workload = "lock-array",
      .operations = 200,
      .along = {"hold",
                "ms",
                {288, 23'000, 115'000, 287'500, 1'150'000, 2'300'000, 4'600'000, 9'200'000, 18'400'000, 37'375'000},
                ms_of_cycles},
      .variants = {{"attempt", bare_attempt, 1, {{"locks", 1}}}},
      .facts = answering(
          "B-4", {{"attempt", 288, at_most(0.01), standing::held_out, "3.2.3: below 0.01 % at 100 cycles of 800 MHz"},
                  {"attempt", 287'500, at_least(10), standing::held_out, "3.2.3: above 10 % at 0.125 ms"},
                  {"attempt", 18'400'000, at_most(99.9), standing::fit, "3.2.3: some commit up to 16.25 ms"},
                  {"attempt", 37'375'000, exactly(100), standing::fit, "3.2.3: all from 16.25 ms"}}),
      .remark =
          "The thesis counts turns of a loop and takes the clock for 800 MHz; its times are good to a third. Its two "
          "sources on interrupts disagree. By its Table 2.6, one of 30 attempts of 750,000 turns meets an interrupt "
          "(and takes the lock, which aborts three others). By Fig 3.7, one of ten of 100,000 turns does.",
  };
}

experiment nesting() {
  return {
      .id = "thesis-nesting",
      .title = "attempts in attempts",
      .source = "thesis on TSX in InnoDB, 3.2.4, Fig 3.8",
      .machine = thesis_machine,
      .workload = "lock-array",
      .operations = 100,
      .along = {"held", "levels, the outermost counted as 1", {1, 2, 3, 4, 5, 6, 7, 8, 9}},
      .variants = {{"attempt", bare_attempt, 1, {{"locks", 9}}}},
      .facts =
          answering("B-4", {{"attempt", 6, exactly(0), standing::fit, "Fig 3.8"},
                            {"attempt", 7, exactly(0), standing::fit, "3.2.4, footnote 3: seven levels are supported"},
                            {"attempt", 8, exactly(100), standing::fit, "Fig 3.8"}}),
  };
}

experiment elision_nesting() {
  return {
      .id = "thesis-hle-nesting",
      .title = "several elided locks held at once",
      .source = "thesis on TSX in InnoDB, 3.2.4, Fig 3.9",
      .machine = thesis_machine,
      .workload = "lock-array",
      .along = {"held", "locks held", {1, 2, 3, 4, 6, 8}},
      .variants = {{"HLE", "hle_tas_t"}, {"workaround", "hle_outermost"}},
      .facts = {{"HLE", 2, at_least(33.3), standing::held_out, "3.2.4: over a third with two locks"},
                {"workaround", 2, exactly(0), standing::held_out, "3.2.4: no nesting aborts any more"},
                {"workaround", 8, exactly(0), standing::held_out, "3.2.4: no nesting aborts any more"}},
      .remark =
          "A lock beyond those that the CPU can elide is taken inside the attempt, as Intel's manual says. The attempt "
          "commits, up to the maximum nesting depth. Nobody has published what aborted the thesis's.",
  };
}

experiment allocation() {
  return {
      .id = "thesis-malloc",
      .title = "allocation inside an attempt",
      .source = "thesis on TSX in InnoDB, C.1",
      .machine = thesis_machine,
      .workload = "lock-array",
      .along = {"held", "", {1}},
      .variants = {{"stack", bare_attempt, 1, {{"allocates", 1}}}, {"malloc", bare_attempt, 1, {{"allocates", 2}}}},
      .facts = {{"stack", 1, exactly(0), standing::fit, "C.1"}, {"malloc", 1, exactly(100), standing::fit, "C.1"}},
  };
}

const std::vector<variant> ways_of_locking = {
    {"no lock", "none"}, {"POSIX", "posix"}, {"TAS", "tas_t"}, {"HLE", "hle_tas_t"}, {"RTM", "rtm_only"}};

experiment overhead() {
  const auto beyond = [](const char* name, double cycles, standing how, const char* source) {
    return fact{.variant = name,
                .at = 100,
                .expected = exactly(cycles),
                .how = how,
                .source = source,
                .read = reading::excess,
                .beside = "no lock"};
  };
  const auto in_attempt = [](const char* name, double cycles, const char* source) {
    return fact{.variant = name,
                .at = 100,
                .expected = exactly(cycles),
                .how = standing::fit,
                .source = source,
                .what = quantity::attempt_cycles};
  };
  return {
      .id = "thesis-overhead",
      .title = "what locking costs a single thread",
      .source = "thesis on TSX in InnoDB, 3.2.5, Fig 3.10",
      .machine = thesis_machine,
      .workload = "lock-overhead",
      .operations = 10'000,
      .measured = quantity::cycles_each,
      .along = {"batch", "", {100}},
      .variants = ways_of_locking,
      .facts = {in_attempt("RTM", 36, "its measurements: transactional cycles a begin"),
                in_attempt("HLE", 75, "its measurements: cycles an elision"),
                beyond("RTM", 36, standing::fit, "taken for the 36 % of Fig 3.10"),
                beyond("TAS", 36.0 * 69 / 36, standing::held_out, "Fig 3.10: 69 % where RTM is 36 %"),
                beyond("HLE", 36.0 * 126 / 36, standing::held_out, "Fig 3.10: 126 % where RTM is 36 %"),
                beyond("POSIX", 36.0 * 139 / 36, standing::held_out, "Fig 3.10: 139 % where RTM is 36 %")},
      .remark =
          "The thesis gives percent of a loop whose length it does not give. If RTM's 36 % are the 36 cycles of its "
          "measurements, a percent is a cycle.",
  };
}

experiment overhead_with_data() {
  return {
      .id = "thesis-overhead-data",
      .title = "the same around the reading of 1 KiB",
      .source = "thesis on TSX in InnoDB, C.3, Fig C.3",
      .machine = thesis_machine,
      .workload = "lock-array",
      .operations = 2'000,
      .measured = quantity::cycles_each,
      .along = {"data", "bytes read", {1024}},
      .variants = ways_of_locking,
      .facts = {},
      .remark = "The thesis's text has no numbers of this drawing.",
  };
}

}  // namespace

std::vector<experiment> thesis_attempts() {
  return {duration(), nesting(), elision_nesting(), allocation(), overhead(), overhead_with_data()};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
