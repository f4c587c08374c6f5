// SPDX-License-Identifier: Apache-2.0
#include "report/flame.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "report/svg.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr double wide = 960;
constexpr double level_height = 19;
constexpr double letter_size = 11.5;
constexpr double inset = 4;      // left and right of the text in a frame
constexpr double narrowest = 4;  // narrower frames are merged
constexpr std::size_t max_frames = 250;
constexpr std::size_t max_name_letters = 300;  // names of C++ templates can be long
constexpr double legend_height = 26;

/// How much a frame changed: seven steps from gone to new.
struct change_step {
  const char* look;
  const char* words;
};
constexpr std::array<change_step, 7> steps{{{"less3", "gone"},
                                            {"less2", "half or less"},
                                            {"less1", "less"},
                                            {"same", "less than 10 % apart"},
                                            {"more1", "more"},
                                            {"more2", "twice or more"},
                                            {"more3", "new"}}};

const change_step& step_of(const call_frame& frame) {
  if (frame.amount == 0) return steps[0];
  if (frame.before == 0) return steps[6];
  const double ratio = frame.amount / frame.before;
  return steps[ratio <= 0.5 ? 1 : ratio < 0.9 ? 2 : ratio <= 1.1 ? 3 : ratio < 2 ? 4 : 5];
}

/// The width in usual fonts, in units of the font size. It errs on the wide side.
double width_of(std::string_view text) {
  double sum = 0;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if ((byte & 0xC0U) == 0x80U) continue;
    if (byte >= 0xE0) {
      sum += 1;
    } else if (std::string_view("mwMW@%").find(letter) != std::string_view::npos) {
      sum += 0.99;
    } else if (std::string_view("ijl.,:;'|!()[] ").find(letter) != std::string_view::npos) {
      sum += 0.4;
    } else {
      sum += letter >= 'A' && letter <= 'Z' ? 0.78 : 0.64;
    }
  }
  return sum;
}

/// What follows the last "::" outside brackets: "f" of "a::b<c::d>::f".
std::string unqualified(const std::string& name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at + 1 < name.size(); ++at) {
    if (name[at] == '<' || name[at] == '(') ++depth;
    if (name[at] == '>' || name[at] == ')') --depth;
    if (depth == 0 && name[at] == ':' && name[at + 1] == ':') begin = at + 2;
  }
  return name.substr(begin);
}

/// Shortens the name to fit `room`. It first removes the source place, then qualifiers, then template arguments; at
/// last only the beginning stays. Empty if fewer than 6 letters would stay.
std::string fitted(std::string name, double room) {
  constexpr std::size_t min_letters = 6;
  if (width_of(name) <= room) return name;
  for (const char* place : {" (", "@", " in "}) {
    name = name.substr(0, std::max<std::size_t>(name.rfind(place), 1));
    if (width_of(name) <= room) return name;
  }
  name = unqualified(name);
  if (width_of(name) <= room) return name;
  if (!name.starts_with("operator")) name = name.substr(0, std::max<std::size_t>(name.find('<'), 1));
  if (width_of(name) <= room) return name;
  std::size_t letters = std::min(length(name), static_cast<std::size_t>(std::max(0.0, room / 0.4)));
  for (; letters >= min_letters; --letters) {
    std::string shorter = beginning(name, letters) + "…";
    if (width_of(shorter) <= room) return shorter;
  }
  return {};
}

class drawing {
 public:
  explicit drawing(const flame_chart& chart) : chart_(chart), root_(tree_of(chart.chains, chart.compares)) {
    root_.name = chart.root;
    all_ = weight_of(root_, chart.compares);
  }

  std::string made() {
    if (!(all_ > 0) || !std::isfinite(all_)) return {};
    bound();
    levels_ = levels_of(root_);
    top_ = chart_.compares ? legend_height : 2;
    const double height = top_ + static_cast<double>(levels_) * level_height + 2;
    svg_ = opened(chart_.title, chart_.description, height, wide, "flame");
    if (chart_.compares) legend();
    put(root_, 0, 0);
    return svg_ + closed(chart_.title);
  }

 private:
  /// Merges frames until the rest is wide enough to see and few enough for a small page.
  void bound() {
    const call_frame whole = root_;
    for (double least = narrowest; least < wide; least *= 1.5) {
      root_ = whole;
      merge_narrow(root_, all_ * least / wide, chart_.compares);
      if (frames_in(root_) <= max_frames) return;
    }
  }

  void legend() {
    double x = 0;
    for (const change_step& step : steps) {
      svg_ +=
          fmt::format(R"(<g class="frame {}"><rect x="{:.1f}" y="2.0" width="14.0" height="14.0"/></g>)", step.look, x);
      svg_ += svg_text("key", x + 19, 13.5, step.words);
      x += 19 + letter_size * width_of(step.words) + 22;
    }
    svg_ += '\n';
  }

  std::string change_of(const call_frame& frame) const { return change_words(frame.before, frame.amount); }

  /// The text shown on hover.
  std::string sentence(const call_frame& frame) const {
    const std::string words = frame.merged != 0 ? fmt::format("{} narrow frames together", frame.merged)
                                                : shortened(frame.name, max_name_letters);
    if (!chart_.compares)
      return fmt::format("{}: {} {}, {} of all", words, duration(frame.amount), chart_.what,
                         percent(frame.amount / all_));
    return fmt::format("{}: {} before, {} after ({}) {}", words, duration(frame.before), duration(frame.amount),
                       change_of(frame), chart_.what);
  }

  const char* look_of(const call_frame& frame, std::size_t level) const {
    if (chart_.compares) return step_of(frame).look;
    if (frame.merged != 0 || level == 0) return "rest";
    if (frame.lock) return "top";
    // Shades separate neighbours. Frames of the same name on one level have the same shade everywhere.
    static constexpr std::array<const char*, 3> shades{"shade0", "shade1", "shade2"};
    std::size_t sum = level;
    for (const char letter : frame.name) sum += static_cast<unsigned char>(letter);
    return shades[sum % shades.size()];
  }

  std::string label_of(const call_frame& frame, double room) const {
    const std::string name = frame.merged != 0 ? fmt::format("… {} more", frame.merged) : frame.name;
    if (frame.merged != 0) return width_of(name) <= room ? name : width_of("…") <= room ? "…" : "";
    if (!chart_.compares) return fitted(name, room);
    const std::string change = " " + change_of(frame);
    const std::string with_change = fitted(name, room - width_of(change));
    return with_change.empty() ? fitted(name, room) : with_change + change;
  }

  void put(const call_frame& frame, double x, std::size_t level) {
    const double across = wide * weight_of(frame, chart_.compares) / all_;
    if (across < 0.1) return;
    const double y = top_ + static_cast<double>(levels_ - 1 - level) * level_height;
    svg_ += fmt::format(
        R"(<g class="mark frame {}{}"><title>{}</title><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
        chart_.compares ? "" : chart_.look + " ", look_of(frame, level), escaped(sentence(frame)), x, y, across,
        level_height);
    const std::string label = label_of(frame, (across - 2 * inset) / letter_size);
    if (!label.empty()) svg_ += svg_text("name", x + inset, y + 13.5, label);
    svg_ += "</g>\n";
    for (const call_frame& callee : frame.callees) {
      put(callee, x, level + 1);
      x += wide * weight_of(callee, chart_.compares) / all_;
    }
  }

  const flame_chart& chart_;
  call_frame root_;
  double all_ = 0;
  double top_ = 0;
  std::size_t levels_ = 0;
  std::string svg_;
};

}  // namespace

std::string drawn(const flame_chart& chart) { return drawing(chart).made(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
