// SPDX-License-Identifier: Apache-2.0
// libstdc++'s own hash functions and its choice of bucket counts, called for instrumented code.
#include <unordered_map>

#include "touch.hpp"

using namespace txsync::sim::library;

extern "C" {

std::size_t txsync_sim__ZSt11_Hash_bytesPKvmm(const void* from, std::size_t bytes, std::size_t seed) {
  step();
  reads(from, bytes);
  return std::_Hash_bytes(from, bytes, seed);
}

std::size_t txsync_sim_next_bucket(float load, std::size_t* next_resize, std::size_t wanted) {
  std::__detail::_Prime_rehash_policy policy(load);
  policy._M_next_resize = *next_resize;
  const std::size_t buckets = policy._M_next_bkt(wanted);
  writes_object(next_resize);
  *next_resize = policy._M_next_resize;
  return buckets;
}

bool txsync_sim_need_rehash(float load, std::size_t* next_resize, std::size_t buckets, std::size_t elements,
                            std::size_t more, std::size_t* grown) {
  std::__detail::_Prime_rehash_policy policy(load);
  policy._M_next_resize = *next_resize;
  const auto [needed, size] = policy._M_need_rehash(buckets, elements, more);
  writes_object(next_resize);
  writes_object(grown);
  *next_resize = policy._M_next_resize;
  *grown = size;
  return needed;
}

}  // extern "C"
