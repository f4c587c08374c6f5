// SPDX-License-Identifier: Apache-2.0
// leveldb DIRECTORY THREADS OPERATIONS SEED: puts and gets of several threads in one LevelDB database, with
// its background thread at work. Each thread has keys of its own, whose values it knows, and reads those of the others,
// whose values have to be whole. At the end all is read again, in order, and once more after the database was opened
// anew. Prints what was wrong, and at the end one line.
#include <leveldb/db.h>
#include <leveldb/iterator.h>
#include <leveldb/write_batch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int keys_of_each = 50;

struct chance {
  std::uint64_t state;
  std::uint64_t below(std::uint64_t bound) {  // splitmix64 (Steele, Lea, Flood 2014)
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (z ^ z >> 31) % bound;
  }
};

std::string key_of(int thread, int number) {
  char text[32];
  std::snprintf(text, sizeof text, "key-%02d-%04d", thread, number);
  return text;
}

/// Its key, its version, and a filling that follows from them.
std::string value_of(const std::string& key, unsigned version) {
  std::string value = key + ":" + std::to_string(version) + ":";
  const char filling = static_cast<char>('a' + version % 26);
  value.append(40 + version * 37 % 200, filling);
  return value;
}

/// The version that a whole value has; -1 where it is not whole.
long version_of(const std::string& key, const std::string& value) {
  if (value.compare(0, key.size(), key) != 0) return -1;
  const long version = std::strtol(value.c_str() + key.size() + 1, nullptr, 10);
  return value == value_of(key, static_cast<unsigned>(version)) ? version : -1;
}

struct team {
  leveldb::DB* db;
  int threads;
  int operations;
  std::uint64_t seed;
  std::vector<std::vector<unsigned>> versions;  // of each thread's keys; 0: not there
  std::vector<long> wrong;
};

void complain(team& all, int me, const char* what, const std::string& key) {
  ++all.wrong[me];
  std::printf("wrong: thread %d, %s, %s\n", me, what, key.c_str());
}

void put(team& all, int me, int number) {
  const std::string key = key_of(me, number);
  const unsigned version = ++all.versions[me][number];
  if (!all.db->Put(leveldb::WriteOptions(), key, value_of(key, version)).ok()) complain(all, me, "put", key);
}

void put_two(team& all, int me, int one, int other) {
  leveldb::WriteBatch batch;
  for (const int number : {one, other}) {
    const std::string key = key_of(me, number);
    batch.Put(key, value_of(key, ++all.versions[me][number]));
  }
  if (!all.db->Write(leveldb::WriteOptions(), &batch).ok()) complain(all, me, "write", key_of(me, one));
}

void check_own(team& all, int me, int owner, int number) {
  const std::string key = key_of(owner, number);
  const unsigned version = all.versions[owner][number];
  std::string value;
  const leveldb::Status status = all.db->Get(leveldb::ReadOptions(), key, &value);
  const bool right = version == 0 ? status.IsNotFound() : status.ok() && value == value_of(key, version);
  if (!right) complain(all, me, status.ok() ? "another value" : status.ToString().c_str(), key);
}

void check_foreign(team& all, int me, int owner, int number) {
  const std::string key = key_of(owner, number);
  std::string value;
  const leveldb::Status status = all.db->Get(leveldb::ReadOptions(), key, &value);
  if (!status.IsNotFound() && !(status.ok() && version_of(key, value) > 0)) complain(all, me, "a torn value", key);
}

void work(team& all, int me) {
  chance random{all.seed * 1000 + static_cast<std::uint64_t>(me)};
  for (int i = 0; i < all.operations; ++i) {
    const int number = static_cast<int>(random.below(keys_of_each));
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2:
        put(all, me, number);
        break;
      case 3:
        put_two(all, me, number, (number + 1) % keys_of_each);
        break;
      case 4:
        check_foreign(all, me, static_cast<int>(random.below(static_cast<std::uint64_t>(all.threads))), number);
        break;
      default:
        check_own(all, me, me, number);
        break;
    }
  }
}

leveldb::DB* open(const char* directory) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.compression = leveldb::kNoCompression;
  options.write_buffer_size = 64 << 10;  // the least: the background thread has something to do
  leveldb::DB* db = nullptr;
  const leveldb::Status status = leveldb::DB::Open(options, directory, &db);
  if (!status.ok()) {
    std::printf("wrong: open: %s\n", status.ToString().c_str());
    std::exit(1);
  }
  return db;
}

void check_all(team& all) {
  for (int owner = 0; owner < all.threads; ++owner) {
    for (int number = 0; number < keys_of_each; ++number) check_own(all, 0, owner, number);
  }
  const std::unique_ptr<leveldb::Iterator> each(all.db->NewIterator(leveldb::ReadOptions()));
  long count = 0;
  for (each->SeekToFirst(); each->Valid(); each->Next()) {
    ++count;
    const std::string key = each->key().ToString();
    if (version_of(key, each->value().ToString()) < 0) complain(all, 0, "a torn value in order", key);
  }
  long expected = 0;
  for (const std::vector<unsigned>& of_one : all.versions) {
    for (const unsigned version : of_one) expected += version != 0 ? 1 : 0;
  }
  if (count != expected || !each->status().ok()) complain(all, 0, "not all keys in order", "");
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  team all;
  all.threads = std::atoi(words[2]);
  all.operations = std::atoi(words[3]);
  all.seed = std::strtoull(words[4], nullptr, 10);
  all.versions.assign(static_cast<std::size_t>(all.threads), std::vector<unsigned>(keys_of_each));
  all.wrong.assign(static_cast<std::size_t>(all.threads), 0);
  all.db = open(words[1]);
  std::vector<std::thread> threads;
  for (int i = 0; i < all.threads; ++i) threads.emplace_back([&all, i] { work(all, i); });
  for (std::thread& one : threads) one.join();
  check_all(all);
  delete all.db;
  all.db = open(words[1]);
  check_all(all);
  delete all.db;
  long wrong = 0;
  for (const long of_one : all.wrong) wrong += of_one;
  std::printf("%d threads, %d operations each, %ld wrong\n", all.threads, all.operations, wrong);
  return wrong == 0 ? 0 : 1;
}
