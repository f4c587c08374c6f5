// SPDX-License-Identifier: Apache-2.0
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

/// All groups one after the other, collected at the first call.
struct subject_table {
  static constexpr unsigned most = 128;

  subject_table() noexcept {
    for (const auto group :
         {parking_subjects(), spinning_subjects(), shared_subjects(), eliding_subjects(), warming_subjects(),
          transaction_subjects(), thesis_subjects(), shore_subjects(), barrier_subjects(), peer_subjects()}) {
      for (const subject& one : group) {
        if (count == most) __builtin_trap();  // raise `most`
        list[count++] = one;
      }
    }
  }

  subject list[most];
  unsigned count = 0;
};

}  // namespace

std::span<const subject> subjects() noexcept {
  static const subject_table table;
  return {table.list, table.count};
}

const subject* find_subject(std::string_view name) noexcept {
  for (const subject& one : subjects()) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
