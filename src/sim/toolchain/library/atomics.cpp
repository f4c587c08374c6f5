// SPDX-License-Identifier: Apache-2.0
// Atomics of sizes that no instruction has. Each is one step of the simulated machine.
#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

constexpr int load = 0;
constexpr int store = 1;
constexpr int modify = 2;

}  // namespace

extern "C" {

void txsync_sim___atomic_load(std::size_t size, const void* from, void* to, int order) {
  step();
  txsync_sim_next_is_atomic(load, order);
  reads(from, size);
  writes(to, size);
  std::memcpy(to, from, size);
}
void txsync_sim___atomic_store(std::size_t size, void* to, const void* from, int order) {
  step();
  reads(from, size);
  txsync_sim_next_is_atomic(store, order);
  writes(to, size);
  std::memcpy(to, from, size);
}
void txsync_sim___atomic_exchange(std::size_t size, void* at, const void* from, void* old, int order) {
  step();
  reads(from, size);
  txsync_sim_next_is_atomic(modify, order);
  writes(at, size);
  writes(old, size);
  // `old` may be the same memory as `from`.
  for (std::size_t i = 0; i < size; ++i) {
    const char fresh = static_cast<const char*>(from)[i];
    static_cast<char*>(old)[i] = static_cast<char*>(at)[i];
    static_cast<char*>(at)[i] = fresh;
  }
}
bool txsync_sim___atomic_compare_exchange(std::size_t size, void* at, void* expected, const void* wanted, int order,
                                          int order_of_failure) {
  step();
  reads(wanted, size);
  const bool equal = std::memcmp(at, expected, size) == 0;
  reads(expected, size);
  txsync_sim_next_is_atomic(equal ? modify : load, equal ? order : order_of_failure);
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
