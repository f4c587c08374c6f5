// SPDX-License-Identifier: Apache-2.0
// mem* and bytes. A comparison or search reads up to the place where it ends, as a processor would.
#include <strings.h>

#include <algorithm>
#include <cwchar>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

// The number of bytes up to and including the first difference.
std::size_t compared(const void* a, const void* b, std::size_t bytes) {
  const auto* left = static_cast<const char*>(a);
  const auto* right = static_cast<const char*>(b);
  const auto at = static_cast<std::size_t>(std::mismatch(left, left + bytes, right).first - left);
  return std::min(at + 1, bytes);
}

}  // namespace

extern "C" {

void* txsync_sim_memcpy(void* to, const void* from, std::size_t bytes) {
  step();
  reads(from, bytes);
  writes(to, bytes);
  return std::memcpy(to, from, bytes);
}
void* txsync_sim_memmove(void* to, const void* from, std::size_t bytes) {
  step();
  reads(from, bytes);
  writes(to, bytes);
  return std::memmove(to, from, bytes);
}
void* txsync_sim_mempcpy(void* to, const void* from, std::size_t bytes) {
  return static_cast<char*>(txsync_sim_memcpy(to, from, bytes)) + bytes;
}
void txsync_sim_bcopy(const void* from, void* to, std::size_t bytes) { txsync_sim_memmove(to, from, bytes); }
void* txsync_sim_memccpy(void* to, const void* from, int end, std::size_t bytes) {
  step();
  const void* found = std::memchr(from, end, bytes);
  const std::size_t copied = found ? static_cast<const char*>(found) - static_cast<const char*>(from) + 1 : bytes;
  reads(from, copied);
  writes(to, copied);
  return memccpy(to, from, end, bytes);
}
void* txsync_sim_memset(void* to, int value, std::size_t bytes) {
  step();
  writes(to, bytes);
  return std::memset(to, value, bytes);
}
void txsync_sim_bzero(void* to, std::size_t bytes) { txsync_sim_memset(to, 0, bytes); }
void txsync_sim_explicit_bzero(void* to, std::size_t bytes) { txsync_sim_memset(to, 0, bytes); }

int txsync_sim_memcmp(const void* a, const void* b, std::size_t bytes) {
  step();
  const std::size_t seen = compared(a, b, bytes);
  reads(a, seen);
  reads(b, seen);
  return std::memcmp(a, b, bytes);
}
int txsync_sim_bcmp(const void* a, const void* b, std::size_t bytes) { return txsync_sim_memcmp(a, b, bytes); }

void* txsync_sim_memchr(const void* in, int value, std::size_t bytes) {
  step();
  const auto* found = static_cast<const char*>(std::memchr(in, value, bytes));
  reads(in, found ? found - static_cast<const char*>(in) + 1 : bytes);
  return const_cast<char*>(found);
}
void* txsync_sim_rawmemchr(const void* in, int value) {
  step();
  auto* found = static_cast<char*>(rawmemchr(const_cast<void*>(in), value));
  reads(in, found - static_cast<const char*>(in) + 1);
  return found;
}
void* txsync_sim_memrchr(const void* in, int value, std::size_t bytes) {
  step();
  auto* found = static_cast<char*>(memrchr(const_cast<void*>(in), value, bytes));
  const char* start = found ? found : static_cast<const char*>(in);
  reads(start, static_cast<const char*>(in) + bytes - start);
  return found;
}
void* txsync_sim_memmem(const void* in, std::size_t bytes, const void* wanted, std::size_t length) {
  step();
  reads(in, bytes);
  reads(wanted, length);
  return memmem(in, bytes, wanted, length);
}

wchar_t* txsync_sim_wmemcpy(wchar_t* to, const wchar_t* from, std::size_t count) {
  return static_cast<wchar_t*>(txsync_sim_memcpy(to, from, count * sizeof(wchar_t)));
}
wchar_t* txsync_sim_wmemmove(wchar_t* to, const wchar_t* from, std::size_t count) {
  return static_cast<wchar_t*>(txsync_sim_memmove(to, from, count * sizeof(wchar_t)));
}
wchar_t* txsync_sim_wmemset(wchar_t* to, wchar_t value, std::size_t count) {
  step();
  writes(to, count * sizeof(wchar_t));
  return wmemset(to, value, count);
}
int txsync_sim_wmemcmp(const wchar_t* a, const wchar_t* b, std::size_t count) {
  step();
  reads(a, count * sizeof(wchar_t));
  reads(b, count * sizeof(wchar_t));
  return wmemcmp(a, b, count);
}
wchar_t* txsync_sim_wmemchr(const wchar_t* in, wchar_t value, std::size_t count) {
  step();
  reads(in, count * sizeof(wchar_t));
  return wmemchr(const_cast<wchar_t*>(in), value, count);
}

}  // extern "C"
