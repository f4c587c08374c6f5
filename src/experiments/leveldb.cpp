// SPDX-License-Identifier: Apache-2.0
// The LevelDB paper's synthetic benchmark: increments of random counters by eight threads.
#include "experiments/thesis_words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

constexpr unsigned all_threads = 8;
constexpr std::uint64_t shortest = 64;  ///< the only length that the text names
constexpr std::uint64_t longest = 16'384;
enum locking : std::uint64_t { coarse, fine };

std::vector<fact> facts() {
  const char* const most = "section 3: TSX has higher throughput for most contention levels";
  const char* const poor = "section 3: TSX-coarse performs badly at 64 counters; taken as half of the longest or less";
  const char* const faster = "section 3: TSX-fine is faster for all contention levels";
  const char* const best = "section 3: retrying until it commits gave the best performance";
  std::vector<fact> made;
  for (const std::uint64_t counters : {std::uint64_t{1024}, std::uint64_t{4096}, longest}) {
    made.push_back(over("TSX coarse", "coarse", counters, at_least(1), most));
    made.push_back(over("TSX fine", "fine", counters, at_least(1), most));
  }
  made.push_back(growth("TSX coarse", shortest, longest, at_most(0.5), poor));
  for (const std::uint64_t counters : {shortest, std::uint64_t{1024}, longest}) {
    made.push_back(over("TSX fine", "TSX coarse", counters, at_least(1), faster));
  }
  made.push_back(over("TSX coarse", "TSX fine", longest, at_least(0.8),
                      "section 3: TSX-coarse approaches TSX-fine; taken as a fifth less or better"));
  for (const char* const other : {"coarse", "fine", "TSX coarse", "TSX fine"}) {
    made.push_back(over("TSX naive", other, longest, at_least(1), best));
  }
  return made;
}

}  // namespace

std::vector<experiment> leveldb() {
  return {{
      .id = "leveldb-counters",
      .title = "increments of random counters by eight threads",
      .source = "LevelDB paper, section 3, Fig 2",
      .machine = "haswell-i7-4770",
      .workload = "counter-array",
      .operations = 10'000,
      .measured = quantity::throughput,
      .along = {"counters", "counters", {shortest, 256, 1024, 4096, longest}},
      .variants = {{"coarse", "tas_t", all_threads, {{"locking", coarse}}},
                   {"fine", "tas_t", all_threads, {{"locking", fine}}},
                   {"TSX naive", "rtm_only", all_threads, {{"locking", coarse}}},
                   {"TSX coarse", "xsync_tatas", all_threads, {{"locking", coarse}}},
                   {"TSX fine", "xsync_tatas", all_threads, {{"locking", fine}}}},
      .facts = facts(),
      .remark = "A hundredth of the paper's increments. The spin lock waits by reading; the paper does not say how its "
                "own does.",
  }};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
