// SPDX-License-Identifier: Apache-2.0
// What eliding one global lock does for a map on a machine with many cores. Simulated time is exact: the same run gives
// the same numbers on every machine.
#include <gtest/gtest.h>

#include <map>

#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"

namespace {

using namespace txsync::sim;

constexpr unsigned all_cores = 18;
constexpr unsigned operations = 200;  // of each thread

/// A std::map of 1,000 keys under one lock; half of the updates insert, half erase.
image_result map_of(const char* lock, unsigned threads, unsigned updates, std::uint64_t seed = 1) {
  image_request request;
  request.path = TXSYNC_WORKLOADS_IMAGE;
  request.model = read_machine(TXSYNC_SHIPPED_MACHINES "/broadwell-e5-2697v4.toml").model;
  const std::string half = std::to_string(updates / 2);
  const std::string word = std::to_string(seed);
  request.arguments = {"mapbench",
                       lock,
                       std::to_string(threads),
                       "0",
                       "0",
                       "0",
                       std::to_string(operations),
                       "0",
                       word,
                       "0",
                       "1000",
                       std::to_string(100 - 2 * (updates / 2)),
                       half,
                       half};
  request.seed = seed;
  image_result seen = run_image(request);
  EXPECT_EQ(seen.status, 0) << seen.messages;
  EXPECT_EQ(seen.number("program.operations"), threads * operations);
  return seen;
}

/// Operations a microsecond, all threads together.
double speed_of(const image_result& seen) {
  return 1000.0 * static_cast<double>(seen.number("program.operations")) /
         static_cast<double>(seen.number("program.elapsed_ns"));
}

double speed(const char* lock, unsigned threads, std::uint64_t seed) {
  return speed_of(map_of(lock, threads, 2, seed));
}

/// Of a hundred attempts.
double conflicts_of(const image_result& seen) {
  return 100.0 * static_cast<double>(seen.number("aborts.conflict")) /
         static_cast<double>(seen.number("attempts.begun"));
}

class ElidedGlobalLock : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ElidedGlobalLock, APlainOneIsFlatOrFalls) {
  for (const char* lock : {"tatas", "ticket", "mcs"}) {
    EXPECT_LT(speed(lock, all_cores, GetParam()), 1.05 * speed(lock, 1, GetParam())) << lock;
  }
}

TEST_P(ElidedGlobalLock, ScalesWhereUpdatesAreFew) {
  const double two = speed("elided_tatas", 2, GetParam());
  const double all = speed("elided_tatas", all_cores, GetParam());
  EXPECT_GT(all, 3 * two);
  EXPECT_GT(all, 3 * speed("tatas", 1, GetParam())) << "more than a plain lock ever does";
  EXPECT_GT(all, 5 * speed("ticket", all_cores, GetParam()));
}

TEST_P(ElidedGlobalLock, ConflictsGrowWithUpdates) {
  double before = -1;
  std::map<unsigned, double> shares;
  for (const unsigned updates : {0U, 2U, 10U, 50U}) {
    const double share = conflicts_of(map_of("eager_tatas", all_cores, updates, GetParam()));
    EXPECT_GT(share, before) << updates << " % updates";
    before = share;
    shares[updates] = share;
  }
  EXPECT_LT(shares[0], 1);
  EXPECT_GT(shares[50], 40);
}

TEST_P(ElidedGlobalLock, CountingABusyLockAsAFailureMakesLemmings) {
  const double lemming = speed("lemming_tatas", all_cores, GetParam());
  EXPECT_LT(lemming, speed("lemming_tatas", 2, GetParam())) << "slower than two threads";
  for (const char* lock : {"elided_tatas", "eager_tatas"}) {
    EXPECT_GT(speed(lock, all_cores, GetParam()), 5 * lemming) << lock;
  }
  const image_result seen = map_of("lemming_tatas", all_cores, 2, GetParam());
  EXPECT_LT(10 * seen.number("attempts.committed"), seen.number("attempts.begun")) << "hardly any attempt commits";
}

TEST_P(ElidedGlobalLock, EndsWithTheSameHashEveryTime) {
  for (const char* lock : {"tatas", "elided_tatas", "lemming_tatas"}) {
    const std::uint64_t first = map_of(lock, all_cores, 2, GetParam()).number("end_hash");
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(map_of(lock, all_cores, 2, GetParam()).number("end_hash"), first) << lock;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ElidedGlobalLock, testing::Values(1, 2, 3));

}  // namespace
