// SPDX-License-Identifier: Apache-2.0
// One run of Kyoto Cabinet's tree over its cache (GrassDB), through its public interface:
// integrations/kyotocabinet-simulated.sh makes a simulated program of it, for `txsync lab kyotocabinet`. Writes NAME
// VALUE lines: to the standard output, or to the given file. src/experiments/driver_output.hpp reads them.
//
// The operations are those of Kyoto Cabinet's own kcgrasstest, "order -rnd", when it sets records. A random key is set
// to itself. Every eighth time another operation follows: it sets the key again, appends to it, removes it, reads it
// with a cursor, or reads it. The tree already holds `records` of as many keys, whereas kcgrasstest begins with an
// empty one. Every value that is read, and all that is left, is its key, once or several times.
#include <kccachedb.h>
#include <kcplantdb.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "workloads/harness/random.hpp"

namespace {

namespace kc = kyotocabinet;
using txsync::workloads::random_stream;
using database = kc::GrassDB;

struct task {
  unsigned threads = 1;
  std::uint64_t operations = 0;  // of all threads together
  std::uint64_t records = 0;
  std::uint64_t seed = 1;
};

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

/// A key as kcgrasstest writes it.
struct record_key {
  explicit record_key(std::uint64_t number)
      : size(static_cast<std::size_t>(std::sprintf(text, "%08llu", static_cast<unsigned long long>(number)))) {}
  char text[24];
  std::size_t size;
};

bool is_value_of(const char* key, std::size_t key_size, const char* value, std::size_t size) {
  if (size == 0 || size % key_size != 0) return false;
  for (std::size_t at = 0; at < size; at += key_size) {
    if (std::memcmp(value + at, key, key_size) != 0) return false;
  }
  return true;
}

bool is_value_of(const record_key& key, const char* value, std::size_t size) {
  return is_value_of(key.text, key.size, value, size);
}

/// One of what kcgrasstest does beside setting; answers how many values were wrong.
std::uint64_t do_other(database& db, const record_key& key, std::uint64_t which) {
  const auto must = [](bool done) {
    if (!done) stop("the database failed");
  };
  switch (which) {
    case 0:
      must(db.set(key.text, key.size, key.text, key.size));
      return 0;
    case 1:
      must(db.append(key.text, key.size, key.text, key.size));
      return 0;
    case 2:
      must(db.remove(key.text, key.size) || db.error() == kc::BasicDB::Error::NOREC);
      return 0;
    case 3: {
      std::uint64_t wrong = 0;
      kc::DB::Cursor* const cursor = db.cursor();
      if (cursor->jump(key.text, key.size)) {
        std::size_t key_size = 0;
        std::size_t size = 0;
        const char* value = nullptr;
        char* const found = cursor->get(&key_size, &value, &size, false);
        if (found != nullptr && !is_value_of(found, key_size, value, size)) wrong = 1;
        delete[] found;
      }
      delete cursor;
      return wrong;
    }
    default: {
      std::size_t size = 0;
      char* const value = db.get(key.text, key.size, &size);
      const bool right = value == nullptr || is_value_of(key, value, size);
      delete[] value;
      return right ? 0 : 1;
    }
  }
}

std::uint64_t work(database& db, const task& asked, unsigned me) {
  random_stream random(asked.seed, me + 1);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = asked.operations * me / asked.threads; i < asked.operations * (me + 1) / asked.threads; ++i) {
    const record_key key(random.below(asked.records));
    if (!db.set(key.text, key.size, key.text, key.size)) stop("a record cannot be set");
    if (i % 8 == 0) wrong += do_other(db, key, random.below(8));
  }
  return wrong;
}

/// In a random order, so that the tree is as one that has grown by random keys; not by chance, so that all are there.
void fill(database& db, const task& asked) {
  const std::uint64_t step = 1'000'003;  // a prime: each key once
  for (std::uint64_t i = 0; i < asked.records; ++i) {
    const record_key key(i * step % asked.records);
    if (!db.set(key.text, key.size, key.text, key.size)) stop("a record cannot be set");
  }
}

/// What is left; answers how much of it is wrong, which a count that differs is, too.
std::uint64_t check(database& db) {
  std::uint64_t wrong = 0;
  std::int64_t seen = 0;
  std::string last;
  std::string key;
  std::string value;
  kc::DB::Cursor* const cursor = db.cursor();
  cursor->jump();
  while (cursor->get(&key, &value, true)) {
    if ((seen != 0 && key <= last) || !is_value_of(key.data(), key.size(), value.data(), value.size())) ++wrong;
    last = key;
    ++seen;
  }
  delete cursor;
  return wrong + (seen == db.count() ? 0 : 1);
}

std::uint64_t run(database& db, const task& asked, std::FILE* out) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> team;
  for (unsigned i = 0; i < asked.threads; ++i) {
    team.emplace_back([&, i] {
      ready.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      wrong.fetch_add(work(db, asked, i));
    });
  }
  while (ready.load() != asked.threads) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  go.store(true);
  for (std::thread& one : team) one.join();
  const auto took = std::chrono::steady_clock::now() - start;
  std::fprintf(out, "operations %llu\nelapsed_ns %lld\n", static_cast<unsigned long long>(asked.operations),
               static_cast<long long>(std::chrono::nanoseconds(took).count()));
  return wrong.load();
}

}  // namespace

int main(int count, char** words) {
  if (count != 5 && count != 6) stop("usage: driver THREADS OPERATIONS RECORDS SEED [RESULT]");
  const auto number = [&](int i) { return std::strtoull(words[i], nullptr, 10); };
  const task asked{static_cast<unsigned>(number(1)), number(2), number(3), number(4)};
  if (asked.threads == 0 || asked.records == 0) stop("no threads or no records");
  std::FILE* const out = count == 6 ? std::fopen(words[5], "w") : stdout;
  if (out == nullptr) stop("the result cannot be written");
  database db;
  if (!db.open("%", database::OWRITER | database::OCREATE | database::OTRUNCATE)) stop("the database does not open");
  fill(db, asked);
  const std::uint64_t wrong = run(db, asked, out) + check(db);
  std::fprintf(out, "records %lld\nwrong %llu\n", static_cast<long long>(db.count()),
               static_cast<unsigned long long>(wrong));
  return std::fclose(out) == 0 && wrong == 0 ? 0 : 1;
}
