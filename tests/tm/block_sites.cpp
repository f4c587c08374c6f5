// SPDX-License-Identifier: Apache-2.0
// The numbers of a block's site beside the program's own count of its blocks, by each algorithm on the machine at hand.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/tm.hpp>

#include "../observe/site_totals.hpp"
#include "every_algorithm.hpp"

namespace {

constinit stm::block adding{"block_sites.adding"};

class BlockSites : public every_algorithm {};

TEST_P(BlockSites, CountEachBlockOnce) {
  constexpr unsigned threads = 3;
  constexpr unsigned count = 2'000;
  const txsync::observe::site_totals before = totals_of(adding.get_site());
  stm::var<long> sum{0};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (unsigned n = 0; n < count; ++n) {
        stm::atomically(adding, [&](auto& tx) { tx.write(sum, tx.read(sum) + 1); });
      }
    });
  }
  for (std::thread& one : all) one.join();
  const txsync::observe::site_totals seen = txsync::observe::difference(totals_of(adding.get_site()), before);
  EXPECT_EQ(seen.attempts.commits + seen.fallbacks(), std::uint64_t{threads} * count);
  EXPECT_EQ(seen.fallbacks(), seen.transactions.commits);
  EXPECT_EQ(seen.attempts.attempts(), seen.attempts.commits + seen.attempts.all_aborts());
  EXPECT_LE(seen.attempts.failed, seen.fallbacks());
  if (!txsync::machine::attempts_work()) {
    EXPECT_EQ(seen.attempts.attempts(), 0u);
  }
}

TXSYNC_FOR_EVERY_ALGORITHM(BlockSites);

}  // namespace
