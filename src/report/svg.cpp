// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <cstdio>

#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

std::string px(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string svg_line(const char* look, double x1, double y1, double x2, double y2) {
  return std::string("<line class=\"") + look + "\" x1=\"" + px(x1) + "\" y1=\"" + px(y1) + "\" x2=\"" + px(x2) +
         "\" y2=\"" + px(y2) + "\"/>";
}

std::string svg_text(const char* look, double x, double y, std::string_view words) {
  return std::string("<text class=\"") + look + "\" x=\"" + px(x) + "\" y=\"" + px(y) + "\">" + escaped(words) +
         "</text>";
}

std::string opened(const std::string& title, const std::string& description, double height, double wide,
                   const char* look) {
  const std::string with_look = *look == 0 ? "" : std::string(" class=\"") + look + "\"";
  return "<figure class=\"chart\"><svg role=\"img\"" + with_look + " viewBox=\"0 0 " + px(wide) + " " + px(height) +
         "\"><title>" + escaped(title) + "</title><desc>" + escaped(description) + "</desc>\n";
}

std::string closed(const std::string& title) {
  return "</svg><figcaption>" + escaped(title) + "</figcaption></figure>\n";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
