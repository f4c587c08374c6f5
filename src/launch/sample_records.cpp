// SPDX-License-Identifier: Apache-2.0
#include "launch/sample_records.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

constexpr std::uint64_t known_parts = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                      PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT |
                                      PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION;

/// Reads the fields of a record. Beyond its end it reads 0, and the record is not whole.
class cursor {
 public:
  explicit cursor(std::span<const unsigned char> bytes) : rest_(bytes) {}

  template <class Value>
  Value take() noexcept {
    Value value{};
    if (rest_.size() < sizeof value) {
      whole_ = false;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::uint64_t word() noexcept { return take<std::uint64_t>(); }
  std::uint32_t half() noexcept { return take<std::uint32_t>(); }

  std::size_t left() const noexcept { return rest_.size(); }
  bool whole() const noexcept { return whole_; }
  std::span<const unsigned char> rest() const noexcept { return rest_; }

 private:
  std::span<const unsigned char> rest_;
  bool whole_ = true;
};

/// The part of a chain that lies in the program. Marks, which are the greatest numbers, say what addresses follow.
bool take_calls(cursor& in, std::vector<std::uint64_t>& calls) {
  const std::uint64_t count = in.word();
  if (count > in.left() / sizeof count) return false;
  bool is_program = false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t address = in.word();
    if (address >= static_cast<std::uint64_t>(PERF_CONTEXT_MAX)) {
      is_program = address == static_cast<std::uint64_t>(PERF_CONTEXT_USER);
    } else if (is_program && address != 0) {
      calls.push_back(address);
    }
  }
  return true;
}

bool read_start(cursor in, sample_records& into) {
  process_start start;
  start.process = in.half();
  start.parent = in.half();
  in.word();  // the threads
  start.time_ns = in.word();
  if (in.whole() && start.process != start.parent) into.starts.push_back(start);
  return in.whole();
}

bool read_lost(cursor in, sample_records& into) {
  in.word();  // the event's number
  into.lost += in.word();
  return in.whole();
}

bool read_lost_samples(cursor in, sample_records& into) {
  into.lost += in.word();
  return in.whole();
}

}  // namespace

record_reader::record_reader(std::uint64_t sample_type) : sample_type_(sample_type) {
  if ((sample_type & ~known_parts) != 0) throw std::invalid_argument("samples have parts that are not read");
  constexpr std::uint64_t before_time = PERF_SAMPLE_TID;
  constexpr std::uint64_t behind_time =
      PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  const auto bytes_of = [&](std::uint64_t parts) {
    return sizeof(std::uint64_t) * static_cast<std::size_t>(std::popcount(sample_type & parts));
  };
  id_bytes_ = bytes_of(before_time | PERF_SAMPLE_TIME | behind_time);
  if (has(PERF_SAMPLE_TIME)) time_from_end_ = bytes_of(PERF_SAMPLE_TIME | behind_time);
}

bool record_reader::read_sample(std::span<const unsigned char> body, sample_records& into) const {
  cursor in(body);
  code_sample sample;
  if (has(PERF_SAMPLE_IDENTIFIER)) in.word();
  if (has(PERF_SAMPLE_IP)) sample.code = in.word();
  if (has(PERF_SAMPLE_TID)) {
    sample.process = in.half();
    sample.thread = in.half();
  }
  if (has(PERF_SAMPLE_TIME)) sample.time_ns = in.word();
  if (has(PERF_SAMPLE_ADDR)) in.word();
  if (has(PERF_SAMPLE_ID)) in.word();
  if (has(PERF_SAMPLE_STREAM_ID)) in.word();
  if (has(PERF_SAMPLE_CPU)) in.word();
  if (has(PERF_SAMPLE_PERIOD)) sample.events = in.word();
  if (has(PERF_SAMPLE_CALLCHAIN) && !take_calls(in, sample.calls)) return false;
  if (has(PERF_SAMPLE_WEIGHT)) sample.cycles = in.word();
  if (has(PERF_SAMPLE_DATA_SRC)) in.word();
  if (has(PERF_SAMPLE_TRANSACTION)) sample.transaction = in.word();
  if (in.whole()) into.samples.push_back(std::move(sample));
  return in.whole();
}

bool record_reader::read_mapping(std::span<const unsigned char> body, sample_records& into) const {
  if (body.size() < id_bytes_) return false;
  cursor in(body.first(body.size() - id_bytes_));
  code_mapping mapping;
  mapping.process = in.half();
  in.half();  // the thread
  mapping.begin = in.word();
  const std::uint64_t bytes = in.word();
  mapping.offset = in.word();
  for (int i = 0; i < 4; ++i) in.word();  // which file it is, rights and flags
  const std::span<const unsigned char> path = in.rest();
  const auto end = std::find(path.begin(), path.end(), '\0');
  if (!in.whole() || end == path.end() || bytes > ~mapping.begin) return false;
  mapping.end = mapping.begin + bytes;
  mapping.path.assign(path.begin(), end);
  if (time_from_end_ != 0) mapping.time_ns = cursor(body.last(time_from_end_)).word();
  into.mappings.push_back(std::move(mapping));
  return true;
}

void record_reader::read(std::span<const unsigned char> bytes, sample_records& into) const {
  while (!bytes.empty()) {
    const auto head = cursor(bytes).take<perf_event_header>();
    if (head.size < sizeof head || head.size > bytes.size()) {
      ++into.damaged;
      return;
    }
    const std::span<const unsigned char> body = bytes.subspan(sizeof head, head.size - sizeof head);
    bytes = bytes.subspan(head.size);
    bool whole = true;
    switch (head.type) {
      case PERF_RECORD_SAMPLE:
        whole = read_sample(body, into);
        break;
      case PERF_RECORD_MMAP2:
        whole = read_mapping(body, into);
        break;
      case PERF_RECORD_FORK:
        whole = read_start(cursor(body), into);
        break;
      case PERF_RECORD_LOST:
        whole = read_lost(cursor(body), into);
        break;
      case PERF_RECORD_LOST_SAMPLES:
        whole = read_lost_samples(cursor(body), into);
        break;
      default:
        break;
    }
    if (!whole) ++into.damaged;
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
