// SPDX-License-Identifier: Apache-2.0
#include "workloads/cache/cache_workload.hpp"

#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum cache_key : unsigned { cache_keys, cache_gets, cache_locking, cache_value, cache_room, cache_outside };
enum : std::uint64_t { two_global_locks, locks_in_stripes };
constexpr const char* cache_lockings[] = {"global", "striped"};

constexpr parameter cache_parameters[] = {
    {"keys", 100'000, 1, 100'000'000, "different keys of 8 bytes, drawn evenly; all are set at the start"},
    {"gets", 90, 0, 100, "percent of operations that get; the others set"},
    {"locking", two_global_locks, two_global_locks, locks_in_stripes,
     "global: memcached 1.4.5's cache_lock and stats_lock; striped: 64 caches with two locks each", cache_lockings},
    {"value", 128, 24, 1'000'000, "bytes of a value"},
    {"room", 100, 1, 100, "percent of the keys that there is memory for; below 100 the cache evicts"},
    {"outside", 0, 0, 1'000'000, "fences between requests, on average; about 10 ns each: a server's own work"},
};

// Larger than the last-level cache of the paper's machine (45 MB), as the paper's table is.
constexpr setting get_90[] = {{"keys", 300'000}, {"gets", 90}};
constexpr setting get_50[] = {{"keys", 300'000}, {"gets", 50}};
constexpr setting get_90_striped[] = {{"keys", 300'000}, {"gets", 90}, {"locking", locks_in_stripes}};
constexpr setting get_50_striped[] = {{"keys", 300'000}, {"gets", 50}, {"locking", locks_in_stripes}};

constexpr preset cache_presets[] = {
    {"get-90", "always-abort paper, Fig 9a: memcached 1.4.5, 90 % gets", get_90},
    {"get-50", "always-abort paper, Fig 9b: memcached 1.4.5, 50 % gets", get_50},
    {"get-90-striped", "always-abort paper, IV-A 2: fine-grained locking as the upper reference", get_90_striped},
    {"get-50-striped", "always-abort paper, IV-A 2: fine-grained locking as the upper reference", get_50_striped},
};

}  // namespace

constinit const workload cache_workload{
    .name = "cache",
    .summary = "gets and sets in a cache under memcached 1.4.5's two global locks, or in stripes",
    .operation = "requests",
    .keys = cache_parameters,
    .presets = cache_presets,
};

namespace cache {

namespace {

constexpr unsigned fixed_words = 3;  ///< key number and version at the start, hash at the end

std::uint64_t word_at(const char* value, std::size_t index) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, value + 8 * index, sizeof word);
  return word;
}

void set_word(char* value, std::size_t index, std::uint64_t word) noexcept {
  std::memcpy(value + 8 * index, &word, sizeof word);
}

}  // namespace

mix_of_requests::mix_of_requests(const parameters& values, const plan& how)
    : keys_(values[cache_keys]),
      gets_(values[cache_gets]),
      value_bytes_(static_cast<std::uint32_t>(values[cache_value])),
      keeps_all_(values[cache_room] == 100),
      outside_(values[cache_outside]),
      order_(keys_) {
  // In random order, so that neighbours in the order of use are not neighbours in memory.
  for (std::uint64_t i = 0; i < keys_; ++i) order_[i] = static_cast<std::uint32_t>(i);
  random_stream random(how.seed, ~std::uint64_t{0});
  for (std::uint64_t i = 0; i < keys_; ++i) std::swap(order_[i], order_[i + random.below(keys_ - i)]);

  const std::uint32_t stripes = values[cache_locking] == locks_in_stripes ? workload_stripes : 1;
  std::vector<std::uint64_t> keys_of(stripes);
  for (const std::uint32_t number : order_) ++keys_of[locked<no_lock>::stripe_of(item_key(number), stripes)];
  const std::size_t item_bytes = slabs::size_of(slabs::class_of(item::bytes_of(8, value_bytes_)));
  for (const std::uint64_t there : keys_of) {
    // While a thread sets, it has one more item than the table: its own, or an old one that another thread still reads.
    const std::uint64_t items = there * values[cache_room] / 100 + 2 * std::uint64_t{how.threads} + 1;
    shapes_.push_back({.bytes = items * item_bytes, .buckets = there + 1});
  }
}

void write_value(item& into, std::uint64_t key_number, std::uint64_t version) noexcept {
  char* const value = into.value();
  const std::size_t words = into.value_bytes / 8;
  running_hash all;
  for (std::size_t i = 0; i + 1 < words; ++i) {
    const std::uint64_t word = i == 0 ? key_number : i == 1 ? version : mix(key_number ^ version) + i;
    all.add(word);
    set_word(value, i, word);
  }
  set_word(value, words - 1, all.value());
  for (std::size_t i = 8 * words; i < into.value_bytes; ++i) value[i] = '.';
}

bool value_is_right(const item& one, std::uint64_t key_number) noexcept {
  const char* const value = one.value();
  const std::size_t words = one.value_bytes / 8;
  if (words < fixed_words || word_at(value, 0) != key_number) return false;
  running_hash all;
  for (std::size_t i = 0; i + 1 < words; ++i) all.add(word_at(value, i));
  return word_at(value, words - 1) == all.value();
}

void look_at(table_sums& sums, const item& one, std::uint64_t keys) noexcept {
  const std::uint64_t number = one.key_words()[0];
  if (number >= keys || !value_is_right(one, number)) ++sums.wrong;
  sums.all.add(number);
  sums.all.add(word_at(one.value(), 1));
}

const char* counts_wrong(const mix_of_requests& mix, const team_result& seen, const statistics& told,
                         std::uint64_t filled) noexcept {
  if (seen.tallies[wrong] != 0) return "a get was answered with a value that was not written for its key";
  if (told.stored != filled + seen.tallies[stored]) return "the statistics do not count each set";
  if (mix.keeps_all()) {
    if (seen.tallies[missed] != 0) return "a key that was set was not found, and nothing was evicted";
    if (seen.tallies[refused] != 0) return "there was no memory for a set, in a cache that holds all keys";
    if (told.evicted != 0) return "the statistics count evictions in a cache that holds all keys";
    if (told.items != mix.keys()) return "the statistics' number of items is not that of the keys";
  }
  return nullptr;
}

}  // namespace cache

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
