// SPDX-License-Identifier: Apache-2.0
// The requests of the Yahoo! Cloud Serving Benchmark to a store: which operation on which record. Sources: B. F. Cooper
// et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010. The zipfian distribution is from J. Gray et al.,
// Quickly Generating Billion-Record Synthetic Databases, SIGMOD 1994. Constants and hash are those of the benchmark's
// own program. The caller provides the store, the keys' bytes and the threads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <txsync/machine/assert.hpp>

#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::ycsb {

/// 64-bit FNV-1a over the eight bytes of a number, least significant first; the absolute value of it as a signed
/// number.
constexpr std::uint64_t fnv_hash(std::uint64_t number) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (unsigned i = 0; i < 8; ++i) hash = (hash ^ ((number >> (8 * i)) & 0xFF)) * 1'099'511'628'211u;
  return hash >> 63 != 0 ? 0 - hash : hash;
}

/// Ranks from 0; the greater the rank, the rarer it is. The number of items may grow. Not thread-safe.
class zipfian {
 public:
  static constexpr double theta = 0.99;

  /// Requires: items > 0. Cost: one power per item.
  explicit zipfian(std::uint64_t items) {
    TXSYNC_ASSERT_VALUE(items != 0, "there are items to draw from");
    grow(items);
  }
  /// With a known sum. Requires: sum is that of 1/i^theta for i up to items.
  zipfian(std::uint64_t items, double sum) : items_(items), sum_(sum) { refresh(); }

  /// Requires: not fewer items than before. Cost: one power per new item.
  void grow(std::uint64_t items) {
    TXSYNC_ASSERT(items >= items_, "the number of items does not shrink");
    if (items == items_) return;
    while (items_ < items) sum_ += 1 / std::pow(static_cast<double>(++items_), theta);
    refresh();
  }

  std::uint64_t draw(random_stream& random) const noexcept {
    const double u = static_cast<double>(random.next() >> 11) * 0x1p-53;
    const double scaled = u * sum_;
    if (scaled < 1) return 0;
    if (scaled < 1 + std::pow(0.5, theta)) return std::min<std::uint64_t>(1, items_ - 1);
    const auto rank = static_cast<std::uint64_t>(static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, alpha));
    return std::min(rank, items_ - 1);
  }

 private:
  void refresh() noexcept {
    const double sum_of_two = 1 + std::pow(0.5, theta);
    eta_ = (1 - std::pow(2 / static_cast<double>(items_), 1 - theta)) / (1 - sum_of_two / sum_);
  }

  static constexpr double alpha = 1 / (1 - theta);
  std::uint64_t items_ = 0;
  double sum_ = 0;
  double eta_ = 0;
};

/// Zipfian ranks spread over the records by a hash, so that frequent ones are not adjacent.
class scrambled_zipfian {
 public:
  /// Requires: records > 0.
  std::uint64_t draw(random_stream& random, std::uint64_t records) const noexcept {
    TXSYNC_ASSERT_VALUE(records != 0, "there are records to draw from");
    return fnv_hash(ranks_.draw(random)) % records;
  }

 private:
  zipfian ranks_{10'000'000'000, 26.46902820178302};
};

enum class operation : std::uint8_t { read, update, insert, scan, read_modify_write };
inline constexpr std::array<const char*, 5> operation_names = {"read", "update", "insert", "scan", "read-modify-write"};

enum class choice : std::uint8_t { zipfian, latest };

/// A mix of operations, in percent of all.
struct mix {
  std::string_view name;
  std::string_view source;
  unsigned read, update, insert, scan;  ///< the rest is read-modify-write
  choice records = choice::zipfian;

  constexpr operation draw(random_stream& random) const noexcept {
    auto percent = static_cast<unsigned>(random.below(100));
    if (percent < read) return operation::read;
    if ((percent -= read) < update) return operation::update;
    if ((percent -= update) < insert) return operation::insert;
    return percent - insert < scan ? operation::scan : operation::read_modify_write;
  }
};

inline constexpr std::uint64_t max_scan = 100;  ///< lengths are uniform from 1

inline constexpr mix mixes[] = {
    {"ycsb-a", "YCSB A, update heavy", 50, 50, 0, 0},
    {"ycsb-b", "YCSB B, read mostly", 95, 5, 0, 0},
    {"ycsb-c", "YCSB C, read only", 100, 0, 0, 0},
    {"ycsb-d", "YCSB D, read latest", 95, 0, 5, 0, choice::latest},
    {"ycsb-e", "YCSB E, short ranges", 0, 0, 5, 95},
    {"ycsb-e-latest", "LevelDB paper, Fig 7: E with latest records, uniform lengths", 0, 0, 5, 95, choice::latest},
    {"ycsb-f", "YCSB F, read-modify-write", 50, 0, 0, 0},
    {"write-heavy", "LevelDB paper, section 5.2: half reads, half inserts", 50, 0, 50, 0},
};

/// The key number of a record, spread as in the benchmark's program ("hashed" order of insertion).
constexpr std::uint64_t key_number(std::uint64_t record) noexcept { return fnv_hash(record); }

/// Records by number. Threads insert them and draw from them: inserted records can be drawn, those whose insertion has
/// not ended cannot.
class record_count {
 public:
  static constexpr unsigned max_threads = 64;

  explicit record_count(std::uint64_t records) noexcept : next_(records) {
    for (slot& one : inserting_) one.number.store(nobody, std::memory_order_relaxed);  // relaxed: before the threads
  }

  /// The number of the record that thread `me` has to insert now. inserted() must follow.
  std::uint64_t begin_insert(unsigned me) noexcept {
    // The bound before the number: a thread that sees the number taken also sees that it is not there yet (both
    // seq_cst).
    inserting_[me].number.store(next_.load());
    const std::uint64_t mine = next_.fetch_add(1);
    inserting_[me].number.store(mine);
    return mine;
  }
  void inserted(unsigned me) noexcept { inserting_[me].number.store(nobody); }

  /// All records with smaller numbers are there.
  std::uint64_t there(unsigned threads) const noexcept {
    std::uint64_t least = next_.load();
    for (unsigned i = 0; i < threads; ++i) least = std::min(least, inserting_[i].number.load());
    return least;
  }

 private:
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  struct alignas(128) slot {
    std::atomic<std::uint64_t> number;
  };
  alignas(128) std::atomic<std::uint64_t> next_;
  slot inserting_[max_threads];
};

/// Which record: one thread's stream of records.
class record_stream {
 public:
  record_stream(choice how, std::uint64_t records, std::uint64_t expected)
      : how_(how), expected_(std::max(records, expected)), recent_(records) {}

  /// `there` records exist. The constructor's `expected` is how many there may finally be, so that the scrambled ranks
  /// do not move while records are added.
  std::uint64_t draw(random_stream& random, std::uint64_t there) {
    if (how_ == choice::latest) {
      recent_.grow(std::max(there, grown_));
      grown_ = std::max(there, grown_);
      return there - 1 - std::min(recent_.draw(random), there - 1);
    }
    std::uint64_t record;
    do record = spread_.draw(random, expected_);
    while (record >= there);
    return record;
  }

 private:
  choice how_;
  std::uint64_t expected_;
  zipfian recent_;
  std::uint64_t grown_ = 0;
  scrambled_zipfian spread_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::ycsb
