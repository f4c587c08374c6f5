// SPDX-License-Identifier: Apache-2.0
// POSIX regular expressions, names of files, sets of characters. libc's own state of them is no memory of the program.
#include <fnmatch.h>
#include <iconv.h>
#include <regex.h>

#include "touch.hpp"

using namespace txsync::sim::library;

extern "C" {

int txsync_sim_regcomp(regex_t* expression, const char* pattern, int flags) {
  outside("regcomp");
  reads_string(pattern);
  writes_object(expression);
  return regcomp(expression, pattern, flags);
}

int txsync_sim_regexec(const regex_t* expression, const char* text, std::size_t count, regmatch_t* matches, int flags) {
  outside("regexec");
  reads_object(expression);
  if ((flags & REG_STARTEND) != 0) {
    reads_object(matches);
    reads(text + matches->rm_so, static_cast<std::size_t>(matches->rm_eo - matches->rm_so));
  } else {
    reads_string(text);
  }
  writes(matches, count * sizeof *matches);
  return regexec(expression, text, count, matches, flags);
}

std::size_t txsync_sim_regerror(int error, const regex_t* expression, char* text, std::size_t size) {
  outside("regerror");
  reads_object(expression);
  writes(text, size);
  return regerror(error, expression, text, size);
}

void txsync_sim_regfree(regex_t* expression) {
  outside("regfree");
  writes_object(expression);
  regfree(expression);
}

int txsync_sim_fnmatch(const char* pattern, const char* name, int flags) {
  step();
  reads_string(pattern);
  reads_string(name);
  return fnmatch(pattern, name, flags);
}

// The arguments are null at the beginning of a text.
std::size_t txsync_sim_iconv(iconv_t how, char** from, std::size_t* from_bytes, char** to, std::size_t* to_bytes) {
  outside("iconv");
  if (from && *from) reads(*from, *from_bytes);
  if (to && *to) writes(*to, *to_bytes);
  writes_object(from);
  writes_object(from_bytes);
  writes_object(to);
  writes_object(to_bytes);
  return iconv(how, from, from_bytes, to, to_bytes);
}

}  // extern "C"
