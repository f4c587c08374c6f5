// SPDX-License-Identifier: Apache-2.0
// Our locks, elided: sections run as hardware attempts where the machine has them, and as plain ones elsewhere. One
// lock, tatas, under all presets, which are those of the papers and of other libraries; others under some of them.
// Which there are is read from the table of presets (policy/presets.hpp).
#include <array>
#include <bit>
#include <iterator>
#include <string_view>
#include <utility>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/speculate/elided.hpp>

#include "policy/presets.hpp"
#include "workloads/by_policy.hpp"
#include "workloads/make_subject.hpp"
#include "workloads/subjects.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

template <class Elided>
using of_run = with_role_of_run<Elided, elision>;

template <const subject& locked, const elision_policy& policy>
constexpr subject speculating(const char* name, const char* summary) noexcept {
  subject made = by_policy<elision, locked, policy>(name, summary);
  made.speculates = true;
  return made;
}

constexpr bool peer = false;
constexpr subject tatas = make_subject<lockable<of_run<elided<tatas_lock>>>>("", peer, waiting::spins, "");
constexpr subject mcs = make_subject<with_node<of_run<elided_with_node<mcs_lock>>>>("", peer, waiting::spins, "");
constexpr subject futex = make_subject<lockable<of_run<elided<futex_mutex>>>>("", peer, waiting::parks, "");
constexpr subject occ = make_subject<lockable<of_run<elided_shared<occ_rwlock>>>>("", peer, waiting::parks, "");

/// The lock behind a bit of elision_preset::over.
template <unsigned lock>
constexpr const subject& lock_of() noexcept {
  if constexpr (lock == policy::over_mcs) {
    return mcs;
  } else if constexpr (lock == policy::over_futex) {
    return futex;
  } else if constexpr (lock == policy::over_occ_rwlock) {
    return occ;
  } else {
    return tatas;
  }
}
constexpr std::string_view name_of(unsigned lock) noexcept {
  return lock == policy::over_mcs          ? "mcs"
         : lock == policy::over_futex      ? "futex"
         : lock == policy::over_occ_rwlock ? "occ_rwlock"
                                           : "tatas";
}

/// A preset over a lock.
struct combination {
  unsigned row;
  unsigned lock;
};
constexpr unsigned lock_bits = 4;
constexpr unsigned count_combinations() noexcept {
  unsigned count = 0;
  for (const policy::elision_preset& one : policy::elision_table)
    count += static_cast<unsigned>(std::popcount(one.over));
  return count;
}
constexpr auto combinations = [] {
  std::array<combination, count_combinations()> all{};
  unsigned next = 0;
  for (unsigned row = 0; row < std::size(policy::elision_table); ++row) {
    for (unsigned bit = 0; bit < lock_bits; ++bit) {
      if ((policy::elision_table[row].over >> bit & 1) != 0) all[next++] = {row, 1u << bit};
    }
  }
  return all;
}();

/// Three texts as one that ends with a zero.
using text = std::array<char, 96>;
constexpr text joined(std::string_view first, std::string_view second, std::string_view third) noexcept {
  text made{};
  char* at = made.data();
  for (const std::string_view part : {first, second, third}) {
    for (const char letter : part) *at++ = letter;
  }
  return made;
}
template <unsigned row, unsigned lock>
constexpr text subject_name = joined(policy::elision_table[row].subject, "_", name_of(lock));
template <unsigned row, unsigned lock>
constexpr text subject_summary = joined(name_of(lock), ", ", policy::elision_table[row].summary);

template <unsigned row, unsigned lock>
constexpr subject subject_of() noexcept {
  return speculating<lock_of<lock>(), *policy::elision_table[row].policy>(subject_name<row, lock>.data(),
                                                                          subject_summary<row, lock>.data());
}

/// One each, and the rule that is not for use.
constexpr auto table = []<unsigned... which>(std::integer_sequence<unsigned, which...>) {
  return std::array{subject_of<combinations[which].row, combinations[which].lock>()...,
                    speculating<tatas, elision_presets::lemming>(
                        "lemming_tatas", "tatas, elided by a rule that makes lemmings: not for use")};
}(std::make_integer_sequence<unsigned, combinations.size()>());

}  // namespace

std::span<const subject> eliding_subjects() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
