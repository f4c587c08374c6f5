// SPDX-License-Identifier: Apache-2.0
// Helpers for drawings.
#pragma once

#include <string>
#include <string_view>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::report {

inline constexpr double width = 720;
/// Of the widest usual font at 13 px. The page does not know its reader's fonts.
inline constexpr double letter_width = 7.8;

// Lengths and positions have one decimal.
std::string svg_line(const char* look, double x1, double y1, double x2, double y2);
std::string svg_text(const char* look, double x, double y, std::string_view words);

/// Opens a figure. Screen readers read the title and the description.
std::string opened(const std::string& title, const std::string& description, double height, double chart_width = width,
                   const char* look = "");
std::string closed(const std::string& title);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
