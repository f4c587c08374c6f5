// SPDX-License-Identifier: Apache-2.0
// wcs*. A string is measured after step(), so that its length is still right when it is read.
#include <cwchar>

#include <algorithm>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

wchar_t* changeable(const wchar_t* text) { return const_cast<wchar_t*>(text); }

void reads_characters(const wchar_t* text, std::size_t count) { reads(text, count * sizeof *text); }

std::size_t reads_wide(const wchar_t* text) {
  const std::size_t length = std::wcslen(text);
  reads_characters(text, length + 1);
  return length;
}
void reads_wide(const wchar_t* text, std::size_t limit) {
  reads_characters(text, std::min(wcsnlen(text, limit) + 1, limit));
}
void reads_both(const wchar_t* a, const wchar_t* b) {
  reads_wide(a);
  reads_wide(b);
}

}  // namespace

extern "C" {

std::size_t txsync_sim_wcslen(const wchar_t* text) {
  step();
  return reads_wide(text);
}
std::size_t txsync_sim_wcsnlen(const wchar_t* text, std::size_t limit) {
  step();
  reads_wide(text, limit);
  return wcsnlen(text, limit);
}
int txsync_sim_wcscmp(const wchar_t* a, const wchar_t* b) {
  step();
  reads_both(a, b);
  return std::wcscmp(a, b);
}
int txsync_sim_wcsncmp(const wchar_t* a, const wchar_t* b, std::size_t limit) {
  step();
  reads_wide(a, limit);
  reads_wide(b, limit);
  return std::wcsncmp(a, b, limit);
}
int txsync_sim_wcscasecmp(const wchar_t* a, const wchar_t* b) {
  step();
  reads_both(a, b);
  return wcscasecmp(a, b);
}
int txsync_sim_wcsncasecmp(const wchar_t* a, const wchar_t* b, std::size_t limit) {
  step();
  reads_wide(a, limit);
  reads_wide(b, limit);
  return wcsncasecmp(a, b, limit);
}
wchar_t* txsync_sim_wcschr(const wchar_t* text, wchar_t wanted) {
  step();
  reads_wide(text);
  return changeable(std::wcschr(text, wanted));
}
wchar_t* txsync_sim_wcsrchr(const wchar_t* text, wchar_t wanted) {
  step();
  reads_wide(text);
  return changeable(std::wcsrchr(text, wanted));
}
wchar_t* txsync_sim_wcsstr(const wchar_t* text, const wchar_t* wanted) {
  step();
  reads_both(text, wanted);
  return changeable(std::wcsstr(text, wanted));
}
wchar_t* txsync_sim_wcscpy(wchar_t* to, const wchar_t* from) {
  step();
  writes(to, (reads_wide(from) + 1) * sizeof *to);
  return std::wcscpy(to, from);
}
wchar_t* txsync_sim_wcsncpy(wchar_t* to, const wchar_t* from, std::size_t limit) {
  step();
  reads_wide(from, limit);
  writes(to, limit * sizeof *to);
  return std::wcsncpy(to, from, limit);
}
wchar_t* txsync_sim_wcscat(wchar_t* to, const wchar_t* from) {
  step();
  const std::size_t length = reads_wide(to);
  writes(to + length, (reads_wide(from) + 1) * sizeof *to);
  return std::wcscat(to, from);
}

}  // extern "C"
