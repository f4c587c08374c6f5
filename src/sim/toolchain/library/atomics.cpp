// SPDX-License-Identifier: Apache-2.0
// Atomics of sizes that no instruction has. Each is one step of the simulated machine.
#include "touch.hpp"

using namespace txsync::sim::library;

extern "C" {

void txsync_sim___atomic_load(std::size_t size, const void* from, void* to, int) {
  step();
  reads(from, size);
  writes(to, size);
  std::memcpy(to, from, size);
}
void txsync_sim___atomic_store(std::size_t size, void* to, const void* from, int) {
  step();
  reads(from, size);
  writes(to, size);
  std::memcpy(to, from, size);
}
void txsync_sim___atomic_exchange(std::size_t size, void* at, const void* from, void* old, int) {
  step();
  reads(from, size);
  writes(at, size);
  writes(old, size);
  // `old` may be the same memory as `from`.
  for (std::size_t i = 0; i < size; ++i) {
    const char fresh = static_cast<const char*>(from)[i];
    static_cast<char*>(old)[i] = static_cast<char*>(at)[i];
    static_cast<char*>(at)[i] = fresh;
  }
}
bool txsync_sim___atomic_compare_exchange(std::size_t size, void* at, void* expected, const void* wanted, int, int) {
  step();
  reads(wanted, size);
  const bool equal = std::memcmp(at, expected, size) == 0;
  reads(expected, size);
  if (equal) {
    writes(at, size);
    std::memcpy(at, wanted, size);
  } else {
    reads(at, size);
    writes(expected, size);
    std::memcpy(expected, at, size);
  }
  return equal;
}

}  // extern "C"
