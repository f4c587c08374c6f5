// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <fmt/core.h>

#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

std::string svg_line(const char* look, double x1, double y1, double x2, double y2) {
  return fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", look, x1, y1, x2, y2);
}

std::string svg_text(const char* look, double x, double y, std::string_view words) {
  return fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>)", look, x, y, escaped(words));
}

std::string opened(const std::string& title, const std::string& description, double height, double chart_width,
                   const char* look) {
  const std::string with_look = *look == 0 ? "" : fmt::format(R"( class="{}")", look);
  return fmt::format(
      R"(<figure class="chart"><svg role="img"{} viewBox="0 0 {:.1f} {:.1f}"><title>{}</title><desc>{}</desc>)"
      "\n",
      with_look, chart_width, height, escaped(title), escaped(description));
}

std::string closed(const std::string& title) {
  return fmt::format("</svg><figcaption>{}</figcaption></figure>\n", escaped(title));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
