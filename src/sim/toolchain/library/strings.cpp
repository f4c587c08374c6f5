// SPDX-License-Identifier: Apache-2.0
// str*. A string is measured after step(), so that its length is still right when it is read.
#include <strings.h>

#include <algorithm>
#include <cstdlib>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

char* changeable(const char* text) { return const_cast<char*>(text); }

// Announces the reads of a comparison of two strings, by at most `limit` bytes.
void reads_both(const char* a, const char* b, std::size_t limit) {
  const std::size_t shorter = std::min(strnlen(a, limit), strnlen(b, limit));
  std::size_t seen = 0;
  while (seen < shorter && a[seen] == b[seen]) ++seen;
  reads(a, std::min(seen + 1, limit));
  reads(b, std::min(seen + 1, limit));
}
void reads_whole(const char* a, const char* b) {
  reads_string(a);
  reads_string(b);
}
constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

void copies(char* to, const char* from) { writes(to, reads_string(from) + 1); }

}  // namespace

extern "C" {

std::size_t txsync_sim_strlen(const char* text) {
  step();
  return reads_string(text);
}
std::size_t txsync_sim_strnlen(const char* text, std::size_t limit) {
  step();
  return reads_string(text, limit);
}
int txsync_sim_strcmp(const char* a, const char* b) {
  step();
  reads_both(a, b, no_limit);
  return std::strcmp(a, b);
}
int txsync_sim_strncmp(const char* a, const char* b, std::size_t limit) {
  step();
  reads_both(a, b, limit);
  return std::strncmp(a, b, limit);
}
int txsync_sim_strcasecmp(const char* a, const char* b) {
  step();
  reads_whole(a, b);
  return strcasecmp(a, b);
}
int txsync_sim_strncasecmp(const char* a, const char* b, std::size_t limit) {
  step();
  reads_string(a, limit);
  reads_string(b, limit);
  return strncasecmp(a, b, limit);
}
int txsync_sim_strcoll(const char* a, const char* b) {
  step();
  reads_whole(a, b);
  return std::strcoll(a, b);
}

char* txsync_sim_strchr(const char* text, int value) {
  step();
  reads_string(text);
  return changeable(std::strchr(text, value));
}
char* txsync_sim_index(const char* text, int value) { return txsync_sim_strchr(text, value); }
char* txsync_sim_strrchr(const char* text, int value) {
  step();
  reads_string(text);
  return changeable(std::strrchr(text, value));
}
char* txsync_sim_rindex(const char* text, int value) { return txsync_sim_strrchr(text, value); }
char* txsync_sim_strchrnul(const char* text, int value) {
  step();
  reads_string(text);
  return strchrnul(changeable(text), value);
}
char* txsync_sim_strstr(const char* text, const char* wanted) {
  step();
  reads_whole(text, wanted);
  return changeable(std::strstr(text, wanted));
}
char* txsync_sim_strcasestr(const char* text, const char* wanted) {
  step();
  reads_whole(text, wanted);
  return strcasestr(changeable(text), wanted);
}
std::size_t txsync_sim_strspn(const char* text, const char* set) {
  step();
  reads_whole(text, set);
  return std::strspn(text, set);
}
std::size_t txsync_sim_strcspn(const char* text, const char* set) {
  step();
  reads_whole(text, set);
  return std::strcspn(text, set);
}
char* txsync_sim_strpbrk(const char* text, const char* set) {
  step();
  reads_whole(text, set);
  return changeable(std::strpbrk(text, set));
}

char* txsync_sim_strcpy(char* to, const char* from) {
  step();
  copies(to, from);
  return std::strcpy(to, from);
}
char* txsync_sim_stpcpy(char* to, const char* from) {
  step();
  copies(to, from);
  return stpcpy(to, from);
}
char* txsync_sim_strncpy(char* to, const char* from, std::size_t limit) {
  step();
  reads_string(from, limit);
  writes(to, limit);
  return std::strncpy(to, from, limit);
}
char* txsync_sim_stpncpy(char* to, const char* from, std::size_t limit) {
  step();
  reads_string(from, limit);
  writes(to, limit);
  return stpncpy(to, from, limit);
}
char* txsync_sim_strcat(char* to, const char* from) {
  step();
  copies(to + reads_string(to), from);
  return std::strcat(to, from);
}
char* txsync_sim_strncat(char* to, const char* from, std::size_t limit) {
  step();
  const std::size_t length = reads_string(to);
  writes(to + length, reads_string(from, limit) + 1);
  return std::strncat(to, from, limit);
}
// The allocator may switch threads. A string that has grown meanwhile is cut at its former length.
char* txsync_sim_strndup(const char* text, std::size_t limit) {
  step();
  const std::size_t length = reads_string(text, limit);
  auto* made = static_cast<char*>(std::malloc(length + 1));
  if (!made) return nullptr;
  reads(text, length);
  writes(made, length + 1);
  std::memcpy(made, text, length);
  made[length] = '\0';
  return made;
}
char* txsync_sim_strdup(const char* text) { return txsync_sim_strndup(text, no_limit); }

char* txsync_sim_strtok_r(char* text, const char* set, char** place) {
  step();
  reads_object(place);
  writes_object(place);
  char* start = text ? text : *place;
  if (start) writes(start, reads_string(start) + 1);
  reads_string(set);
  return strtok_r(text, set, place);
}
char* txsync_sim_strtok(char* text, const char* set) {
  static char* place;
  return txsync_sim_strtok_r(text, set, &place);
}
char* txsync_sim_strsep(char** place, const char* set) {
  step();
  reads_object(place);
  writes_object(place);
  if (*place) writes(*place, reads_string(*place) + 1);
  reads_string(set);
  return strsep(place, set);
}

// Of <libgen.h>, which makes basename a macro; and what <string.h> gives another name.
char* __xpg_basename(char* path) noexcept;
char* dirname(char* path) noexcept;
int __xpg_strerror_r(int error, char* to, std::size_t size) noexcept;

// The texts of errors: GNU's function returns where the text is, POSIX's a status.
char* txsync_sim_strerror_r(int error, char* to, std::size_t size) {
  step();
  writes(to, size);
  return strerror_r(error, to, size);
}
int txsync_sim___xpg_strerror_r(int error, char* to, std::size_t size) {
  step();
  writes(to, size);
  return __xpg_strerror_r(error, to, size);
}

// Parts of paths.
char* txsync_sim_basename(const char* path) {
  step();
  reads_string(path);
  const char* const slash = std::strrchr(path, '/');
  return const_cast<char*>(slash ? slash + 1 : path);
}
char* txsync_sim___xpg_basename(char* path) {
  step();
  if (path) writes(path, reads_string(path) + 1);
  return __xpg_basename(path);
}
char* txsync_sim_dirname(char* path) {
  step();
  if (path) writes(path, reads_string(path) + 1);
  return dirname(path);
}

}  // extern "C"
