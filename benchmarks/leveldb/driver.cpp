// SPDX-License-Identifier: Apache-2.0
// One run of one workload on LevelDB, through its public interface. integrations/leveldb.sh links this with unchanged
// LevelDB and with the one that has txsync's locks, and bench_leveldb starts both by turns.
// integrations/leveldb-simulated.sh makes simulated programs of it, for `txsync lab leveldb-...`. Writes NAME VALUE
// lines: to standard output, or to the given file. src/experiments/driver_output.hpp reads them.
//
// fillseq and fillrandom are those of LevelDB's db_bench. Each thread writes `count` entries of the same key range to a
// fresh store, one a batch, not synchronized. The others are mixes of workloads/generators/ycsb.hpp: `count` operations for each
// thread on `records` records of ten fields of 100 bytes. Every value contains its key, and is checked when it is read.
// What the fills have left is read and counted afterwards.
#include <leveldb/db.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "workloads/generators/ycsb.hpp"
#include "workloads/harness/histogram.hpp"

namespace {

using namespace txsync::workloads;
using std::chrono::steady_clock;

struct task {
  std::string directory;
  std::string workload;
  unsigned threads = 1;
  std::uint64_t count = 0;
  std::uint64_t seed = 1;
  std::uint64_t records = 0;
};

/// How many operations ended when: in slices of time, which grow so that 128 are enough.
class progress {
 public:
  static constexpr std::size_t most = 128;

  void add(std::uint64_t since_start_ns) {
    while (since_start_ns / slice_ns_ >= most) coarsen();
    ++ended_[since_start_ns / slice_ns_];
  }
  void merge(progress other) {
    while (slice_ns_ < other.slice_ns_) coarsen();
    while (other.slice_ns_ < slice_ns_) other.coarsen();
    for (std::size_t i = 0; i < most; ++i) ended_[i] += other.ended_[i];
  }
  void print(std::FILE* out) const {
    std::fprintf(out, "progress %llu %zu", static_cast<unsigned long long>(slice_ns_), most);
    for (const std::uint64_t count : ended_) std::fprintf(out, " %llu", static_cast<unsigned long long>(count));
    std::fprintf(out, "\n");
  }

 private:
  void coarsen() {
    for (std::size_t i = 0; i < most / 2; ++i) ended_[i] = ended_[2 * i] + ended_[2 * i + 1];
    std::fill(ended_ + most / 2, ended_ + most, 0);
    slice_ns_ *= 2;
  }
  std::uint64_t slice_ns_ = 1U << 14U;
  std::uint64_t ended_[most] = {};
};

/// What one thread has done.
struct seat {
  std::uint64_t operations = 0;
  std::uint64_t wrong = 0;
  latency_histogram latency[ycsb::operation_names.size()];
  progress ended = {};
};

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}
void must(const leveldb::Status& status) {
  if (!status.ok()) stop(status.ToString());
}

// ---- values that tell whose they are

constexpr std::size_t word = sizeof(std::uint64_t);

/// `salt`, and then words that follow from it and the owner; the last one may be cut.
void write_value(char* out, std::size_t size, std::uint64_t owner, std::uint64_t salt) {
  std::uint64_t next = salt;
  for (std::size_t at = 0; at < size; at += word) {
    std::memcpy(out + at, &next, std::min(word, size - at));
    next = mix(mix(owner) + salt + at);
  }
}

bool is_value(const char* in, std::size_t size, std::uint64_t owner) {
  std::uint64_t salt;
  std::memcpy(&salt, in, word);
  std::uint64_t next = salt;
  for (std::size_t at = 0; at < size; at += word) {
    if (std::memcmp(in + at, &next, std::min(word, size - at)) != 0) return false;
    next = mix(mix(owner) + salt + at);
  }
  return true;
}

std::uint64_t nanoseconds(steady_clock::duration time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

/// Runs work(thread, its seat) on all threads, started together; answers nanoseconds until the last has ended.
template <class Work>
std::uint64_t run_threads(std::vector<std::unique_ptr<seat>>& seats, Work work) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> team;
  for (unsigned i = 0; i < seats.size(); ++i) {
    team.emplace_back([&, i] {
      ready.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      work(i, *seats[i]);
    });
  }
  while (ready.load() != seats.size()) std::this_thread::yield();
  const auto start = steady_clock::now();
  go.store(true);
  for (std::thread& one : team) one.join();
  return nanoseconds(steady_clock::now() - start);
}

// ---- the fills of db_bench

constexpr std::size_t fill_value_bytes = 50;
constexpr std::size_t fill_key_bytes = 16;

std::uint64_t fill_key(const task& asked, random_stream& random, std::uint64_t i) {
  return asked.workload == "fillseq" ? i : random.below(asked.count);
}

void fill(leveldb::DB& db, const task& asked, unsigned me, seat& mine) {
  random_stream random(asked.seed, me);
  char key[32];
  char value[fill_value_bytes];
  leveldb::WriteBatch batch;
  for (std::uint64_t i = 0; i < asked.count; ++i) {
    const std::uint64_t number = fill_key(asked, random, i);
    std::snprintf(key, sizeof key, "%016llu", static_cast<unsigned long long>(number));
    write_value(value, sizeof value, number, (std::uint64_t{me} << 32) + i);
    batch.Clear();
    batch.Put(leveldb::Slice(key, fill_key_bytes), leveldb::Slice(value, sizeof value));
    must(db.Write(leveldb::WriteOptions(), &batch));
  }
  mine.operations = asked.count;
}

/// All that was written is there, in order, and nothing else.
std::uint64_t wrong_after_fill(leveldb::DB& db, const task& asked) {
  std::vector<bool> expected(asked.count);
  for (unsigned thread = 0; thread < asked.threads; ++thread) {
    random_stream random(asked.seed, thread);
    for (std::uint64_t i = 0; i < asked.count; ++i) expected[fill_key(asked, random, i)] = true;
  }
  std::uint64_t wrong = 0;
  std::uint64_t next = 0;
  const std::unique_ptr<leveldb::Iterator> each(db.NewIterator(leveldb::ReadOptions()));
  for (each->SeekToFirst(); each->Valid(); each->Next()) {
    while (next < asked.count && !expected[next]) ++next;
    const std::string key = each->key().ToString();
    const leveldb::Slice value = each->value();
    const bool right = key == std::string(fill_key_bytes - std::to_string(next).size(), '0') + std::to_string(next) &&
                       value.size() == fill_value_bytes && is_value(value.data(), value.size(), next);
    if (!right) ++wrong;
    ++next;
  }
  must(each->status());
  while (next < asked.count && !expected[next]) ++next;
  return wrong + (next < asked.count ? 1 : 0);
}

// ---- YCSB

constexpr unsigned fields = 10;
constexpr std::size_t field_bytes = 100;
constexpr std::size_t record_bytes = fields * field_bytes;

std::string ycsb_key(std::uint64_t number) { return "user" + std::to_string(number); }

void write_field(std::string& record, std::uint64_t key, unsigned field, std::uint64_t salt) {
  write_value(record.data() + field * field_bytes, field_bytes, key * fields + field, salt);
}

bool is_record(const leveldb::Slice& record, std::uint64_t key) {
  if (record.size() != record_bytes) return false;
  for (unsigned field = 0; field < fields; ++field) {
    if (!is_value(record.data() + field * field_bytes, field_bytes, key * fields + field)) return false;
  }
  return true;
}

void insert(leveldb::DB& db, std::uint64_t record, std::uint64_t salt, std::string& scratch) {
  const std::uint64_t key = ycsb::key_number(record);
  scratch.resize(record_bytes);
  for (unsigned field = 0; field < fields; ++field) write_field(scratch, key, field, salt);
  must(db.Put(leveldb::WriteOptions(), ycsb_key(key), scratch));
}

/// Reads a record that is there.
bool read(leveldb::DB& db, std::uint64_t record, std::string& into) {
  const std::uint64_t key = ycsb::key_number(record);
  return db.Get(leveldb::ReadOptions(), ycsb_key(key), &into).ok() && is_record(into, key);
}

/// One field is new: the store knows no fields, so the record is read and written.
bool update(leveldb::DB& db, std::uint64_t record, random_stream& random, std::string& scratch) {
  if (!read(db, record, scratch)) return false;
  const std::uint64_t key = ycsb::key_number(record);
  write_field(scratch, key, static_cast<unsigned>(random.below(fields)), random.next());
  must(db.Put(leveldb::WriteOptions(), ycsb_key(key), scratch));
  return true;
}

bool scan(leveldb::DB& db, std::uint64_t record, std::uint64_t length) {
  const std::unique_ptr<leveldb::Iterator> each(db.NewIterator(leveldb::ReadOptions()));
  const std::string first = ycsb_key(ycsb::key_number(record));
  each->Seek(first);
  if (!each->Valid() || each->key() != leveldb::Slice(first)) return false;
  for (std::uint64_t i = 0; i < length && each->Valid(); ++i, each->Next()) {
    const std::string key = each->key().ToString();
    if (!is_record(each->value(), std::strtoull(key.c_str() + 4, nullptr, 10))) return false;
  }
  return each->status().ok();
}

const ycsb::mix* find_mix(const std::string& name) {
  for (const ycsb::mix& one : ycsb::mixes) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

void serve(leveldb::DB& db, const task& asked, const ycsb::mix& mix, ycsb::record_count& count, unsigned me,
           seat& mine) {
  random_stream random(asked.seed, me);
  // As the benchmark's own program has it: room for twice the inserts to be expected.
  ycsb::record_stream records(mix.records, asked.records,
                              asked.records + asked.count * asked.threads * mix.insert / 100 * 2);
  std::string scratch;
  const auto began = steady_clock::now();
  for (std::uint64_t i = 0; i < asked.count; ++i) {
    const ycsb::operation what = mix.draw(random);
    const std::uint64_t record =
        what == ycsb::operation::insert ? count.begin_insert(me) : records.draw(random, count.there(asked.threads));
    const std::uint64_t length = 1 + random.below(ycsb::max_scan);
    const auto start = steady_clock::now();
    bool right = true;
    switch (what) {
      case ycsb::operation::read:
        right = read(db, record, scratch);
        break;
      case ycsb::operation::insert:
        insert(db, record, random.next(), scratch);
        count.inserted(me);
        break;
      case ycsb::operation::scan:
        right = scan(db, record, length);
        break;
      case ycsb::operation::read_modify_write:
        right = read(db, record, scratch) && update(db, record, random, scratch);
        break;
      case ycsb::operation::update:
        right = update(db, record, random, scratch);
        break;
    }
    const auto end = steady_clock::now();
    mine.latency[static_cast<unsigned>(what)].add(nanoseconds(end - start));
    mine.ended.add(nanoseconds(end - began));
    if (!right) ++mine.wrong;
  }
  mine.operations = asked.count;
}

// ---- the run

std::unique_ptr<leveldb::DB> open_fresh(const std::string& directory) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.compression = leveldb::kNoCompression;
  leveldb::DB* db = nullptr;
  must(leveldb::DB::Open(options, directory, &db));
  return std::unique_ptr<leveldb::DB>(db);
}

void write_result(const seat& all, std::uint64_t elapsed_ns, std::uint64_t wrong, std::FILE* out) {
  std::fprintf(out, "operations %llu\nelapsed_ns %llu\nwrong %llu\n", static_cast<unsigned long long>(all.operations),
               static_cast<unsigned long long>(elapsed_ns), static_cast<unsigned long long>(wrong));
  bool timed = false;
  for (unsigned i = 0; i < ycsb::operation_names.size(); ++i) {
    const auto samples = static_cast<unsigned long long>(all.latency[i].count());
    if (samples == 0) continue;
    timed = true;
    std::fprintf(out, "latency %s %llu", ycsb::operation_names[i], samples);
    for (const double part : {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999})
      std::fprintf(out, " %llu", static_cast<unsigned long long>(all.latency[i].percentile(part)));
    std::fprintf(out, "\n");
  }
  if (timed) all.ended.print(out);
}

void run(const task& asked, std::FILE* out) {
  const ycsb::mix* const mix = find_mix(asked.workload);
  const bool fills = asked.workload == "fillseq" || asked.workload == "fillrandom";
  if (mix == nullptr && !fills) stop("no workload '" + asked.workload + "'");
  const std::unique_ptr<leveldb::DB> db = open_fresh(asked.directory);
  std::vector<std::unique_ptr<seat>> seats;
  for (unsigned i = 0; i < asked.threads; ++i) seats.push_back(std::make_unique<seat>());
  std::uint64_t elapsed_ns;
  std::uint64_t wrong = 0;
  if (fills) {
    elapsed_ns = run_threads(seats, [&](unsigned me, seat& mine) { fill(*db, asked, me, mine); });
    wrong = wrong_after_fill(*db, asked);
  } else {
    std::string scratch;
    for (std::uint64_t i = 0; i < asked.records; ++i) insert(*db, i, i, scratch);
    ycsb::record_count count(asked.records);
    elapsed_ns = run_threads(seats, [&](unsigned me, seat& mine) { serve(*db, asked, *mix, count, me, mine); });
  }
  seat all;
  for (const auto& one : seats) {
    all.operations += one->operations;
    wrong += one->wrong;
    for (unsigned i = 0; i < ycsb::operation_names.size(); ++i) all.latency[i].merge(one->latency[i]);
    all.ended.merge(one->ended);
  }
  write_result(all, elapsed_ns, wrong, out);
}

}  // namespace

int main(int count, char** words) {
  if (count != 7 && count != 8)
    stop("usage: DIRECTORY WORKLOAD THREADS COUNT SEED RECORDS [RESULT]; the directory does not exist yet");
  task asked;
  asked.directory = words[1];
  asked.workload = words[2];
  asked.threads = static_cast<unsigned>(std::strtoul(words[3], nullptr, 10));
  asked.count = std::strtoull(words[4], nullptr, 10);
  asked.seed = std::strtoull(words[5], nullptr, 10);
  asked.records = std::strtoull(words[6], nullptr, 10);
  if (asked.threads == 0 || asked.threads > ycsb::record_count::max_threads || asked.count == 0 ||
      (asked.workload.find("fill") != 0 && asked.records == 0))
    stop("1 to 64 threads, at least one operation and one record");
  std::FILE* const out = count == 8 ? std::fopen(words[7], "w") : stdout;
  if (out == nullptr) stop(std::string("cannot write ") + words[7]);
  run(asked, out);
  if (std::fclose(out) != 0) stop("the result was not written");
}
