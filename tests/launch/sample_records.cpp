// SPDX-License-Identifier: Apache-2.0
// What the kernel writes of a sampled event: records made byte by byte as linux/perf_event.h has them, and a ring that
// a kernel has filled.
#include <gtest/gtest.h>

#include <linux/perf_event.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "launch/code_samples.hpp"
#include "launch/counted_event.hpp"
#include "launch/sample_records.hpp"
#include "launch/sampler.hpp"

namespace fs = std::filesystem;
namespace launch = txsync::launch;

namespace {

using bytes = std::vector<unsigned char>;

constexpr std::uint64_t sampler_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                                       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_TRANSACTION;
constexpr std::uint64_t in_kernel = static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL);
constexpr std::uint64_t in_program = static_cast<std::uint64_t>(PERF_CONTEXT_USER);

// As the comments on PERF_RECORD_... have them, for that type and sample_id_all.
struct sample_begin {
  perf_event_header header;
  std::uint64_t ip;
  std::uint32_t pid, tid;
  std::uint64_t time, period, nr;
};
struct sample_end {
  std::uint64_t weight, transaction;
};
struct sample_id {
  std::uint32_t pid, tid;
  std::uint64_t time;
};
struct mmap2_begin {
  perf_event_header header;
  std::uint32_t pid, tid;
  std::uint64_t addr, len, pgoff;
  std::uint32_t maj, min;
  std::uint64_t ino, ino_generation;
  std::uint32_t prot, flags;
};
struct fork_record {
  perf_event_header header;
  std::uint32_t pid, ppid, tid, ptid;
  std::uint64_t time;
  sample_id id;
};
struct lost_record {
  perf_event_header header;
  std::uint64_t id, lost;
  sample_id ended;
};

template <class Part>
void append(bytes& to, const Part& part) {
  const std::size_t at = to.size();
  to.resize(at + sizeof part);
  std::memcpy(to.data() + at, &part, sizeof part);
}

perf_event_header header_of(std::uint32_t type, std::size_t size) {
  return {type, 0, static_cast<std::uint16_t>(size)};
}

bytes sample_record(std::uint64_t time, const std::vector<std::uint64_t>& chain, std::uint64_t transaction = 0) {
  bytes made;
  const std::size_t size = sizeof(sample_begin) + 8 * chain.size() + sizeof(sample_end);
  append(made, sample_begin{header_of(PERF_RECORD_SAMPLE, size), 0x401234, 70, 71, time, 9, chain.size()});
  for (const std::uint64_t one : chain) append(made, one);
  append(made, sample_end{250, transaction});
  return made;
}

bytes mapping_record(const std::string& path, std::uint64_t time) {
  std::string padded = path + '\0';
  padded.resize((padded.size() + 7) / 8 * 8);
  bytes made;
  append(made, mmap2_begin{header_of(PERF_RECORD_MMAP2, sizeof(mmap2_begin) + padded.size() + sizeof(sample_id)), 70,
                           70, 0x400000, 0x2000, 0x1000, 8, 1, 4711, 0, 5, 2});
  made.insert(made.end(), padded.begin(), padded.end());
  append(made, sample_id{70, 70, time});
  return made;
}

bytes operator+(bytes first, const bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

launch::sample_records records_of(const bytes& what, std::uint64_t type = sampler_type) {
  launch::sample_records made;
  launch::record_reader(type).read(what, made);
  return made;
}

TEST(SampleRecords, ASampleHasItsPlaceItsCallsAndItsWeight) {
  const auto seen =
      records_of(sample_record(1000, {in_kernel, 0xffffffff81000000, in_program, 0x401300, 0x401400, 0}, 0x5));
  EXPECT_EQ(seen.damaged, 0u);
  ASSERT_EQ(seen.samples.size(), 1u);
  const launch::code_sample& one = seen.samples[0];
  EXPECT_EQ(one.process, 70u);
  EXPECT_EQ(one.thread, 71u);
  EXPECT_EQ(one.time_ns, 1000u);
  EXPECT_EQ(one.code, 0x401234u);
  EXPECT_EQ(one.events, 9u);
  EXPECT_EQ(one.calls, (std::vector<std::uint64_t>{0x401300, 0x401400})) << "the program's alone";
  EXPECT_EQ(one.cycles, 250u);
  EXPECT_EQ(one.transaction, 0x5u);
}

TEST(SampleRecords, PartsThatNobodyNeedsAreSteppedOver) {
  bytes made;
  append(made, header_of(PERF_RECORD_SAMPLE, sizeof(perf_event_header) + 11 * 8));
  // identifier, ip, time, addr, id, stream_id, cpu, a chain of none, weight, data_src, transaction
  for (const std::uint64_t word : {1, 0x500, 2, 3, 4, 5, 6, 0, 7, 8, 9}) append(made, word);
  const auto seen =
      records_of(made, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                           PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT |
                           PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION);
  ASSERT_EQ(seen.samples.size(), 1u);
  EXPECT_EQ(seen.samples[0].code, 0x500u);
  EXPECT_EQ(seen.samples[0].time_ns, 2u);
  EXPECT_EQ(seen.samples[0].events, 1u) << "without a period it stands for itself";
  EXPECT_EQ(seen.samples[0].cycles, 7u);
  EXPECT_EQ(seen.samples[0].transaction, 9u);
}

TEST(SampleRecords, PartsThatAreNotKnownAreRefused) {
  EXPECT_THROW(launch::record_reader(sampler_type | PERF_SAMPLE_RAW), std::invalid_argument);
  EXPECT_THROW(launch::record_reader(sampler_type | PERF_SAMPLE_BRANCH_STACK), std::invalid_argument);
}

TEST(SampleRecords, AMappingHasItsFileAndItsTime) {
  for (const std::string path : {"/usr/bin/shop", "/usr/bin/shops", "/a"}) {
    const auto seen = records_of(mapping_record(path, 77));
    ASSERT_EQ(seen.mappings.size(), 1u);
    const launch::code_mapping& one = seen.mappings[0];
    EXPECT_EQ(one.path, path);
    EXPECT_EQ(one.process, 70u);
    EXPECT_EQ(one.time_ns, 77u);
    EXPECT_EQ(one.begin, 0x400000u);
    EXPECT_EQ(one.end, 0x402000u);
    EXPECT_EQ(one.offset, 0x1000u);
  }
}

TEST(SampleRecords, ThreadsAreNoChildren) {
  bytes made;
  append(made, fork_record{header_of(PERF_RECORD_FORK, sizeof(fork_record)), 70, 70, 72, 70, 5, {}});
  append(made, fork_record{header_of(PERF_RECORD_FORK, sizeof(fork_record)), 80, 70, 80, 71, 6, {}});
  const auto seen = records_of(made);
  ASSERT_EQ(seen.starts.size(), 1u);
  EXPECT_EQ(seen.starts[0].process, 80u);
  EXPECT_EQ(seen.starts[0].parent, 70u);
  EXPECT_EQ(seen.starts[0].time_ns, 6u);
}

TEST(SampleRecords, WhatTheKernelLostIsCounted) {
  bytes made = sample_record(1, {in_program, 0x401300});
  append(made, lost_record{header_of(PERF_RECORD_LOST, sizeof(lost_record)), 3, 40, {}});
  append(made, lost_record{header_of(PERF_RECORD_LOST, sizeof(lost_record)), 3, 2, {}});
  append(made, header_of(PERF_RECORD_LOST_SAMPLES, 16));
  append(made, std::uint64_t{100});
  const auto seen = records_of(made);
  EXPECT_EQ(seen.lost, 142u);
  EXPECT_EQ(seen.samples.size(), 1u);
}

TEST(SampleRecords, OtherRecordsArePassedOverByTheirSize) {
  bytes made;
  for (const std::uint32_t type : {std::uint32_t{PERF_RECORD_COMM}, std::uint32_t{PERF_RECORD_EXIT}, 9999U}) {
    append(made, header_of(type, 24));
    append(made, std::uint64_t{1});
    append(made, std::uint64_t{2});
  }
  const auto seen = records_of(made + sample_record(1, {}));
  EXPECT_EQ(seen.samples.size(), 1u);
  EXPECT_EQ(seen.damaged, 0u);
}

TEST(SampleRecords, WhereverTheBytesEndTheWholeRecordsAreRead) {
  const bytes first = mapping_record("/usr/bin/shop", 1);
  const bytes second = sample_record(2, {in_program, 0x401300});
  const bytes all = first + second;
  for (std::size_t length = 0; length <= all.size(); ++length) {
    const auto seen = records_of(bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_EQ(seen.mappings.size(), length >= first.size() ? 1u : 0u) << length;
    EXPECT_EQ(seen.samples.size(), length == all.size() ? 1u : 0u) << length;
    EXPECT_EQ(seen.damaged, length == 0 || length == first.size() || length == all.size() ? 0u : 1u) << length;
  }
}

TEST(SampleRecords, SizesThatCannotBeEndTheReading) {
  for (const std::size_t size : {0, 1, 7, 4096}) {
    bytes made = sample_record(1, {});
    append(made, header_of(PERF_RECORD_SAMPLE, size));
    const auto seen = records_of(made + sample_record(2, {}));
    EXPECT_EQ(seen.samples.size(), 1u) << size;
    EXPECT_EQ(seen.damaged, 1u) << size;
  }
}

TEST(SampleRecords, DamageWithinARecordCostsThatOneAlone) {
  bytes endless = sample_record(1, {in_program, 0x401300});
  const std::uint64_t count = ~std::uint64_t{0} / 8;
  std::memcpy(endless.data() + offsetof(sample_begin, nr), &count, sizeof count);
  bytes unending = mapping_record("/usr/bin/shop", 1);
  std::memset(unending.data() + sizeof(mmap2_begin), 'x', unending.size() - sizeof(mmap2_begin) - sizeof(sample_id));
  bytes wrapping = mapping_record("/usr/bin/shop", 1);
  const std::uint64_t length = ~std::uint64_t{0};
  std::memcpy(wrapping.data() + offsetof(mmap2_begin, len), &length, sizeof length);
  bytes small;
  append(small, header_of(PERF_RECORD_MMAP2, 8));
  append(small, header_of(PERF_RECORD_FORK, 8));
  append(small, header_of(PERF_RECORD_LOST, 8));
  const auto seen = records_of(endless + unending + wrapping + small + sample_record(2, {}));
  EXPECT_EQ(seen.damaged, 6u);
  ASSERT_EQ(seen.samples.size(), 1u);
  EXPECT_EQ(seen.samples[0].time_ns, 2u);
  EXPECT_TRUE(seen.mappings.empty());
}

/// A ring as the kernel fills it.
class filled_ring {
 public:
  explicit filled_ring(std::size_t size) : room_(size) {}

  bool write(const bytes& record) {
    if (head_.data_head + record.size() - head_.data_tail > room_.size()) return false;
    for (const unsigned char one : record) room_[head_.data_head++ & (room_.size() - 1)] = one;
    return true;
  }
  std::optional<bytes> take() { return launch::take_written(head_, room_); }
  perf_event_mmap_page& head() { return head_; }

 private:
  perf_event_mmap_page head_{};
  bytes room_;
};

TEST(SampleRings, RecordsGoOnAtTheBegin) {
  filled_ring one(256);
  std::uint64_t written = 0;
  std::vector<std::uint64_t> times;
  while (written < 1000) {
    while (one.write(sample_record(written, {in_program, 0x401300}))) ++written;
    const std::optional<bytes> taken = one.take();
    ASSERT_TRUE(taken);
    const auto seen = records_of(*taken);
    EXPECT_EQ(seen.damaged, 0u);
    for (const launch::code_sample& each : seen.samples) times.push_back(each.time_ns);
  }
  ASSERT_EQ(times.size(), written);
  for (std::uint64_t i = 0; i < written; ++i) EXPECT_EQ(times[i], i);
  EXPECT_TRUE(one.take()->empty());
}

TEST(SampleRings, EndsThatMakeNoSenseAreLeftBehind) {
  filled_ring one(256);
  one.write(sample_record(1, {}));
  one.head().data_head += 1024;
  EXPECT_FALSE(one.take());
  EXPECT_TRUE(one.write(sample_record(2, {})));
  EXPECT_EQ(records_of(one.take().value_or(bytes())).samples.size(), 1u);
}

/// The head and the tail of a ring of 4 KB, then its bytes. A kernel (Linux 6.18) sampled the CPU clock of a program
/// and its child every millisecond on one CPU. It had lost some before there was room again. Only the program's path is
/// not what it wrote.
TEST(SampleRings, OneThatAKernelHasFilledIsRead) {
  std::ifstream in(RECORDED_SAMPLES, std::ios::binary);
  bytes file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  ASSERT_EQ(file.size(), 16u + 4096u);
  perf_event_mmap_page head{};
  std::memcpy(&head.data_head, file.data(), 8);
  std::memcpy(&head.data_tail, file.data() + 8, 8);
  const std::uint64_t begin = head.data_tail % 4096;
  ASSERT_GT(begin + (head.data_head - head.data_tail), 4096u) << "it goes on at the begin";
  const auto taken = launch::take_written(head, std::span(file).subspan(16));
  ASSERT_TRUE(taken);
  const auto seen = records_of(*taken);
  EXPECT_EQ(seen.damaged, 0u);
  EXPECT_GT(seen.lost, 0u);
  ASSERT_EQ(seen.starts.size(), 1u);
  const std::uint32_t child = seen.starts[0].process;
  std::size_t in_shop = 0;
  std::size_t of_child = 0;
  for (const launch::code_sample& one : seen.samples) {
    EXPECT_TRUE(one.process == child || one.process == seen.starts[0].parent);
    EXPECT_EQ(one.events, 1'000'000u);
    ASSERT_FALSE(one.calls.empty());
    EXPECT_EQ(one.calls[0], one.code) << "a clock interrupts where it samples";
    if (one.process != child) continue;
    ++of_child;
    for (const launch::code_mapping& each : seen.mappings) {
      if (each.process == child && each.path.ends_with("/shop") && one.code >= each.begin && one.code < each.end)
        ++in_shop;
    }
  }
  EXPECT_GE(seen.samples.size(), 20u);
  EXPECT_GE(of_child, 10u);
  EXPECT_GE(10 * in_shop, 9 * of_child) << "it does little else than counting";
}

TEST(CodeSamples, AbortsHaveTheirFirstCause) {
  using txsync::abort_cause;
  EXPECT_EQ(launch::cause_of(0), std::nullopt) << "no transaction";
  const std::uint64_t rtm = PERF_TXN_TRANSACTION;
  EXPECT_EQ(launch::cause_of(rtm | PERF_TXN_ASYNC | PERF_TXN_RETRY | PERF_TXN_CONFLICT), abort_cause::conflict);
  EXPECT_EQ(launch::cause_of(rtm | PERF_TXN_CAPACITY_WRITE), abort_cause::capacity_write);
  EXPECT_EQ(launch::cause_of(rtm | PERF_TXN_CAPACITY_READ), abort_cause::capacity_read);
  EXPECT_EQ(launch::cause_of(rtm | PERF_TXN_SYNC), abort_cause::unknown);
  const auto code = [&](std::uint64_t of) { return rtm | PERF_TXN_SYNC | of << PERF_TXN_ABORT_SHIFT; };
  EXPECT_EQ(launch::cause_of(code(0xFF)), abort_cause::lock_busy);
  EXPECT_EQ(launch::cause_of(code(0xFE)), abort_cause::explicit_abort);
}

TEST(CodeSamples, ThoseOfAPlaceAreAddedUp) {
  launch::sample_adder adder;
  const std::uint64_t busy = PERF_TXN_TRANSACTION | std::uint64_t{0xFF} << PERF_TXN_ABORT_SHIFT;
  adder.add(records_of(sample_record(1, {in_program, 0x1}, busy) + sample_record(2, {in_program, 0x1}, busy)));
  adder.add(records_of(sample_record(3, {in_program, 0x2}, busy) + mapping_record("/b", 9) +
                       mapping_record("[vdso]", 1) + mapping_record("//anon", 2) + mapping_record("/a", 8)));
  const launch::code_samples all = adder.take();
  EXPECT_EQ(all.samples, 3u);
  ASSERT_EQ(all.places.size(), 2u);
  const auto& [place, sum] = *all.places.begin();
  EXPECT_EQ(place.cause, txsync::abort_cause::lock_busy);
  EXPECT_EQ(sum.samples, 2u);
  EXPECT_EQ(sum.events, 18u);
  EXPECT_EQ(sum.cycles, 18u * 250u);
  ASSERT_EQ(all.mappings.size(), 2u) << "what is no file has no names";
  EXPECT_EQ(all.mappings[0].path, "/a") << "by time";
}

TEST(CodeSamples, ThereIsRoomForSoManyPlaces) {
  launch::sample_adder adder;
  launch::sample_records some;
  for (std::uint64_t i = 0; i < launch::sample_adder::max_places + 3; ++i)
    some.samples.push_back({.process = 1, .code = i});
  some.samples.push_back({.process = 1, .code = 0});
  adder.add(std::move(some));
  const launch::code_samples all = adder.take();
  EXPECT_EQ(all.places.size(), launch::sample_adder::max_places);
  EXPECT_EQ(all.left_out, 3u);
  EXPECT_EQ(all.places.begin()->second.samples, 2u);
}

launch::sample_records process_that_maps(std::uint32_t process, std::uint32_t parent) {
  launch::sample_records made;
  made.starts.push_back({process, parent, process});
  made.mappings.push_back({process, process, 0, 0x1000, 0, "/bin/true"});
  return made;
}

TEST(CodeSamples, EndedProcessesWithoutSamplesAreForgottenWhenThereIsNoMoreRoom) {
  launch::sample_adder adder([](std::uint32_t process) noexcept { return process != 5; });
  adder.add(process_that_maps(3, 1));  // has a child that runs
  adder.add(process_that_maps(4, 1));  // has a sample
  adder.add(process_that_maps(5, 3));
  launch::sample_records sampled;
  sampled.samples.push_back({.process = 4, .code = 0x10});
  adder.add(std::move(sampled));
  constexpr std::uint32_t many = launch::sample_adder::max_mappings + 10;
  for (std::uint32_t i = 0; i < many; ++i) adder.add(process_that_maps(100 + i, 1));
  const launch::code_samples all = adder.take();
  EXPECT_LT(all.mappings.size(), 100u);
  EXPECT_EQ(all.mappings.size(), all.starts.size());
  std::set<std::uint32_t> left;
  for (const launch::code_mapping& one : all.mappings) left.insert(one.process);
  for (const std::uint32_t process : {3u, 4u, 5u}) EXPECT_TRUE(left.contains(process)) << process;
  EXPECT_EQ(all.unnamed, 0u);
}

TEST(CodeSamples, ThereIsRoomForSoManyMappings) {
  launch::sample_adder adder([](std::uint32_t) noexcept { return false; });
  for (std::uint32_t i = 1; i <= launch::sample_adder::max_mappings + 3; ++i) adder.add(process_that_maps(i, 0));
  const launch::code_samples all = adder.take();
  EXPECT_EQ(all.mappings.size(), launch::sample_adder::max_mappings);
  EXPECT_EQ(all.starts.size(), launch::sample_adder::max_starts);
  EXPECT_EQ(all.unnamed, 6u) << "mappings and starts";
}

/// A machine's description of its counters.
class Counters : public testing::Test {
 protected:
  Counters() : sources_(fs::path(testing::TempDir()) / ("sources-" + std::to_string(getpid()))) {
    put("cpu/type", "4");
    put("cpu/caps/max_precise", "3");
    put("cpu/events/tx-abort", "event=0xc9,umask=0x4");
    put("cpu/format/event", "config:0-7,32-35");
    put("cpu/format/umask", "config:8-15");
  }
  ~Counters() override { fs::remove_all(sources_); }

  void put(const std::string& file, const std::string& line) const {
    fs::create_directories((sources_ / file).parent_path());
    std::ofstream(sources_ / file) << line << '\n';
  }
  std::string why_not() const {
    try {
      launch::find_abort_event(sources_);
      return "it was found";
    } catch (const launch::no_event& error) {
      return error.what();
    }
  }

  fs::path sources_;
};

TEST_F(Counters, TheEventIsEncodedAsTheFilesSay) {
  const launch::counted_event found = launch::find_abort_event(sources_);
  EXPECT_EQ(found.type, 4u);
  EXPECT_EQ(found.config[0], 0x4c9u);
  EXPECT_EQ(found.precision, 2u);
  EXPECT_TRUE(found.cpus.empty());
  put("cpu/events/tx-abort", "event=0x1c9,config1=0x30,any");
  put("cpu/format/any", "config2:5");
  const launch::counted_event other = launch::find_abort_event(sources_);
  EXPECT_EQ(other.config[0], 0x1'0000'00c9u);
  EXPECT_EQ(other.config[1], 0x30u);
  EXPECT_EQ(other.config[2], 1u << 5);
}

TEST_F(Counters, OfTwoKindsOfCoresThoseThatCountAreNamed) {
  fs::rename(sources_ / "cpu", sources_ / "cpu_core");
  put("cpu_core/cpus", "0-3,8");
  EXPECT_EQ(launch::find_abort_event(sources_).cpus, (std::vector<unsigned>{0, 1, 2, 3, 8}));
}

TEST_F(Counters, WhatIsMissingIsSaid) {
  put("cpu/caps/max_precise", "0");
  EXPECT_NE(why_not().find("max_precise is 0"), std::string::npos) << why_not();
  put("cpu/caps/max_precise", "3");
  for (const char* wrong : {"event=0xc9,cmask=1", "event=zwölf", "event=0x", "config3=1"}) {
    put("cpu/events/tx-abort", wrong);
    EXPECT_NE(why_not().find("is not known to this txsync"), std::string::npos) << wrong << ": " << why_not();
  }
  put("cpu/events/tx-abort", "event=0xc9");
  for (const char* wrong : {"config", "config:7-0", "config:0-64", "config:x", "nothing:0-7"}) {
    put("cpu/format/event", wrong);
    EXPECT_NE(why_not().find("is not known"), std::string::npos) << wrong << ": " << why_not();
  }
  fs::remove(sources_ / "cpu/events/tx-abort");
  EXPECT_NE(why_not().find("no event tx-abort in"), std::string::npos) << why_not();
  fs::remove_all(sources_);
  EXPECT_NE(why_not().find("offers no hardware counters"), std::string::npos) << why_not();
}

TEST(Samplers, RefusalsSayWhatMayHelp) {
  EXPECT_NE(launch::why_refused(EACCES, "3").find("sysctl kernel.perf_event_paranoid=2"), std::string::npos);
  EXPECT_NE(launch::why_refused(EPERM, "2").find("--cap-add PERFMON"), std::string::npos);
  EXPECT_NE(launch::why_refused(EPERM, "").find("--cap-add PERFMON"), std::string::npos);
  EXPECT_NE(launch::why_refused(ENOENT, "2").find("do not sample the event"), std::string::npos);
  EXPECT_NE(launch::why_refused(EMFILE, "2").find("ulimit -n"), std::string::npos);
  EXPECT_NE(launch::why_refused(EIO, "2").find(std::strerror(EIO)), std::string::npos);
}

}  // namespace
