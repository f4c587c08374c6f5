// SPDX-License-Identifier: Apache-2.0
// The thesis on TSX in InnoDB (2014), sections 3.2.1 and 3.2.2 and appendix C.2: how much an attempt can hold. Numbers
// that the text does not give were read from the drawings.
#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

constexpr double kib_of_lines = 64.0 / 1024;

const setting whole_lines{"touches", 64};  // every byte of an array, as in the thesis
const setting untouched{"memory", 1};
const setting reads{"access", 1};
const setting random_order{"order", 1};

experiment writes() {
  experiment made{
      .id = "thesis-write-capacity",
      .title = "written bytes that an attempt can hold, one after the other",
      .source = "thesis on TSX in InnoDB, 3.2.1, Fig 3.1",
      .machine = thesis_machine,
      .workload = "capacity",
      .operations = 5'000,
      .along = {"lines", "KiB written", {64, 144, 192, 256, 288, 320, 344, 368, 400, 432, 464, 512, 544}, kib_of_lines},
      .variants = {{"warm", bare_attempt, 1, {whole_lines}}, {"untouched", bare_attempt, 1, {whole_lines, untouched}}},
      .facts = {{"warm", 144, at_most(2), standing::fit, "Fig 3.1, as drawn"},
                {"warm", 320, exactly(10), standing::fit, "Fig 3.1, as drawn"},
                {"warm", 368, exactly(50), standing::fit, "Fig 3.1, as drawn"},
                {"warm", 512, exactly(100), standing::fit, "Fig 3.1, as drawn"},
                {"warm", 544, exactly(100), standing::fit, "3.2.1: more than 32 KB always aborts"},
                {"untouched", 144, at_most(2), standing::held_out, "Fig 3.1, as drawn"},
                {"untouched", 256, exactly(10), standing::held_out, "Fig 3.1, as drawn"},
                {"untouched", 320, exactly(50), standing::held_out, "Fig 3.1, as drawn"},
                {"untouched", 368, exactly(100), standing::held_out, "Fig 3.1, as drawn"}},
      .remark =
          "An attempt's page fault brings no page here, so that fresh memory aborts at any size; the thesis's "
          "\"uninitialized\" arrays were partly touched before.",
  };
  for (fact& one : made.facts) {
    if (one.variant == "warm") one.answers = "B-4";  // the line does not ask about untouched memory
  }
  return made;
}

experiment reads_() {
  return {
      .id = "thesis-read-capacity",
      .title = "read bytes that an attempt can hold, one after the other",
      .source = "thesis on TSX in InnoDB, 3.2.1, Fig 3.2",
      .machine = thesis_machine,
      .workload = "capacity",
      .operations = 400,
      .along = {"lines", "KiB read", {512, 800, 1600, 3200, 6400, 10400, 12800, 16384, 20480}, kib_of_lines},
      .variants = {{"warm", bare_attempt, 1, {whole_lines, reads}},
                   {"untouched", bare_attempt, 1, {whole_lines, reads, untouched}}},
      .facts = answering("B-4", {{"warm", 800, exactly(7), standing::fit, "Fig 3.2, as drawn"},
                                 {"warm", 3200, between(30, 50), standing::fit, "Fig 3.2, as drawn"},
                                 {"warm", 10400, between(30, 50), standing::fit, "Fig 3.2, as drawn"},
                                 {"warm", 12800, at_least(90), standing::fit, "Fig 3.2, as drawn"},
                                 {"warm", 16384, exactly(100), standing::fit, "3.2.1: 100 % at around 1 MB"},
                                 {"untouched", 800, exactly(100), standing::held_out, "Fig 3.2, as drawn"}}),
      .remark = "One chance for each read line that leaves the L1 cannot draw the thesis's plateau from 200 to 650 KB.",
  };
}

experiment strides() {
  const auto stride = [](std::uint64_t lines) {
    return variant{"stride " + std::to_string(lines), bare_attempt, 1, {{"step", 64 * lines}}};
  };
  const auto usable = [](const char* name, double share) {
    return fact{.variant = name,
                .expected = exactly(share),
                .how = standing::fit,
                .source = "Table 3.2 and Fig 3.5",
                .read = reading::crossing_ratio,
                .beside = "stride 1"};
  };
  return {
      .id = "thesis-associativity",
      .title = "written lines that an attempt can hold, every nth of an array",
      .source = "thesis on TSX in InnoDB, 3.2.2, Fig 3.5",
      .machine = thesis_machine,
      .workload = "capacity",
      .operations = 1'000,
      .along = {"lines",
                "KiB written",
                {64,  80,  88,  96,  100, 104, 108, 112, 128, 144, 160, 176,
                 192, 208, 224, 256, 320, 344, 368, 400, 448, 512, 544},
                kib_of_lines},
      .variants = {stride(1), stride(2), stride(3), stride(4), stride(5), stride(6)},
      .facts = answering("B-4", {{"stride 1", 544, exactly(100), standing::fit, "Fig 3.5: at most 32 KB"},
                                 usable("stride 2", 0.5),
                                 usable("stride 3", 1),
                                 usable("stride 4", 0.25),
                                 usable("stride 5", 1),
                                 usable("stride 6", 0.5)}),
      .remark =
          "What can be used of a write set is the size at which half of the attempts abort. Of fewer sets fewer are "
          "crowded by others, so that a little more than the share is left.",
  };
}

experiment allocated_strides() {
  // As with an allocator that puts 16 bytes before each object of one line's size.
  const auto stride = [](std::uint64_t objects) {
    return variant{"stride " + std::to_string(objects), bare_attempt, 1, {{"step", 80 * objects}}};
  };
  return {
      .id = "thesis-associativity-new",
      .title = "the same for objects that were allocated one by one, 80 bytes apart",
      .source = "thesis on TSX in InnoDB, 3.2.2, Fig 3.6",
      .machine = thesis_machine,
      .workload = "capacity",
      .along = {"lines", "KiB written", {64, 96, 128, 192, 256, 320, 344, 368, 400, 448, 512, 544}, kib_of_lines},
      .variants = {stride(1), stride(2), stride(4)},
      .facts = {{.variant = "stride 4",
                 .expected = at_least(0.3),
                 .how = standing::held_out,
                 .source = "3.2.2: every fourth item is not as bad any more",
                 .read = reading::crossing_ratio,
                 .beside = "stride 1"}},
  };
}

experiment random_writes() {
  return {
      .id = "thesis-random-capacity",
      .title = "written lines that an attempt can hold, in random order",
      .source = "thesis on TSX in InnoDB, C.2.2, Fig C.2",
      .machine = thesis_machine,
      .workload = "capacity",
      .along = {"lines", "KiB written", {64, 144, 224, 256, 288, 320, 352, 384, 416, 448, 512}, kib_of_lines},
      .variants = {{"warm", bare_attempt, 1, {random_order}},
                   {"untouched", bare_attempt, 1, {random_order, untouched}}},
      .facts = {{"warm", 288, exactly(10), standing::held_out, "Fig C.2, as drawn"},
                {"warm", 416, exactly(60), standing::held_out, "Fig C.2, as drawn"},
                {"untouched", 256, exactly(50), standing::held_out, "Fig C.2, as drawn: at 14 to 16 KB"},
                {"untouched", 320, exactly(100), standing::held_out, "Fig C.2, as drawn"}},
  };
}

}  // namespace

std::vector<experiment> thesis_capacity() {
  return {writes(), reads_(), strides(), allocated_strides(), random_writes()};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
