// SPDX-License-Identifier: Apache-2.0
// What `txsync explore` tried, what it found, and how to repeat it.
#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr std::size_t max_names = 5;

/// A test, or the program, with its outcome.
struct explored {
  const json* point;
  const json* told;

  std::string name() const { return text_of(*point, "subject"); }
  double schedules() const {
    const json& values = part_of(*point, "values");
    return values.empty() ? 0 : values[0].get<double>();
  }
  bool ran() const { return part_of(*point, "faults").empty(); }
  bool fails() const { return told->contains("complaint"); }
  bool seeded() const { return told->contains("seeded"); }
  bool right() const { return part_of(*told, "right").get<bool>(); }
};

using explored_list = std::vector<explored>;

explored_list tests_of(const json& document) {
  explored_list tests;
  const json& points = part_of(document, "points");
  for (const json& told : part_of(part_of(document, "explore"), "tests")) {
    tests.push_back({&points.at(told.at("point").get<std::size_t>()), &told});
  }
  return tests;
}

template <class Predicate>
explored_list those(const explored_list& all, Predicate wanted) {
  explored_list selected;
  std::copy_if(all.begin(), all.end(), std::back_inserter(selected), wanted);
  return selected;
}

double schedules_of(const explored_list& list) {
  return std::accumulate(list.begin(), list.end(), 0.0,
                         [](double sum, const auto& one) { return sum + one.schedules(); });
}

std::string number_words(double count, const char* word) {
  return fmt::format("{} {}{}", grouped(count), word, count == 1 ? "" : "s");
}

std::string tests_counted(const explored_list& list) {
  return list.size() == 1 ? list.front().name() : number_words(static_cast<double>(list.size()), "test");
}

/// "a, b and 3 more".
std::string names_of(const explored_list& list) {
  std::string names;
  for (std::size_t i = 0; i < std::min(list.size(), max_names); ++i) names += (i == 0 ? "" : ", ") + list[i].name();
  return list.size() <= max_names ? names : fmt::format("{} and {} more", names, list.size() - max_names);
}

/// The part of a complaint before the seed (the key has it, too) and before the threads' positions.
std::string first_clause(const std::string& complaint) {
  return shortened(complaint.substr(0, std::min(complaint.find(';'), complaint.find(" (seed "))), 160);
}

std::string failing_words(const explored_list& fail, std::size_t tests) {
  if (tests > 1) return fmt::format("{} of {} tests failed: {}", fail.size(), tests, names_of(fail));
  const explored& test = fail.front();
  return fmt::format("{} fails in schedule {} ({})", test.name(), grouped(test.schedules()),
                     first_clause(text_of(*test.told, "complaint")));
}

/// What came out wrong: faults found, seeded faults not found, tests that could not run.
std::vector<std::string> wrong_words(const explored_list& all) {
  std::vector<std::string> words;
  const explored_list fail = those(all, [](const auto& one) { return one.fails() && !one.seeded(); });
  const explored_list missed = those(all, [](const auto& one) { return one.ran() && one.seeded() && !one.fails(); });
  const explored_list broken = those(all, [](const auto& one) { return !one.ran(); });
  if (!fail.empty()) words.push_back(failing_words(fail, all.size()));
  if (!missed.empty()) words.push_back("not found: the fault put into " + names_of(missed));
  if (!broken.empty()) words.push_back("could not be explored: " + names_of(broken));
  return words;
}

std::vector<std::string> right_words(const explored_list& all) {
  std::vector<std::string> words;
  const explored_list clean = those(all, [](const auto& one) { return !one.seeded(); });
  const explored_list seeded = those(all, [](const auto& one) { return one.seeded(); });
  if (!clean.empty()) {
    words.push_back(fmt::format("nothing wrong was found in {} with {}", tests_counted(clean),
                                number_words(schedules_of(clean), "schedule")));
  }
  if (!seeded.empty()) {
    words.push_back(seeded.size() == 1 ? "the fault put into " + seeded.front().name() + " was found"
                                       : "the faults put into " + tests_counted(seeded) + " were found");
  }
  return words;
}

std::string order_words(const std::string& order) {
  if (order == "random") return "who goes on is drawn; in txsync's own tests, three times out of four the same thread";
  if (order == "priorities") return "threads have drawn priorities, two of which change at drawn accesses";
  if (order == "delay-bounded")
    return "a thread goes on until it waits; three times, drawn, the next one is passed over";
  if (order == "partial-order")
    return "the next access of each thread has a drawn priority; those that race draw again";
  if (order == "uniform-walk")
    return "all orders of the accesses to one word, which is drawn, are equally likely as far as counts tell";
  if (order == "round-robin") return "threads take turns";
  if (order == "systematic") return "each execution that is not equivalent to one before is made once";
  return {};
}

bool has_buffers(const json& explore) { return part_of(explore, "store_buffers").get<bool>(); }

std::string listed(const json& list) {
  std::string text;
  for (const json& one : list) text += (text.empty() ? "" : ", ") + one.get<std::string>();
  return text;
}

std::string orders_facts(const json& orders) {
  std::string html = fact("order", listed(orders) + (orders.size() > 1 ? "; schedules take turns of these" : ""));
  for (const json& one : orders) html += fact(one.get<std::string>(), order_words(one.get<std::string>()));
  return html;
}

std::string memory_words(const json& explore) {
  return has_buffers(explore)
             ? "x86-TSO: stores wait in a buffer of their thread, first in, first out, and others see them later"
             : "sequentially consistent: all threads see each store at once (--store-buffers has those of x86)";
}

std::string fault_found(const explored& test) {
  std::string html = "<h3>" + escaped(test.name()) + "</h3>\n";
  html += "<p>" + escaped(text_of(*test.told, "complaint")) + "</p>\n";
  html += "<p class=\"note\">" +
          escaped(std::string(test.seeded() ? "This fault was put into the test, for exploring to find it. " : "") +
                  "Schedule " + grouped(test.schedules()) + ", with the key " + text_of(*test.point, "key") +
                  ". What repeats it, and shows it step by step:") +
          "</p>\n<pre>" + escaped(text_of(*test.told, "again")) + "</pre>\n";
  return html;
}

/// Unexpected failures come first.
std::string faults_found(const explored_list& all) {
  explored_list fail = those(all, [](const auto& one) { return one.fails(); });
  std::stable_partition(fail.begin(), fail.end(), [](const auto& one) { return !one.seeded(); });
  if (fail.empty()) return {};
  std::string html = heading("Faults found");
  for (const explored& one : fail) html += fault_found(one);
  return html;
}

std::string found_words(const explored& test) {
  if (!test.ran()) return "could not be explored";
  if (test.fails()) return test.seeded() ? "the fault put into it" : "a fault";
  return test.seeded() ? "nothing, though a fault was put into it" : "nothing";
}

std::string explored_table(const explored_list& all) {
  std::string rows;
  for (const explored& test : all) {
    rows += std::string("<tr") + (test.right() ? "" : " class=\"bad\"") + "><td class=\"w\">" + escaped(test.name()) +
            "</td>" + number_cell(test.ran() ? grouped(test.schedules()) : "") +
            cell(text_of(part_of(*test.point, "params"), "order")) + cell(found_words(test)) + "<td class=\"w\">" +
            escaped(text_of(*test.point, "key")) + "</td></tr>\n";
  }
  return table("<th>test or program</th><th class=\"n\">schedules</th><th>order</th><th>found</th><th>key</th>", rows);
}

std::string how_explored(const json& document) {
  const json& explore = part_of(document, "explore");
  std::string html = heading("How it was explored") + "<dl class=\"facts\">\n";
  html +=
      orders_facts(part_of(explore, "orders")) + fact("memory", memory_words(explore)) +
      fact("probes", listed(part_of(explore, "probes"))) +
      fact("schedules",
           "at most " + grouped(number_of(explore, "schedules")) + " of each; the first that fails is the last") +
      fact("seeds", "from " + text_of(document, "seed") + " on, the next one for each schedule") +
      fact("a livelock", "is a schedule of more than " + grouped(number_of(explore, "steps")) + " accesses to memory");
  html +=
      "</dl>\n<p class=\"note\">All of this ran on a simulated machine, one access to memory after the other. What "
      "was not found may be there all the same: in an order that was not tried, ";
  html += has_buffers(explore) ? "" : "with store buffers, ";
  return html + "or on machines with weaker memory orders than x86, which exploring does not cover.</p>\n";
}

}  // namespace

verdict verdict_of_exploration(const json& document) {
  const explored_list all = tests_of(document);
  const std::string lead = "Explored on a simulated machine: ";
  if (all.empty()) return {lead + "nothing came to an end.", verdict::mood::bad};
  std::vector<std::string> words = wrong_words(all);
  // An exploration that finds nothing proves nothing, so its verdict is not "good".
  const verdict::mood meant = words.empty() ? verdict::mood::plain : verdict::mood::bad;
  if (words.empty()) words = right_words(all);
  std::string sentence = lead;
  for (std::size_t i = 0; i < words.size(); ++i) sentence += (i == 0 ? "" : "; ") + words[i];
  return {sentence + ".", meant};
}

std::string exploration_figures(const json& document) {
  const explored_list all = tests_of(document);
  const json& explore = part_of(document, "explore");
  const std::size_t faults = those(all, [](const auto& one) { return one.fails(); }).size();
  return "<dl class=\"keys\">\n" +
         box("schedules", grouped(schedules_of(all)), "orders of execution, of " + tests_counted(all)) +
         box("found", number_words(static_cast<double>(faults), "fault"),
             faults == 0 ? "" : "with a key that repeats it") +
         box("order", listed(part_of(explore, "orders")),
             has_buffers(explore) ? "memory: x86's store buffers" : "memory: sequentially consistent") +
         box("machine", "simulated", text_of(part_of(document, "machine"), "cpu")) + "</dl>\n";
}

std::string exploration_section(const json& document) {
  if (!document.contains("explore")) return {};
  const explored_list all = tests_of(document);
  std::string html = "<section>" + faults_found(all);
  if (!all.empty()) html += heading("What was explored") + explored_table(all);
  return html + how_explored(document) + "</section>\n";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
