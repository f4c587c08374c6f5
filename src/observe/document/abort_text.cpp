// SPDX-License-Identifier: Apache-2.0
#include "observe/document/abort_text.hpp"

#include <cstdio>

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
      return "false sharing: " + place.own_data + " of the attempt and " + place.conflicting_data + " lie on one line";
    case sharing_kind::blocks:
      return "false sharing: two such blocks lie on one line";
    case sharing_kind::bytes: {
      const double part = 100.0 * static_cast<double>(place.different_bytes) / static_cast<double>(place.count);
      char text[128];
      std::snprintf(
          text, sizeof text,
          "%.0f%% met at other bytes than first touched or written: false sharing, unless it read those later", part);
      return text;
    }
    case sharing_kind::none:
      break;
  }
  return {};
}

std::string room_text(const abort_place& place) {
  const sim::occupancy& full = place.occupancy;
  if (full.room == 0) return {};
  const std::string own = std::to_string(full.own);
  const std::string room = std::to_string(full.room);
  const std::string set = "set " + std::to_string(full.set);
  std::string text;
  switch (full.of) {
    case sim::overflow_kind::reads:
      return own + " of " + room + " lines that it can read";
    case sim::overflow_kind::l1_set_of_reads:  // more lines than ways are possible: some left before and were not lost
      text = own + " lines of " + set + ", which has " + room + " ways, touched by this attempt";
      break;
    case sim::overflow_kind::entries:
      text = own + " of " + room + " entries used by this attempt";
      break;
    case sim::overflow_kind::l1_set:
    case sim::overflow_kind::rest_of_l1_set:
    case sim::overflow_kind::other:
      text = own + " of " + room + " ways of " + set + " written by this attempt";
      break;
  }
  if (full.siblings != 0) text += ", " + std::to_string(full.siblings) + " by its core's other threads";
  if (full.own + full.siblings < full.room) text += ", the rest taken by others";
  return text;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
