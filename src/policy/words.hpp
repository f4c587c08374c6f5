// SPDX-License-Identifier: Apache-2.0
// The words of policy files, each with its value.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

#include "policy/packed.hpp"
#include "policy/presets.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::policy {

template <class Kind>
struct words_of;

template <>
struct words_of<lock_kind> {
  static constexpr std::pair<const char*, lock_kind> all[] = {{"libc", lock_kind::libc},
                                                              {"mutex", lock_kind::mutex},
                                                              {"spin", lock_kind::spin},
                                                              {"tatas", lock_kind::tatas},
                                                              {"ticket", lock_kind::ticket},
                                                              {"fifo-ticket", lock_kind::fifo_ticket},
                                                              {"priority-tatas", lock_kind::priority_tatas}};
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

/// "off", then the words of the table of presets.
template <class Kind>
consteval auto words_of_presets() {
  const auto& table = preset_table<Kind>;
  std::array<std::pair<const char*, Kind>, std::size(preset_table<Kind>) + 1> words{};
  words[0] = {"off", Kind::off};
  for (std::size_t row = 0; row < std::size(table); ++row) words[row + 1] = {table[row].word, kind_of_row<Kind>(row)};
  return words;
}

template <>
struct words_of<elision_kind> {
  static constexpr auto all = words_of_presets<elision_kind>();
};

template <>
struct words_of<warm_up_kind> {
  static constexpr auto all = words_of_presets<warm_up_kind>();
};

/// Calls `call` with each key of policy files ("lock"), the table of its words and the member of `packed`, for those
/// parts.
template <class Function>
void for_parts(std::uint32_t which, Function&& call) {
  using parts = packed::parts;
  if ((which & parts::lock) != 0) call("lock", words_of<lock_kind>::all, &packed::lock);
  if ((which & parts::rwlock) != 0) call("rwlock", words_of<rwlock_kind>::all, &packed::rwlock);
  if ((which & parts::spinlock) != 0) call("spinlock", words_of<spinlock_kind>::all, &packed::spinlock);
  if ((which & parts::elision) != 0) call("elision", words_of<elision_kind>::all, &packed::elision);
  if ((which & parts::warm_up) != 0) call("warm_up", words_of<warm_up_kind>::all, &packed::warm_up);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::policy
