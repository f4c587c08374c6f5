// SPDX-License-Identifier: Apache-2.0
// profile.proto of pprof. A contention profile needs few of its messages, so they are written here by hand, field by
// field. The numbers are those of that file: github.com/google/pprof/blob/main/proto/profile.proto.
#include <zlib.h>

#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "report/profile_files.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

/// A message in the wire format of protocol buffers.
class message {
 public:
  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;  // a reader takes an absent field for 0
    varint(field << 3);
    varint(value);
  }
  void numbers(unsigned field, const std::vector<std::uint64_t>& values) {
    message packed;
    for (const std::uint64_t value : values) packed.varint(value);
    bytes(field, packed.text_);
  }
  void bytes(unsigned field, const std::string& value) {
    varint(field << 3 | 2);
    varint(value.size());
    text_ += value;
  }
  void part(unsigned field, const message& value) { bytes(field, value.text_); }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

namespace field {
enum profile : unsigned {
  sample_type = 1,
  sample = 2,
  mapping = 3,
  location = 4,
  function = 5,
  string_table = 6,
  time_nanos = 9,
  duration_nanos = 10,
  period_type = 11,
  period = 12,
  default_sample_type = 14
};
}  // namespace field

/// Each file of the program has addresses of its own, and pprof needs them to differ.
constexpr std::uint64_t bytes_of_mapping = std::uint64_t{1} << 36;

class profile {
 public:
  profile() { (void)text(""); }  // the table's first one

  message made(const launch::result& result) {
    all_.part(field::sample_type, value_type("contentions", "count"));
    all_.part(field::sample_type, value_type("delay", "nanoseconds"));
    for (const launch::blame& one : result.wait_chains) add(one);
    all_.part(field::period_type, value_type("contentions", "count"));
    all_.number(field::period, 1);
    all_.number(field::duration_nanos, static_cast<std::uint64_t>(result.wall_s * 1e9));
    all_.number(field::default_sample_type, text("delay"));
    for (const std::string& one : texts_) all_.bytes(field::string_table, one);
    return all_;
  }

 private:
  /// The text's index in the table of texts.
  std::uint64_t text(const std::string& one) {
    const auto [at, is_new] = text_numbers_.try_emplace(one, texts_.size());
    if (is_new) texts_.push_back(one);
    return at->second;
  }

  message value_type(const char* type, const char* unit) {
    message made;
    made.number(1, text(type));
    made.number(2, text(unit));
    return made;
  }

  std::uint64_t mapping(const std::string& file) {
    if (file.empty()) return 0;
    const auto [at, is_new] = mappings_.try_emplace(file, mappings_.size() + 1);
    if (!is_new) return at->second;
    message made;
    made.number(1, at->second);
    made.number(2, at->second * bytes_of_mapping);
    made.number(3, (at->second + 1) * bytes_of_mapping);
    made.number(5, text(file));
    for (const unsigned has : {7u, 8u, 9u, 10u}) made.number(has, 1);  // functions, files, lines, inlined calls
    all_.part(field::mapping, made);
    return at->second;
  }

  std::uint64_t function(const launch::named_call& call) {
    const auto [at, is_new] = functions_.try_emplace({call.name, call.file, call.module}, functions_.size() + 1);
    if (!is_new) return at->second;
    message made;
    made.number(1, at->second);
    made.number(2, text(call.name));
    made.number(3, text(call.name));
    made.number(4, text(call.file));
    all_.part(field::function, made);
    return at->second;
  }

  /// Calls at one address, the innermost first. All but the last one are inlined.
  std::uint64_t location(const std::vector<const launch::named_call*>& calls) {
    message made;
    const launch::named_call& outermost = *calls.back();
    const std::uint64_t file = mapping(outermost.module);
    std::string key = outermost.module + '\0' + std::to_string(outermost.address);
    message lines;
    for (const launch::named_call* call : calls) {
      message line;
      line.number(1, function(*call));
      line.number(2, call->line);
      lines.part(4, line);
    }
    const auto [at, is_new] = locations_.try_emplace(key + '\0' + lines.text(), locations_.size() + 1);
    if (!is_new) return at->second;
    made.number(1, at->second);
    made.number(2, file);
    if (file != 0) made.number(3, file * bytes_of_mapping + outermost.address);
    // The fields of a message may follow each other in any order and in pieces.
    std::string whole = made.text() + lines.text();
    all_.bytes(field::location, whole);
    return at->second;
  }

  void add(const launch::blame& one) {
    std::vector<std::uint64_t> locations;
    std::vector<const launch::named_call*> at_address;
    for (auto call = one.calls.rbegin(); call != one.calls.rend(); ++call) {
      at_address.push_back(&*call);
      if (call->is_inlined) continue;
      locations.push_back(location(at_address));
      at_address.clear();
    }
    message made;
    made.numbers(1, locations);
    made.numbers(2, {one.waits, one.wait_ns});
    message label;
    label.number(1, text("site"));
    label.number(2, text(one.site));
    made.part(3, label);
    all_.part(field::sample, made);
  }

  message all_;
  std::vector<std::string> texts_;
  std::map<std::string, std::uint64_t> text_numbers_;
  std::map<std::string, std::uint64_t> mappings_;
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> functions_;
  std::map<std::string, std::uint64_t> locations_;
};

std::string compressed(const std::string& text) {
  constexpr int gzip = 16;  // added to the window's bits: a gzip header and trailer
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("no memory to compress the profile");
  std::string made(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(made.data());
  stream.avail_out = static_cast<uInt>(made.size());
  const int status = deflate(&stream, Z_FINISH);
  made.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("the profile could not be compressed");
  return made;
}

}  // namespace

std::string pprof_file(const launch::result& result) { return compressed(profile().made(result).text()); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
