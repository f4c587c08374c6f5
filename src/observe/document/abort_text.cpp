// SPDX-License-Identifier: Apache-2.0
#include "observe/document/abort_text.hpp"

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

const char* to_string(sharing_kind kind) noexcept {
  switch (kind) {
    case sharing_kind::objects:
      return "objects";
    case sharing_kind::blocks:
      return "blocks";
    case sharing_kind::bytes:
      return "bytes";
    case sharing_kind::none:
      break;
  }
  return "";
}

std::string sharing_text(const abort_place& place) {
  switch (place.sharing) {
    case sharing_kind::objects:
      return fmt::format("false sharing: {} of the attempt and {} lie on one line", place.own_data,
                         place.conflicting_data);
    case sharing_kind::blocks:
      return "false sharing: two such blocks lie on one line";
    case sharing_kind::bytes: {
      const double part = 100.0 * static_cast<double>(place.different_bytes) / static_cast<double>(place.count);
      return fmt::format(
          "{:.0f}% met at other bytes than first touched or written: false sharing, unless it read those later", part);
    }
    case sharing_kind::none:
      break;
  }
  return {};
}

std::string room_text(const abort_place& place) {
  const sim::occupancy& full = place.occupancy;
  if (full.room == 0) return {};
  std::string text;
  switch (full.of) {
    case sim::overflow_kind::reads:
      return fmt::format("{} of {} lines that it can read", full.own, full.room);
    case sim::overflow_kind::l1_set_of_reads:  // more lines than ways are possible: some left before and were not lost
      text =
          fmt::format("{} lines of set {}, which has {} ways, touched by this attempt", full.own, full.set, full.room);
      break;
    case sim::overflow_kind::entries:
      text = fmt::format("{} of {} entries used by this attempt", full.own, full.room);
      break;
    case sim::overflow_kind::l1_set:
    case sim::overflow_kind::rest_of_l1_set:
    case sim::overflow_kind::other:
      text = fmt::format("{} of {} ways of set {} written by this attempt", full.own, full.room, full.set);
      break;
  }
  if (full.siblings != 0) text += fmt::format(", {} by its core's other threads", full.siblings);
  if (full.own + full.siblings < full.room) text += ", the rest taken by others";
  return text;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
