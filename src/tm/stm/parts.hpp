// SPDX-License-Identifier: Apache-2.0
// The software algorithms that hybrids are made of (tm/hybrid): their functions, which have the names of the members of
// `algorithm`, and all of them together.
#pragma once

#include "tm/stm/dctl.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace dctl_parts {
std::uint64_t read(engine& me, const word& cell, orec& record);
void write(engine& me, word& cell, orec& record, std::uint64_t value);
void roll_back(engine& me) noexcept;
/// Moves the snapshot to now. False: what it has read has changed.
bool renew(engine& me) noexcept;
inline constexpr algorithm all = {
    .name = "dctl",
    .summary = "words owned from the first write on, written in place; a clock that commits only read",
    .begin = begin_dctl,
    .read = read,
    .write = write,
    .commit = commit_dctl,
    .roll_back = roll_back,
    .roll_back_to = undo_to,
    .is_valid = orecs_are_valid,
    .add_reads = add_read_orecs,
    .add_writes = add_undone_words,
};
}  // namespace dctl_parts

namespace norec_parts {
void begin(engine& me);
std::uint64_t read(engine& me, const word& cell, orec& record);
void write(engine& me, word& cell, orec& record, std::uint64_t value);
bool commit(engine& me);
void roll_back(engine& me) noexcept;
bool is_valid(engine& me) noexcept;
void add_reads(engine& me, stripe_set& into) noexcept;
// The steps of commit(): own_clock() and publish(), or give_clock_back(). own_clock() returns false if there is nothing
// to publish.
bool own_clock(engine& me);
void publish(engine& me) noexcept;
void give_clock_back(engine& me) noexcept;
inline constexpr algorithm all = {
    .name = "norec",
    .summary = "one sequence lock, writes buffered, reads checked by their values",
    .begin = begin,
    .read = read,
    .write = write,
    .commit = commit,
    .roll_back = roll_back,
    .roll_back_to = unbuffer_to,
    .is_valid = is_valid,
    .add_reads = add_reads,
    .add_writes = add_buffered_words,
};
}  // namespace norec_parts

namespace tinystm_parts {
void begin_buffered(engine& me);
std::uint64_t read_buffered(engine& me, const word& cell, orec& record);
void write_buffered(engine& me, word& cell, orec& record, std::uint64_t value);
bool commit_buffered(engine& me);
void roll_back_buffered(engine& me) noexcept;
bool renew(engine& me) noexcept;
// The steps of commit_buffered(). prepare_buffered() returns false if there is nothing to publish.
bool prepare_buffered(engine& me);
void publish_buffered(engine& me) noexcept;
inline constexpr algorithm buffered = {
    .name = "tinystm_wb",
    .summary = "words owned from the first write on, writes buffered; snapshots that move",
    .begin = begin_buffered,
    .read = read_buffered,
    .write = write_buffered,
    .commit = commit_buffered,
    .roll_back = roll_back_buffered,
    .roll_back_to = unbuffer_to,  // the orecs stay owned
    .is_valid = orecs_are_valid,
    .add_reads = add_read_orecs,
    .add_writes = add_buffered_words,
};
}  // namespace tinystm_parts

namespace tl2_parts {
void begin(engine& me);
std::uint64_t read(engine& me, const word& cell, orec& record);
void write(engine& me, word& cell, orec& record, std::uint64_t value);
bool commit(engine& me);
void roll_back(engine& me) noexcept;
void roll_back_to(engine& me, const log_mark& mark) noexcept;
bool is_valid(engine& me) noexcept;
inline constexpr algorithm all = {
    .name = "tl2",
    .summary = "writes buffered, words owned at the commit; a clock that commits move",
    .begin = begin,
    .read = read,
    .write = write,
    .commit = commit,
    .roll_back = roll_back,
    .roll_back_to = roll_back_to,
    .is_valid = is_valid,
    .add_reads = add_read_orecs,
    .add_writes = add_buffered_words,
};
}  // namespace tl2_parts

/// That software algorithm with hardware attempts beside its transactions.
constexpr algorithm as_hybrid(const algorithm& software, const char* name, const char* summary,
                              const hardware_half& attempts) noexcept {
  algorithm made = software;
  made.name = name;
  made.summary = summary;
  made.in_hardware = &attempts;
  made.beside_hardware = true;
  return made;
}
/// The same, with the tries of the hybrid paper.
constexpr algorithm as_papers_hybrid(const algorithm& software, const char* name, const char* summary,
                                     const hardware_half& attempts) noexcept {
  algorithm made = as_hybrid(software, name, summary, attempts);
  made.hardware_tries = papers_tries;
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
