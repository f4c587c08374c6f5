// SPDX-License-Identifier: Apache-2.0
// What an image tells the process that started it: lines "name value" on the descriptor that it was given, and nothing
// else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace txsync::sim {

class line_text;

void set_record_file(int descriptor) noexcept;
/// Whether somebody reads the records; the reader also knows the names and lines of code.
bool has_record_file() noexcept;
void write_record(const char* name, std::uint64_t value) noexcept;
void write_record(const char* group, const char* name, std::uint64_t value) noexcept;
/// A line of several words, which must end with a line feed.
void write_record(const line_text& line) noexcept;
/// One step of a traced run: who, where in the code, what ("reads", "writes", "begins", ...), at which address.
void write_step(std::uint64_t thread, std::uint64_t code, const char* what, std::uint64_t address) noexcept;
/// Why the simulation cannot continue, as the last of all records. Signal handlers may call it, too.
void write_failure(const char* text, std::size_t size) noexcept;
void flush_records() noexcept;

}  // namespace txsync::sim
