// SPDX-License-Identifier: Apache-2.0
// The words of policy files, each with its meaning.
#pragma once

#include <utility>

#include "policy/packed.hpp"

namespace txsync::inline TXSYNC_BACKEND::policy {

template <class Kind>
struct words_of;

template <>
struct words_of<lock_kind> {
  static constexpr std::pair<const char*, lock_kind> all[] = {
      {"libc", lock_kind::libc},   {"mutex", lock_kind::mutex},   {"spin", lock_kind::spin},
      {"tatas", lock_kind::tatas}, {"ticket", lock_kind::ticket}, {"fifo_ticket", lock_kind::fifo_ticket}};
};

template <>
struct words_of<rwlock_kind> {
  static constexpr std::pair<const char*, rwlock_kind> all[] = {
      {"libc", rwlock_kind::libc}, {"rwlock", rwlock_kind::rwlock}, {"as-mutex", rwlock_kind::as_mutex}};
};

template <>
struct words_of<spinlock_kind> {
  static constexpr std::pair<const char*, spinlock_kind> all[] = {{"libc", spinlock_kind::libc},
                                                                  {"tatas", spinlock_kind::tatas}};
};

template <>
struct words_of<openmp_kind> {
  static constexpr std::pair<const char*, openmp_kind> all[] = {{"library", openmp_kind::library},
                                                                {"warm", openmp_kind::warm}};
};

template <>
struct words_of<elision_kind> {
  static constexpr std::pair<const char*, elision_kind> all[] = {
      {"off", elision_kind::off},      {"standard", elision_kind::standard},     {"eager", elision_kind::eager},
      {"shore", elision_kind::shore},  {"glibc", elision_kind::glibc},           {"libomp", elision_kind::libomp},
      {"xsync", elision_kind::xsync},  {"thesis_100", elision_kind::thesis_100}, {"htm_1", elision_kind::htm_1},
      {"htm_10", elision_kind::htm_10}};
};

template <>
struct words_of<warm_up_kind> {
  static constexpr std::pair<const char*, warm_up_kind> all[] = {{"off", warm_up_kind::off},
                                                                 {"standard", warm_up_kind::standard},
                                                                 {"eager", warm_up_kind::eager},
                                                                 {"paper", warm_up_kind::paper},
                                                                 {"paper_ticket", warm_up_kind::paper_ticket}};
};

}  // namespace txsync::inline TXSYNC_BACKEND::policy
