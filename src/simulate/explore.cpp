// SPDX-License-Identifier: Apache-2.0
#include "simulate/explore.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <sstream>

#include <fmt/core.h>

#include "base/bad_input.hpp"
#include "base/words.hpp"
#include "simulate/simulate.hpp"
#include "symbols/code_place.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::bad_input;
using base::join;
using base::nearest;
using base::parse_number;
using base::unknown;
using base::words;

namespace {

constexpr std::uint32_t cores_of_tests = 8;

/// Those that explore, in the order in which people read of them.
std::vector<sim::schedule_order> orders() {
  std::vector<sim::schedule_order> all(std::begin(sim::orders_of_programs), std::end(sim::orders_of_programs));
  all.insert(all.end(), {sim::schedule_order::round_robin, sim::schedule_order::systematic});
  return all;
}

constexpr const char* store_buffers_word = sim::mode_word::store_buffers;
constexpr const char* races_word = sim::mode_word::races;

struct probe_name {
  const char* word;
  sim::probe bit;
};
constexpr probe_name probes[] = {{"spurious-aborts", sim::spurious_aborts},
                                 {"tight-capacity", sim::tight_capacity},
                                 {"weak-exchanges", sim::weak_exchanges},
                                 {"spurious-wakes", sim::spurious_wakes},
                                 {"late-subscription", sim::late_subscription}};

sim::image_request request_on_ideal_machine() {
  try {
    sim::image_request request;
    request.path = sim::image_file("explorations");
    request.model = machine_of_tests().model;
    return request;
  } catch (const sim::image_error& error) {
    throw bad_input(error.what());
  }
}

}  // namespace

namespace {

sim::machine ideal_machine(std::uint32_t cores) {
  try {
    sim::machine made = sim::load_machine("ideal");
    made.model.core_sockets = 1;
    made.model.core_cores = cores;
    return made;
  } catch (const sim::machine_error& error) {
    throw bad_input(error.what());
  }
}

}  // namespace

sim::machine machine_of_programs(const std::optional<std::string>& word) {
  if (!word) return ideal_machine(sim::cores_of_programs);
  sim::machine made = checked_machine(word);
  made.model.core_sockets = made.model.core_threads = 1;
  made.model.core_cores = sim::cores_of_programs;
  return made;
}
sim::machine machine_of_tests() { return ideal_machine(cores_of_tests); }

std::vector<exploration_test> exploration_tests() {
  sim::image_request request;
  try {
    request = request_on_ideal_machine();
  } catch (const bad_input&) {
    return {};
  }
  std::vector<exploration_test> tests;
  for (const sim::listed_test& one : sim::run_image(request).tests) {
    tests.push_back({one.name, one.summary, one.expected});
  }
  return tests;
}

std::string schedule_kind::order_word() const { return sim::name_of(order); }

words schedule_kind::probe_words() const {
  words names;
  for (const probe_name& one : simulate::probes) {
    if ((probes & one.bit) != 0) names.emplace_back(one.word);
  }
  return names;
}

std::string schedule_kind::text() const {
  std::string text = order_word();
  if (store_buffers) text += std::string("+") + store_buffers_word;
  for (const std::string& probe : probe_words()) text += "+" + probe;
  if (races) text += std::string("+") + races_word;
  return text;
}

void schedule_kind::add(const std::string& mode) {
  words names{store_buffers_word, races_word};
  for (const probe_name& one : simulate::probes) {
    if (mode == one.word) {
      probes |= one.bit;
      return;
    }
    names.emplace_back(one.word);
  }
  if (mode != store_buffers_word && mode != races_word) throw bad_input(unknown("mode", mode, names));
  (mode == races_word ? races : store_buffers) = true;
}

bool exploration_test::has_to_fail(const schedule_kind& how) const {
  constexpr std::string_view only_with = "broken-with-";
  if (!expected.starts_with(only_with)) return expected == "broken";
  schedule_kind wanted;
  wanted.add(expected.substr(only_with.size()));
  return (!wanted.store_buffers || how.store_buffers) && (wanted.probes & how.probes) == wanted.probes;
}

schedule_kind parse_kind(const std::string& text) {
  std::istringstream parts(text);
  std::string part;
  std::getline(parts, part, '+');
  words names;
  schedule_kind kind{.order = sim::schedule_order::virtual_time};
  for (const sim::schedule_order one : orders()) {
    names.emplace_back(sim::name_of(one));
    if (part == names.back()) kind.order = one;
  }
  if (kind.order == sim::schedule_order::virtual_time) throw bad_input("--order: " + unknown("order", part, names));
  while (std::getline(parts, part, '+')) kind.add(part);
  return kind;
}

std::string schedule_key::text() const { return fmt::format("{}@{}@{}", test, kind.text(), seed); }

std::string unknown_test(const std::string& name, const words& names) {
  const std::string meant = nearest(name, names);
  return fmt::format("unknown test '{}'; txsync list tests names them{}", name,
                     meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant));
}

schedule_key parse_key(const std::string& text) {
  const std::size_t last = text.rfind('@');
  const std::size_t middle = last == std::string::npos || last == 0 ? last : text.rfind('@', last - 1);
  schedule_key key;
  if (last == std::string::npos || middle == std::string::npos || middle == last ||
      !parse_number(text.substr(last + 1), std::numeric_limits<std::uint64_t>::max(), key.seed)) {
    throw bad_input(
        fmt::format("'{}' is not a key; allowed: TEST@ORDER[+MODE]@SEED, as txsync explore prints it", text));
  }
  key.test = text.substr(0, middle);
  key.kind = parse_kind(text.substr(middle + 1, last - middle - 1));
  return key;
}

void check_test(const schedule_key& key) {
  if (key.kind.races) throw bad_input("only a program after -- can have the mode 'races'");
  if (key.kind.order == sim::schedule_order::systematic)
    throw bad_input("the order systematic is for a program after --");
  words names;
  for (const exploration_test& one : exploration_tests()) {
    if (one.name == key.test) return;
    names.push_back(one.name);
  }
  if (names.empty()) throw bad_input(no_tests);
  throw bad_input(unknown_test(key.test, names));
}

sim::image_request exploration_request(const schedule_key& first, std::uint64_t count) {
  sim::image_request request = request_on_ideal_machine();
  request.arguments = {first.test, std::to_string(first.seed), std::to_string(count)};
  request.order = first.kind.order;
  request.store_buffers = first.kind.store_buffers;
  request.probes = first.kind.probes;
  request.max_steps = max_test_steps;
  request.failure_is_a_result = true;
  return request;
}

std::string complaint_of(const sim::image_result& seen, const std::string& image) {
  if (seen.signal != 0) return std::string("the simulation was ended by a signal: ") + strsignal(seen.signal);
  if (seen.failure.empty()) return seen.messages.substr(0, seen.messages.find('\n'));
  return symbols::with_places(symbols::module_symbols(image), seen.failure);
}

exploration_result explore_test(const exploration_test& test, const schedule_key& first, std::uint64_t schedules) {
  const auto began = std::chrono::steady_clock::now();
  const sim::image_request request = exploration_request(first, schedules);
  exploration_result result{
      .subject = test.name, .order = first.kind.text(), .seeded = test.has_to_fail(first.kind), .key = first};
  sim::image_result seen;
  try {
    seen = sim::run_image(request);
    // An image that is asked to end may report its position, and ends with a status of its own.
    if (seen.signal != 0 || seen.was_interrupted()) throw sim::image_error(complaint_of(seen, request.path));
  } catch (const sim::image_error& error) {
    result.error = error.what();
    result.right = false;
    return result;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  result.seconds = took.count();
  result.failing = seen.status != 0;
  result.key.seed = seen.program_number(sim::program_record::failed_seed);
  // The schedule before all others, which has the seed 0, may already have failed.
  const std::uint64_t until = result.key.seed >= first.seed ? result.key.seed - first.seed + 1 : 1;
  result.schedules = result.failing ? until : schedules;
  result.right = result.failing == result.seeded;
  if (result.failing) {
    result.complaint = complaint_of(seen, request.path);
    result.again = "txsync replay " + result.key.text();
  }
  return result;
}

std::string exploration_plan::text() const {
  words texts;
  for (const schedule_kind& kind : kinds) texts.push_back(kind.text());
  return join(texts);
}

void begin_document(observe::document& into, const exploration_plan& plan, const sim::machine& machine) {
  into.machine = machine_object(machine);
  into.started.clear();
  observe::json& told = into.more["explore"];
  for (const schedule_kind& kind : plan.kinds) told["orders"].push_back(kind.order_word());
  const schedule_kind& any = plan.kinds.front();
  told["store_buffers"] = any.store_buffers;
  if (const words names = any.probe_words(); !names.empty()) told["probes"] = names;
  if (any.races) told["races"] = true;
  told["schedules"] = plan.schedules;
  told["steps"] = plan.steps;
  told["tests"] = observe::json::array();
}

void add_to_document(observe::document& into, const exploration_result& result) {
  observe::json test = {{"point", into.points.size()}};
  if (result.seeded) test["seeded"] = true;
  if (result.completeness != exploration_completeness::not_known) {
    test["complete"] = result.completeness == exploration_completeness::complete;
    test["redundant"] = result.redundant;
  }
  test["right"] = result.right;
  if (result.failing) {
    test["complaint"] = result.complaint;
    test["again"] = result.again;
  }
  into.more["explore"]["tests"].push_back(std::move(test));
  observe::point point;
  point.workload = "explore";
  point.placement = "none";
  point.subject = result.subject;
  point.metric = "schedules";
  point.unit = "schedules";
  point.params["order"] = result.order;
  if (result.error.empty()) {
    point.params["found"] = result.failing ? "a fault" : "nothing";
    point.values = {static_cast<double>(result.schedules)};
  } else {
    point.faults = {result.error};
  }
  if (result.failing) point.key = result.key.text();
  into.points.push_back(std::move(point));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
