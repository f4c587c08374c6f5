// SPDX-License-Identifier: Apache-2.0
// What went wrong, what is claimed, where it was measured, and how to repeat it.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

std::string interval_words(const json& object) {
  const double coverage = number_of(object, "coverage");
  if (coverage == 0) return {};
  return fmt::format("{} interval {} to {}", coverage >= 0.95 ? "95 %" : percent(coverage),
                     figures(number_of(object, "low95"), 3), figures(number_of(object, "high95"), 3));
}

std::string bytes(double count) {
  struct step {
    double by;
    const char* unit;
  };
  for (const step& one : {step{1024. * 1024 * 1024, " GiB"}, step{1024. * 1024, " MiB"}, step{1024, " KiB"}}) {
    if (count >= one.by) return figures(count / one.by, 3) + one.unit;
  }
  return figures(count, 4) + " bytes";
}

std::string caches(const json& machine) {
  std::string words;
  for (const json& cache : part_of(machine, "caches")) {
    words += fmt::format("{}L{} {} {}", words.empty() ? "" : "; ", text_of(cache, "level"), text_of(cache, "type"),
                         bytes(number_of(cache, "bytes")));
    if (const std::string shared = text_of(cache, "shared_by"); !shared.empty() && shared != "1")
      words += " shared by " + shared;
  }
  return words;
}

/// How many runs of how many subjects. One subject may have been measured with several numbers of threads.
std::string measured_box(const json& points) {
  std::size_t runs = 0;
  std::set<std::string> subjects;
  std::set<double> threads;
  for (const json& point : points) {
    runs += part_of(point, "values").size();
    subjects.insert(text_of(point, "subject"));
    threads.insert(number_of(point, "threads"));
  }
  std::string below = fmt::format("of {} subject{}", subjects.size(), subjects.size() == 1 ? "" : "s");
  if (threads.size() > 1) below += fmt::format(" at {} numbers of threads", threads.size());
  return box("measured", fmt::format("{} run{}", runs, runs == 1 ? "" : "s"), below);
}

}  // namespace

std::string box(const std::string& name, const std::string& value, const std::string& below) {
  return fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", escaped(name), escaped(value),
                     below.empty() ? "" : fmt::format("<small>{}</small>", escaped(below)));
}

std::string fact(const std::string& name, const std::string& value) {
  return value.empty() ? std::string() : fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
}

std::string key_figures(const json& document) {
  if (document.contains("lab")) return {};  // the verdict has its numbers, and each experiment names its machine
  if (document.contains("explore")) return exploration_figures(document);
  std::string html;
  if (const auto tune = document.find("tune"); tune != document.end()) {
    const bool proven = part_of(*tune, "proven").get<bool>();
    if (const auto gain = tune->find("gain"); gain != tune->end()) {
      html += box(proven ? "gain over what you have" : "gain, not proven",
                  figures(number_of(*gain, "median"), 3) + " times", interval_words(*gain));
      html += box("rounds of the proof", text_of(*gain, "rounds"), "measured apart from those that chose");
    }
  }
  double waiting = 0;
  std::size_t sites = 0;
  for (const json& point : part_of(document, "points")) {
    for (const json& site : part_of(point, "sites")) {
      waiting += waiting_of(site);
      ++sites;
    }
  }
  if (sites != 0 && !document.contains("tune"))
    html += box("waiting for locks", duration(waiting), "all threads, sites and repetitions together");
  if (!part_of(document, "points").empty()) html += measured_box(part_of(document, "points"));
  const json& machine = part_of(document, "machine");
  if (machine.contains("cpus")) html += box("machine", text_of(machine, "cpus") + " CPUs", text_of(machine, "cpu"));
  return html.empty() ? html : "<dl class=\"keys\">\n" + html + "</dl>\n";
}

std::string notices_section(const json& document) {
  std::string items;
  const auto item = [&items](const std::string& words, bool bad) {
    items += std::string(bad ? "<li class=\"failed\">" : "<li>") + escaped(words) + "</li>\n";
  };
  if (document.contains("interrupted"))
    item("The user interrupted the run: repetitions or subjects are missing.", true);
  if (const std::string sanitizers = text_of(part_of(document, "tool"), "sanitizers"); !sanitizers.empty()) {
    item("This build of txsync has sanitizers (" + sanitizers + "): its times mean nothing.", true);
  }
  const bool explored = document.contains("explore");  // no time was measured
  if (!explored && text_of(part_of(document, "machine"), "backend") == "simulated") {
    item("All times are simulated, on models that leave out branch prediction and instruction caches.", false);
  }
  for (const json& point : part_of(document, "points")) {
    const std::string where =
        explored ? "" : " on " + text_of(point, "workload") + ", threads: " + text_of(point, "threads");
    const std::string who = text_of(point, "subject") + where + ": ";
    for (const json& fault : part_of(point, "faults")) item(who + fault.get<std::string>(), true);
    if (point.contains("unpinned"))
      item(who + "the system refused to pin " + text_of(point, "unpinned") + " threads", false);
  }
  if (const auto tune = document.find("tune"); tune != document.end()) {
    for (const json& words : part_of(*tune, "warnings"))
      item("The verdict may be worth nothing: " + words.get<std::string>() + ".", true);
    for (const json& comparison : part_of(*tune, "cut_short")) {
      const std::string rounds = text_of(comparison, "rounds");
      item("The time was up: " + text_of(comparison, "phase") +
               (rounds == "0" ? " was not tried."
                              : " ran " + rounds + " of " + text_of(comparison, "of") +
                                    " rounds, and its intervals cover only these."),
           false);
    }
  }
  for (const char* member : {"notices", "remarks"}) {
    for (const json& words : part_of(part_of(document, "run"), member)) item(words.get<std::string>(), false);
  }
  return items.empty() ? items : "<section>" + heading("Notices") + "<ul>\n" + items + "</ul></section>\n";
}

std::string claims_section(const json& document) {
  const json& claims = part_of(document, "claims");
  if (claims.empty()) return {};
  const bool simulated =
      std::any_of(claims.begin(), claims.end(), [](const json& one) { return one.contains("standing"); });
  std::string rows;
  for (const json& claim : claims) {
    const bool asks = text_of(claim, "rule") != observe::no_goal;
    const std::string outcome = outcome_of(claim);
    const json& value = part_of(claim, "value");
    const auto words = [](const json& any) {
      return any.is_number() ? figures(any.get<double>()) : any.is_string() ? any.get<std::string>() : any.dump();
    };
    rows += std::string("<tr") +
            (outcome == "missed"      ? " class=\"bad\""
             : outcome == "undecided" ? " class=\"open\""
                                      : "") +
            ">" + cell(text_of(claim, "id")) + "<td class=\"w\">" + escaped(text_of(claim, "claim")) + "</td>" +
            number_cell(words(value)) + number_cell(interval_words(claim)) +
            (asks ? number_cell(words(part_of(claim, "goal"))) + cell(outcome) : number_cell("-") + cell("-")) +
            cell(text_of(claim, "rule")) + (simulated ? cell(text_of(claim, "standing")) : "") + "</tr>\n";
  }
  return "<section>" + heading("Claims") +
         table(
             "<th>line</th><th>claim</th><th class=\"n\">value</th><th class=\"n\">interval</th><th "
             "class=\"n\">goal</th>"
             "<th>verdict</th><th>rule</th>" +
                 std::string(simulated ? "<th>the model is</th>" : ""),
             rows) +
         "</section>\n";
}

std::string machine_section(const json& document) {
  const json& machine = part_of(document, "machine");
  if (machine.empty()) return {};
  const json& htm = part_of(machine, "htm");
  std::string html = fact("processor", text_of(machine, "cpu")) +
                     fact("architecture", text_of(machine, "architecture")) +
                     fact("CPUs for the run", text_of(machine, "cpus"));
  if (machine.contains("cores")) {
    html += fact("cores", text_of(machine, "cores") + " in sockets: " + text_of(machine, "sockets") +
                              ", hardware threads: " + text_of(machine, "hardware_threads"));
  }
  html += fact("caches", caches(machine)) + fact("hypervisor", text_of(machine, "hypervisor")) +
          fact("kernel", text_of(machine, "kernel")) + fact("C library", text_of(machine, "libc"));
  if (machine.contains("page_bytes")) html += fact("page", bytes(number_of(machine, "page_bytes")));
  const std::string transactions = text_of(htm, "what");
  html += fact("hardware transactions", transactions.empty() ? text_of(htm, "verdict") : transactions) +
          fact("why", text_of(htm, "why"));
  return "<section>" + heading("Machine") + "<dl class=\"facts\">\n" + html + "</dl></section>\n";
}

std::string reproduce_section(const json& document, const std::string& file) {
  const json& tool = part_of(document, "tool");
  std::string html = "<section>" + heading("How to reproduce");
  html += "<pre>" + escaped(shell_line(part_of(document, "command").get<std::vector<std::string>>())) + "</pre>\n";
  html += "<dl class=\"facts\">\n" + fact("txsync", text_of(tool, "version") + ", commit " + text_of(tool, "commit")) +
          fact("built by",
               text_of(tool, "compiler") + (tool.contains("build_type") ? ", " + text_of(tool, "build_type") : "")) +
          fact("seed", text_of(document, "seed")) + fact("started", text_of(document, "started")) +
          fact("end hash", text_of(document, "end_hash")) + fact("document", file) + "</dl>\n";
  return html + "<p class=\"note\">The document holds every single repetition.</p></section>\n";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
