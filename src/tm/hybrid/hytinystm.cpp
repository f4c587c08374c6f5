// SPDX-License-Identifier: Apache-2.0
// hytinystm: tinystm_wb with hardware attempts that look at the ownership records of all words. Sources:
//  - Riegel, Marlier, Nowack, Felber and Fetzer, "Optimizing hybrid transactional memory", SPAA 2011
//  - hybrid paper, section V, which replaces their prefetch for writing by a write
//
// Why it is right.
//  - Attempts do not see half of a commit. A software transaction owns a word's record from its first write to the end
//    of its commit. An attempt aborts if it finds a record owned, and if it is owned later.
//  - Software does not see half of an attempt: as in hytl2.cpp.
#include "tm/hybrid/announcements.hpp"
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

void begin_attempt(engine& me) noexcept {
  me.duties = checks_reads | marks_writes;
  me.lead = 1;
}

constexpr hardware_half attempts = {
    .prepare = [](engine&) noexcept {}, .begin = begin_attempt, .end = [](engine&) noexcept {}};

}  // namespace

constinit const algorithm hytinystm =
    as_papers_hybrid(tinystm_parts::buffered, "hytinystm",
                     "attempts of the hardware that look at all records; otherwise as tinystm_wb", attempts);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
