// SPDX-License-Identifier: Apache-2.0
// Functions of libc that call back into the program or move its objects, with hooks.
#include <sim/program.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

void exchange(char* a, char* b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const char kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

}  // namespace

extern "C" {

// Heap sort: in place, always n log n, and the same order of equal elements in every run.
void qsort(void* base, std::size_t count, std::size_t size, int (*compare)(const void*, const void*)) {
  auto* first = static_cast<char*>(base);
  auto sift = [&](std::size_t at, std::size_t end) {
    for (std::size_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && compare(first + child * size, first + (child + 1) * size) < 0) ++child;
      if (compare(first + at * size, first + child * size) >= 0) return;
      exchange(first + at * size, first + child * size, size);
      at = child;
    }
  };
  for (std::size_t at = count / 2; at-- > 0;) sift(at, count);
  for (std::size_t end = count; end-- > 1;) {
    exchange(first, first + end * size, size);
    sift(0, end);
  }
}

// libc's header defines it inline, so it already has its new name.
void* txsync_sim_bsearch(const void* key, const void* base, std::size_t count, std::size_t size,
                         int (*compare)(const void*, const void*)) {
  const auto* first = static_cast<const char*>(base);
  while (count > 0) {
    const char* middle = first + count / 2 * size;
    const int order = compare(key, middle);
    if (order == 0) return const_cast<char*>(middle);
    if (order > 0) {
      first = middle + size;
      count -= count / 2 + 1;
    } else {
      count /= 2;
    }
  }
  return nullptr;
}

}  // extern "C"
