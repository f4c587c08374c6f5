// SPDX-License-Identifier: Apache-2.0
// What an image tells the process that started it: lines "name value" on the descriptor it was given, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace txsync::sim {

class line_text;

void set_record_file(int descriptor) noexcept;
/// Whether somebody reads the records, who knows the names and lines of code too.
bool has_record_file() noexcept;
void write_record(const char* name, std::uint64_t value) noexcept;
void write_record(const char* group, const char* name, std::uint64_t value) noexcept;
/// A line of words of its own; it ends with what `line` holds.
void write_record(const line_text& line) noexcept;
/// One step of a traced run: who, where in the code, what ("reads", "writes", "begins", ...), at which address.
void write_step(std::uint64_t thread, std::uint64_t site, const char* what, std::uint64_t address) noexcept;
/// Why the simulation cannot go on, the last of all records; for signal handlers too.
void write_failure(const char* text, std::size_t size) noexcept;
void flush_records() noexcept;

}  // namespace txsync::sim
