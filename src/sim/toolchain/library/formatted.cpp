// SPDX-License-Identifier: Apache-2.0
// printf and scanf. Text for memory is made in a buffer of this library and copied as one write. Strings among the
// arguments are announced as reads; libc itself parses the format for this.
#include <printf.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

template <typename T>
void skip(va_list arguments) {
  static_cast<void>(va_arg(arguments, T));
}

void skip_argument(int type, va_list arguments) {
  const int base = type & ~PA_FLAG_MASK;
  const bool pointer = (type & PA_FLAG_PTR) != 0 || base == PA_POINTER;
  if (pointer || (base != PA_DOUBLE && base != PA_FLOAT)) {
    skip<long>(arguments);  // all integers are passed like pointers, in 8 bytes
  } else if (type & PA_FLAG_LONG_DOUBLE) {
    skip<long double>(arguments);
  } else {
    skip<double>(arguments);
  }
}

// A precision may end the read before the string's end. What follows mostly belongs to the same object.
void reads_arguments(const char* format, va_list given) {
  reads_string(format);
  int types[64];
  const std::size_t count = std::min<std::size_t>(parse_printf_format(format, 64, types), 64);
  va_list arguments;
  va_copy(arguments, given);
  const bool bounded = std::strchr(format, '.') != nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if ((types[i] & ~PA_FLAG_MASK) == PA_STRING) {
      const char* text = va_arg(arguments, const char*);
      if (text && !bounded) reads_string(text);
    } else {
      skip_argument(types[i], arguments);
    }
  }
  va_end(arguments);
}

}  // namespace

extern "C" {

int txsync_sim_vsnprintf(char* to, std::size_t size, const char* format, va_list arguments) {
  step();
  reads_arguments(format, arguments);
  va_list again;
  va_copy(again, arguments);
  char first[512];
  const int length = std::vsnprintf(first, sizeof first, format, arguments);
  if (length >= 0 && size > 0) {
    const std::size_t copied = std::min<std::size_t>(length, size - 1);
    writes(to, copied + 1);
    if (copied < sizeof first) {
      std::memcpy(to, first, copied);
      to[copied] = '\0';
    } else {
      std::vsnprintf(to, size, format, again);
    }
  }
  va_end(again);
  return length;
}
int txsync_sim_vsprintf(char* to, const char* format, va_list arguments) {
  return txsync_sim_vsnprintf(to, static_cast<std::size_t>(-1) >> 1, format, arguments);
}
int txsync_sim_vasprintf(char** to, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = txsync_sim_vsnprintf(nullptr, 0, format, arguments);
  auto* made = length < 0 ? nullptr : static_cast<char*>(std::malloc(static_cast<std::size_t>(length) + 1));
  if (made) txsync_sim_vsnprintf(made, static_cast<std::size_t>(length) + 1, format, again);
  va_end(again);
  writes_object(to);
  *to = made;
  return made ? length : -1;
}
int txsync_sim_vfprintf(FILE* file, const char* format, va_list arguments) {
  outside("fprintf");
  reads_arguments(format, arguments);
  return std::vfprintf(file, format, arguments);
}
int txsync_sim_vprintf(const char* format, va_list arguments) { return txsync_sim_vfprintf(stdout, format, arguments); }

int txsync_sim_snprintf(char* to, std::size_t size, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = txsync_sim_vsnprintf(to, size, format, arguments);
  va_end(arguments);
  return length;
}
int txsync_sim_sprintf(char* to, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = txsync_sim_vsprintf(to, format, arguments);
  va_end(arguments);
  return length;
}
int txsync_sim_asprintf(char** to, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = txsync_sim_vasprintf(to, format, arguments);
  va_end(arguments);
  return length;
}
int txsync_sim_fprintf(FILE* file, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = txsync_sim_vfprintf(file, format, arguments);
  va_end(arguments);
  return length;
}
int txsync_sim_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = txsync_sim_vfprintf(stdout, format, arguments);
  va_end(arguments);
  return length;
}
int txsync_sim_dprintf(int file, const char* format, ...) {
  outside("dprintf");
  va_list arguments;
  va_start(arguments, format);
  reads_arguments(format, arguments);
  const int length = vdprintf(file, format, arguments);
  va_end(arguments);
  return length;
}

// What scanf writes cannot be known from its format alone. So an attempt ends here, and the bytes are not announced.
int txsync_sim_sscanf(const char* text, const char* format, ...) {
  outside("sscanf");
  reads_string(text);
  va_list arguments;
  va_start(arguments, format);
  const int converted = std::vsscanf(text, format, arguments);
  va_end(arguments);
  return converted;
}
int txsync_sim___isoc99_sscanf(const char* text, const char* format, ...) {
  outside("sscanf");
  reads_string(text);
  va_list arguments;
  va_start(arguments, format);
  const int converted = std::vsscanf(text, format, arguments);
  va_end(arguments);
  return converted;
}

int txsync_sim_puts(const char* text) {
  outside("puts");
  reads_string(text);
  return std::puts(text);
}
int txsync_sim_fputs(const char* text, FILE* file) {
  outside("fputs");
  reads_string(text);
  return std::fputs(text, file);
}
void txsync_sim_perror(const char* text) {
  outside("perror");
  if (text) reads_string(text);
  std::perror(text);
}
std::size_t txsync_sim_fwrite(const void* from, std::size_t size, std::size_t count, FILE* file) {
  outside("fwrite");
  reads(from, size * count);
  return std::fwrite(from, size, count, file);
}
std::size_t txsync_sim_fread(void* to, std::size_t size, std::size_t count, FILE* file) {
  outside("fread");
  writes(to, size * count);
  return std::fread(to, size, count, file);
}
int txsync_sim_fgetc(FILE* file) {
  outside("fgetc");
  return std::fgetc(file);
}
char* txsync_sim_fgets(char* to, int size, FILE* file) {
  outside("fgets");
  writes(to, static_cast<std::size_t>(size));
  return std::fgets(to, size, file);
}
ssize_t txsync_sim_getline(char** line, std::size_t* size, FILE* file) {
  outside("getline");
  writes_object(line);
  writes_object(size);
  const ssize_t length = getline(line, size, file);
  if (length >= 0) writes(*line, static_cast<std::size_t>(length) + 1);
  return length;
}

}  // extern "C"
