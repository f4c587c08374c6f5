// SPDX-License-Identifier: Apache-2.0
// What an image tells the process that started it: records (protocol.hpp) on the descriptor that it was given, and
// nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../protocol.hpp"
#include "line_text.hpp"

namespace txsync::sim {

void set_record_file(int descriptor) noexcept;
/// Whether somebody reads the records; the reader also knows the names and lines of code.
bool has_record_file() noexcept;

/// A whole line, which must end with a line feed.
void write_line(const line_text& line) noexcept;
/// A record of one number.
void write_record(const char* name, std::uint64_t value) noexcept;
void write_record(const char* group, const char* name, std::uint64_t value) noexcept;
/// A record of several words.
template <class Record>
void write_record(const Record& record) noexcept {
  line_text line;
  put_record(line, record);
  write_line(line);
}
/// Why the simulation cannot continue, as the last of all records. Signal handlers may call it, too.
void write_failure(const char* text, std::size_t size) noexcept;
void flush_records() noexcept;

}  // namespace txsync::sim
