// SPDX-License-Identifier: Apache-2.0
#include "records.hpp"

#include <unistd.h>

#include "failure.hpp"

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

void put(const line_text& line) noexcept {
  if (file < 0) return;
  if (used + line.size() > sizeof buffer) flush_records();
  for (unsigned i = 0; i < line.size(); ++i) buffer[used++] = line.text()[i];
}

}  // namespace

void set_record_file(int descriptor) noexcept { file = descriptor; }
bool has_record_file() noexcept { return file >= 0; }

void flush_records() noexcept {
  write_all(buffer, used);
  used = 0;
}

void write_failure(const char* text, std::size_t size) noexcept {
  flush_records();
  // On its own line, whatever line the signal interrupted.
  constexpr char name[] = "\nfailure ";
  write_all(name, sizeof name - 1);
  write_all(text, size);
}

void write_record(const char* name, std::uint64_t value) noexcept { write_record("", name, value); }

void write_record(const char* group, const char* name, std::uint64_t value) noexcept {
  line_text line;
  line << group << name << " " << value << "\n";
  put(line);
}

void write_record(const line_text& line) noexcept { put(line); }

void write_step(std::uint64_t thread, std::uint64_t code, const char* what, std::uint64_t address) noexcept {
  line_text line;
  line << "step " << thread << " ";
  line.hexadecimal(code) << " " << what << " ";
  line.hexadecimal(address) << "\n";
  put(line);
}

}  // namespace txsync::sim
