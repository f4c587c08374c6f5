// SPDX-License-Identifier: Apache-2.0
#include "experiments/evaluate.hpp"

#include <cmath>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

using number = std::optional<double>;

number percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

number divided(number part, number whole) {
  if (!part || !whole || *whole == 0) return std::nullopt;
  return *part / *whole;
}

number beyond(number whole, number part) {
  if (!part || !whole) return std::nullopt;
  return *whole - *part;
}

/// The curves of one experiment.
class curves {
 public:
  curves(const experiment& of, const results& with) : of_(of), with_(with) {}

  number value(const std::string& variant, std::uint64_t at, quantity what) const {
    const observe::point* const one = point_of(variant, at);
    return one != nullptr ? number_of(what, *one, with_.mhz) : std::nullopt;
  }

  /// If both were run with the same seeds: the median of the ratios by seed.
  number ratio(const fact& one, quantity what) const {
    const std::uint64_t beside_at = one.beside_at.value_or(one.at);
    const observe::point* const mine = point_of(one.variant, one.at);
    const observe::point* const other = point_of(one.beside, beside_at);
    const bool by_seed = what == quantity::throughput && mine != nullptr && other != nullptr &&
                         mine->values.size() > 1 && mine->values.size() == other->values.size();
    if (by_seed) return observe::summarize(observe::ratios(mine->values, other->values)).median;
    return divided(value(one.variant, one.at, what), value(one.beside, beside_at, what));
  }

  /// Where the curve first reaches the level; infinite if it never does.
  number crossing(const std::string& variant, double level, quantity what) const {
    const auto* const curve = curve_of(variant);
    if (curve == nullptr) return std::nullopt;
    number before;
    double before_at = 0;
    for (std::size_t place = 0; place < curve->size(); ++place) {
      const number here = point_value((*curve)[place], what);
      if (!here) return std::nullopt;
      const double at = static_cast<double>(of_.along.positions[place]) * of_.along.scale;
      if (*here >= level) return before ? before_at + (at - before_at) * (level - *before) / (*here - *before) : at;
      before = here;
      before_at = at;
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  /// Null if it was not simulated.
  const observe::point* point_of(const std::string& variant, std::uint64_t at) const {
    const auto* const curve = curve_of(variant);
    if (curve == nullptr) return nullptr;
    for (std::size_t place = 0; place < curve->size(); ++place) {
      const std::optional<observe::point>& one = (*curve)[place];
      if (of_.along.positions[place] == at) return one ? &*one : nullptr;
    }
    return nullptr;
  }
  const std::vector<std::optional<observe::point>>* curve_of(const std::string& variant) const {
    for (std::size_t i = 0; i < of_.variants.size(); ++i) {
      if (of_.variants[i].name == variant) return &with_.points[i];
    }
    return nullptr;
  }
  number point_value(const std::optional<observe::point>& one, quantity what) const {
    return one ? number_of(what, *one, with_.mhz) : std::nullopt;
  }

  const experiment& of_;
  const results& with_;
};

number simulated(const experiment& of, const results& with, const fact& one) {
  const curves all(of, with);
  const quantity what = one.what.value_or(of.measured);
  switch (one.read) {
    case reading::value:
      return all.value(one.variant, one.at, what);
    case reading::ratio:
      return all.ratio(one, what);
    case reading::gain: {
      const number ratio = all.ratio(one, what);
      return ratio ? number(100 * (*ratio - 1)) : std::nullopt;
    }
    case reading::excess:
      return beyond(all.value(one.variant, one.at, what), all.value(one.beside, one.at, what));
    case reading::crossing:
      return all.crossing(one.variant, one.level, what);
    case reading::crossing_ratio:
      return divided(all.crossing(one.variant, one.level, what), all.crossing(one.beside, one.level, what));
  }
  return std::nullopt;
}

bool is_in_points(const experiment& of, const fact& one) {
  const quantity what = one.what.value_or(of.measured);
  return one.read == reading::gain || (one.read == reading::value && unit_of(what)[0] == '%');
}

}  // namespace

std::optional<double> number_of(quantity what, const observe::point& one, double mhz) {
  if (one.values.empty()) return std::nullopt;
  const observe::attempt_record attempts = one.attempts.value_or(observe::attempt_record{});
  const observe::cycle_record cycles = one.cycles.value_or(observe::cycle_record{});
  switch (what) {
    case quantity::abort_rate:
      return percent(attempts.attempts - attempts.commits, attempts.attempts);
    case quantity::transactional_cycles:
      return percent(cycles.transactional + cycles.aborted, cycles.total);
    case quantity::aborted_cycles:
      return percent(cycles.aborted, cycles.transactional + cycles.aborted);
    case quantity::throughput:
      return observe::summarize(one.values).median;
    case quantity::attempt_cycles:
      if (attempts.attempts == 0) return std::nullopt;
      return static_cast<double>(cycles.transactional + cycles.aborted) / static_cast<double>(attempts.attempts);
    case quantity::cycles_each:
      return one.threads * mhz * 1e6 / observe::summarize(one.values).median;
    case quantity::attempts_a_commit:
      if (attempts.commits == 0) return std::nullopt;
      return static_cast<double>(attempts.attempts) / static_cast<double>(attempts.commits);
    case quantity::conflict_aborts: {
      std::uint64_t conflicts = 0;
      std::uint64_t all = 0;
      for (const auto& [cause, count] : attempts.aborts) {
        all += count;
        if (cause == "conflict") conflicts += count;
      }
      return percent(conflicts, all);
    }
  }
  return std::nullopt;
}

const char* to_string(verdict how) noexcept {
  if (how == verdict::not_simulated) return "not simulated";
  return how == verdict::hit ? "hit" : "MISS";
}

std::vector<comparison> compare(const experiment& of, const results& with) {
  std::vector<comparison> made;
  made.reserve(of.facts.size());
  for (const fact& one : of.facts) {
    comparison next{.of = &one, .simulated = simulated(of, with, one), .in_points = is_in_points(of, one)};
    if (next.simulated) {
      const double value = *next.simulated;
      const range& wanted = one.expected;
      const double nearest = value < wanted.low ? wanted.low : value > wanted.high ? wanted.high : value;
      next.error = value - nearest;
      if (!next.in_points && next.error != 0) next.error *= 100 / nearest;
      // A range already contains the tolerance of a drawing or a sentence, so its bounds get no further allowance.
      const bool one_value = wanted.low == wanted.high;
      const double allowed = one_value ? (next.in_points ? of.allowed.points : of.allowed.percent) : 0;
      next.how = std::abs(next.error) <= allowed ? verdict::hit : verdict::miss;
    }
    made.push_back(next);
  }
  return made;
}

std::string digits(double value) {
  const double size = std::abs(value);
  if ((size != 0 && size < 0.001) || (size >= 1e7 && (size >= 1e9 || value != std::floor(value))))
    return fmt::format("{:.4g}", value);
  std::string made = fmt::format("{:.{}f}", value, size >= 1000 ? 0 : size >= 1 ? 2 : 3);
  if (made.find('.') == std::string::npos) return made;
  made.erase(made.find_last_not_of('0') + 1);
  if (made.back() == '.') made.pop_back();
  return made;
}

std::string expected_words(const range& of) {
  if (of.low == of.high) return digits(of.low);
  if (!std::isfinite(of.low)) return "at most " + digits(of.high);
  if (!std::isfinite(of.high)) return "at least " + digits(of.low);
  return fmt::format("{} to {}", digits(of.low), digits(of.high));
}

std::string position_text(const axis& along, std::uint64_t position) {
  for (std::size_t i = 0; i < along.names.size(); ++i) {
    if (along.positions[i] == position) return along.names[i];
  }
  return digits(static_cast<double>(position) * along.scale);
}

std::string words_of(const experiment& of, const fact& one) {
  const std::string what = to_string(one.what.value_or(of.measured));
  const auto place = [&](std::uint64_t position) {
    const std::string text = position_text(of.along, position);
    return of.along.names.empty() ? fmt::format(" at {} {}", text, of.along.words) : " with " + text;
  };
  const std::string at = of.along.positions.size() > 1 ? place(one.at) : "";
  switch (one.read) {
    case reading::value:
      return fmt::format("{}{}: {}", one.variant, at, what);
    case reading::ratio:
      return fmt::format("{}{}: {} over that of {}{}", one.variant, at, what, one.beside,
                         one.beside_at ? place(*one.beside_at) : "");
    case reading::gain:
      return fmt::format("{}{}: gain in {} over {}, in percent", one.variant, at, what, one.beside);
    case reading::excess:
      return fmt::format("{}{}: {} beyond {}", one.variant, at, what, one.beside);
    case reading::crossing:
      return fmt::format("{}: {} where the {} is {}", one.variant, of.along.words, what, digits(one.level));
    case reading::crossing_ratio:
      return fmt::format("{}: {} where the {} is {}, over that of {}", one.variant, of.along.words, what,
                         digits(one.level), one.beside);
  }
  return {};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
