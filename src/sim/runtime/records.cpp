// SPDX-License-Identifier: Apache-2.0
#include "records.hpp"

#include <unistd.h>

namespace txsync::sim {

namespace {

constinit int file = -1;
constinit char buffer[1 << 16] = {};
constinit unsigned used = 0;

void write_all(const char* text, std::size_t size) noexcept {
  for (std::size_t done = 0; done < size;) {
    const ssize_t part = write(file, text + done, size - done);
    if (part <= 0) return;  // the process that started this one is gone
    done += static_cast<std::size_t>(part);
  }
}

}  // namespace

void set_record_file(int descriptor) noexcept { file = descriptor; }
bool has_record_file() noexcept { return file >= 0; }

void write_line(const line_text& line) noexcept {
  if (file < 0) return;
  if (used + line.size() > sizeof buffer) flush_records();
  for (unsigned i = 0; i < line.size(); ++i) buffer[used++] = line.text()[i];
}

void flush_records() noexcept {
  write_all(buffer, used);
  used = 0;
}

void write_failure(const char* text, std::size_t size) noexcept {
  flush_records();
  // On its own line, whatever line the signal interrupted.
  line_text begin;
  begin << "\n" << failure_record << " ";
  write_all(begin.text(), begin.size());
  write_all(text, size);
}

void write_record(const char* name, std::uint64_t value) noexcept { write_record("", name, value); }

void write_record(const char* group, const char* name, std::uint64_t value) noexcept {
  line_text line;
  put_number(line, group, name, value);
  write_line(line);
}

}  // namespace txsync::sim
