// SPDX-License-Identifier: Apache-2.0
// A division that the compiler leaves to the machine.
#pragma once

#include <cstdint>

/// As a body does that takes a hash modulo the number of buckets. UBSan would tell of zero before the machine does.
__attribute__((noinline, no_sanitize("undefined"))) inline std::uint64_t modulo(std::uint64_t hash,
                                                                                std::uint64_t buckets) {
  volatile const std::uint64_t rest = hash % buckets;
  return rest;
}
