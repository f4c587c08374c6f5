// SPDX-License-Identifier: Apache-2.0
// The files are those of Linux's Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format}.
#include "launch/counted_event.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

namespace fs = std::filesystem;

constexpr unsigned min_precision = 2;

/// The first line; empty if there is no such file.
std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

[[noreturn]] void not_known(const std::string& where, std::string_view name) {
  throw no_event(where + ": '" + std::string(name) + "' is not known to this txsync");
}

/// "0x4" or "4".
std::uint64_t number_in(std::string_view text, const std::string& where) {
  if (text.empty()) throw no_event(where + " cannot be read, or is empty; allowed: a number");
  const bool is_hexadecimal = text.starts_with("0x");
  const std::string_view digits = text.substr(is_hexadecimal ? 2 : 0);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) not_known(where, text);
  return value;
}

/// Cuts off the beginning up to the next `separator`.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

/// The ends of "3-7", or of "3".
std::pair<std::uint64_t, std::uint64_t> range_in(std::string_view text, const std::string& where) {
  std::string_view rest = text;
  const std::uint64_t first = number_in(next_part(rest, '-'), where);
  const std::uint64_t last = rest.empty() ? first : number_in(rest, where);
  if (last < first) not_known(where, text);
  return {first, last};
}

std::uint64_t& word_named(std::string_view name, counted_event& event, const std::string& where) {
  if (name == "config") return event.config[0];
  if (name == "config1") return event.config[1];
  if (name == "config2") return event.config[2];
  not_known(where, name);
}

/// Puts the value's bits, the lowest first, where "config:0-7,32-35" says.
void put_bits(const std::string& format, std::uint64_t value, counted_event& event, const std::string& where) {
  std::string_view rest = format;
  std::uint64_t& word = word_named(next_part(rest, ':'), event, where);
  if (rest.empty()) not_known(where, format);
  while (!rest.empty()) {
    const auto [first, last] = range_in(next_part(rest, ','), where);
    if (last > 63) not_known(where, format);
    for (std::uint64_t bit = first; bit <= last; ++bit, value >>= 1) word |= (value & 1) << bit;
  }
}

/// "event=0xc9,umask=0x4"; a term without a value is 1.
void put_terms(const fs::path& source, const std::string& terms, counted_event& event) {
  for (std::string_view rest = terms; !rest.empty();) {
    std::string_view value = next_part(rest, ',');
    const std::string name(next_part(value, '='));
    const fs::path format = source / "format" / name;
    const std::uint64_t number = value.empty() ? 1 : number_in(value, source / "events/tx-abort");
    if (name.starts_with("config")) {
      word_named(name, event, source / "events/tx-abort") = number;
    } else {
      put_bits(line_of(format), number, event, format);
    }
  }
}

fs::path processor_of(const std::string& sources) {
  std::error_code ignored;
  for (const char* name : {"cpu", "cpu_core"}) {
    if (fs::path found = fs::path(sources) / name; fs::exists(found, ignored)) return found;
  }
  throw no_event("the machine offers no hardware counters to sample them (no cpu in " + sources + ")");
}

}  // namespace

std::vector<unsigned> parse_cpu_list(const std::string& text) {
  constexpr std::uint64_t max_cpu = 65535;
  std::vector<unsigned> cpus;
  for (std::string_view rest = text; !rest.empty();) {
    const auto [first, last] = range_in(next_part(rest, ','), "list of CPUs");
    if (last > max_cpu) not_known("list of CPUs", text);
    for (std::uint64_t cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<unsigned>(cpu));
  }
  return cpus;
}

counted_event find_abort_event(const std::string& sources) {
  const fs::path source = processor_of(sources);
  const std::string terms = line_of(source / "events/tx-abort");
  if (terms.empty())
    throw no_event("the machine's counters count no aborts here (no event tx-abort in " + source.string() + ")");
  counted_event event;
  const std::uint64_t precision = number_in(line_of(source / "caps/max_precise"), source / "caps/max_precise");
  if (precision < min_precision)
    throw no_event(
        fmt::format("the machine's counters do not record the instruction here ({} is {}, needed: 2); a hypervisor may "
                    "hide this ability",
                    (source / "caps/max_precise").string(), precision));
  event.precision = min_precision;
  event.type = static_cast<std::uint32_t>(number_in(line_of(source / "type"), source / "type"));
  put_terms(source, terms, event);
  event.cpus = parse_cpu_list(line_of(source / "cpus"));
  return event;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
