// SPDX-License-Identifier: Apache-2.0
// The table of presets. Everything that names a preset reads it. A row makes:
//   - a word of policy files, of TXSYNC_SIM_LOCKS and of `txsync list presets`;
//   - what libtxsync-preload.so does at a site with that word;
//   - subjects of bench and sim.
// A new preset therefore changes this file alone: it needs a row, and its policy above the table if elision_presets
// does not have it. tests/policy/presets.cpp checks the tables of docs against this one. This header needs no
// library, because the preloaded library reads it.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include <txsync/policy/elision_policy.hpp>
#include <txsync/policy/warm_up_policy.hpp>

#include "policy/packed.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::policy {

/// Whether `text` is the word. An underscore equals a hyphen, because older versions wrote words with underscores.
constexpr bool is_word(std::string_view text, std::string_view word) noexcept {
  if (text.size() != word.size()) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != word[at] && !(text[at] == '_' && word[at] == '-')) return false;
  }
  return true;
}

/// Bits for the locks that have subjects in bench and sim with a preset: SUBJECT_tatas and so on.
enum subject_locks : std::uint16_t {
  over_tatas = 1,
  over_mcs = 2,
  over_futex = 4,
  over_occ_rwlock = 8,
  over_srwlock = 16,
  over_aahtm_tatas = 32,  ///< with elision only: a tatas whose waiters run ahead by warm_up_presets::paper
  over_ticket = 64,
  over_fifo_ticket = 128,
  over_priority_tatas = 256,
  over_mutex = 512,
  over_posix = 1024
};
/// The name of each bit, in the order of the bits.
inline constexpr const char* subject_lock_names[] = {"tatas",          "mcs",         "futex",  "occ_rwlock",
                                                     "srwlock",        "aahtm_tatas", "ticket", "fifo_ticket",
                                                     "priority_tatas", "mutex",       "posix"};

struct elision_preset {
  const char* word;  ///< with hyphens
  const char* summary;
  const char* source;  ///< paper and section, or library; empty: our own
  const elision_policy* policy;
  const char* subject;  ///< the names of its subjects begin with this
  std::uint16_t over = over_tatas;
};

/// The first two rows must stay first, because elision_kind names them.
inline constexpr elision_preset elision_table[] = {
    {"standard", "elided where trials find that faster", "", &elision_presets::standard, "elided",
     over_tatas | over_mcs | over_futex | over_occ_rwlock},
    {"eager", "every section tried as an attempt", "", &elision_presets::eager, "eager",
     over_tatas | over_mcs | over_futex},
    {"shore", "elided by the Shore-MT paper's policy: two attempts", "Shore-MT paper, 3.2", &elision_presets::shore,
     "shore", over_tatas | over_mcs | over_occ_rwlock | over_srwlock},
    {"glibc", "elided by glibc's rule: skips after failures", "glibc 2.18 to 2.42", &elision_presets::glibc, "glibc",
     over_tatas | over_mcs},
    {"libomp", "elided by the rule of LLVM's libomp: badness", "LLVM's libomp", &elision_presets::libomp, "libomp",
     over_tatas | over_mcs},
    {"xsync", "elided by the LevelDB paper: adaptive, coarsening", "LevelDB paper, 4.2", &elision_presets::xsync,
     "xsync", over_tatas | over_mcs},
    {"thesis-100", "elided by the thesis on TSX in InnoDB: 100 retries", "thesis, 2.1", &elision_presets::thesis_100,
     "thesis"},
    {"htm-1", "elided by the always-abort paper: one attempt", "always-abort paper, IV-A", &elision_presets::htm_1,
     "htm_1"},
    {"htm-10", "elided by the always-abort paper: ten attempts", "always-abort paper, IV-A", &elision_presets::htm_10,
     "htm_10", over_tatas | over_aahtm_tatas},
    {"htm-1-patient", "one attempt; a thread that takes the lock costs none", "", &elision_presets::htm_1_patient,
     "htm_1_patient"},
    {"htm-10-patient", "ten attempts; a thread that takes the lock costs none", "", &elision_presets::htm_10_patient,
     "htm_10_patient"},
};

struct warm_up_preset {
  const char* word;  ///< with hyphens
  const char* summary;
  const char* source;  ///< paper and section; empty: our own
  const warm_up_policy* policy;
  const char* subject;  ///< the names of its subjects begin with this
  /// Whether the waiters of its subjects run the critical section itself, in always-abort attempts. Otherwise they run
  /// what the workload predicts.
  bool attempts;
  std::uint16_t over;
};

/// The first two rows must stay first, because warm_up_kind names them.
inline constexpr warm_up_preset warm_up_table[] = {
    {"standard", "waiters run ahead where trials find that faster", "", &warm_up_presets::standard, "warm", false,
     over_tatas | over_mcs | over_ticket | over_priority_tatas | over_mutex},
    {"eager", "waiters always run ahead", "", &warm_up_presets::eager, "eager_warm", false, over_mcs | over_ticket},
    {"paper", "waiters run ahead in four tries at most", "always-abort paper, IV-A", &warm_up_presets::paper, "aahtm",
     true, over_tatas | over_posix},
    {"paper-ticket", "waiters at a distance of 2 or 3 run ahead in four tries at most", "always-abort paper, IV-A",
     &warm_up_presets::paper_ticket, "aahtm", true, over_fifo_ticket},
    {"paper-priority", "waiters run ahead in one try, and then go first", "always-abort paper, III-B and IV-A",
     &warm_up_presets::paper_priority, "aahtm", true, over_priority_tatas},
};

template <class Kind>
inline constexpr const auto& preset_table = elision_table;
template <>
inline constexpr const auto& preset_table<warm_up_kind> = warm_up_table;

/// The kind of a row. Rows come after `unset` and `off`.
template <class Kind>
constexpr Kind kind_of_row(std::size_t row) noexcept {
  return static_cast<Kind>(static_cast<std::size_t>(Kind::standard) + row);
}

/// The policy of a kind. A kind without a row has the policy of `standard`.
template <class Kind>
constexpr const auto& policy_of(Kind kind) noexcept {
  const auto& table = preset_table<Kind>;
  const std::size_t row = static_cast<std::size_t>(kind) - static_cast<std::size_t>(Kind::standard);
  return *table[row < std::size(table) ? row : 0].policy;
}

/// The kind that a word stands for, in code: policy::named<elision_kind>("shore"). An unknown word does not compile.
template <class Kind>
consteval Kind named(std::string_view word) {
  const auto& table = preset_table<Kind>;
  std::size_t row = 0;
  while (word != table[row].word) ++row;
  return kind_of_row<Kind>(row);
}

static_assert(named<elision_kind>("standard") == elision_kind::standard);
static_assert(named<elision_kind>("eager") == elision_kind::eager);
static_assert(named<warm_up_kind>("standard") == warm_up_kind::standard);
static_assert(named<warm_up_kind>("eager") == warm_up_kind::eager);
static_assert(std::size(elision_table) + 2 <= packed::max_presets &&
              std::size(warm_up_table) + 2 <= packed::max_presets);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::policy
