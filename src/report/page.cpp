// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <fmt/core.h>

#include <txsync/machine/assert.hpp>
#include "report/sections.hpp"
#include "report/style.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

const char* mood_class(verdict::mood mood) {
  return mood == verdict::mood::good ? "verdict good" : mood == verdict::mood::bad ? "verdict bad" : "verdict";
}

std::string article(const source& from, std::size_t number) {
  const json& document = from.document;
  const verdict summary = verdict_of(document);
  std::string html = fmt::format("<article id=\"r{}\">\n<p class=\"over\">{}</p>\n<h1 class=\"{}\">{}</h1>\n", number,
                                 escaped(over_line(document)), mood_class(summary.how), escaped(summary.words));
  html += key_figures(document) + notices_section(document) + claims_section(document) + comparisons_section(document) +
          exploration_section(document) + experiments_section(document) + sweep_section(document) +
          points_section(document) + attempts_section(document) + sites_section(document) + blame_section(document) +
          machine_section(document) + reproduce_section(document, from.name);
  return html + "</article>\n";
}

/// The table of contents for several documents: what each says, with a link to it.
std::string contents(const std::vector<source>& sources) {
  std::string html = "<nav><ol>\n";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    html += fmt::format("<li><a href=\"#r{}\">{}</a>: {}</li>\n", i + 1, escaped(over_line(sources[i].document)),
                        escaped(verdict_of(sources[i].document).words));
  }
  return html + "</ol></nav>\n";
}

/// Calls the function. If nlohmann finds an error in the document, throws a report_error that names the document.
template <class Function>
std::string checked(const source& from, Function&& call) {
  try {
    return call();
  } catch (const json::exception& error) {
    throw report_error(fmt::format("'{}' is not a result document of txsync as docs/result.schema.json has it: {}",
                                   from.name, error.what()));
  } catch (const std::invalid_argument& error) {  // from statistics of impossible values
    throw report_error(fmt::format("'{}' has values that cannot be: {}", from.name, error.what()));
  }
}

}  // namespace

std::string over_line(const json& document) {
  std::string started = text_of(document, "started");
  if (started.size() >= 16) started = started.substr(0, 10) + " " + started.substr(11, 5) + " UTC";
  return verb_of(document) + (started.empty() ? "" : ", started " + started);
}

std::string page_around(const std::string& title, const std::string& body) {
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  // Nothing is loaded from elsewhere, whatever a document may contain.
  html +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n";
  return html + "<title>" + escaped(title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n" +
         body + "</main>\n<script>" + script + "</script>\n</body>\n</html>\n";
}

std::string heading(const std::string& words) { return fmt::format("<h2>{}</h2>\n", escaped(words)); }

std::string table(const std::string& head, const std::string& rows) {
  return "<div class=\"scroll\"><table><thead><tr>" + head + "</tr></thead><tbody>\n" + rows +
         "</tbody></table></div>\n";
}

source read(std::string name, std::string_view text) {
  json document = json::parse(text, nullptr, false);
  const std::string who = "'" + name + "' is not a result document of txsync: ";
  if (document.is_discarded()) throw report_error(who + "it is not JSON");
  if (!document.is_object() || !document.contains("schema")) throw report_error(who + "it has no member \"schema\"");
  if (document["schema"] != observe::document_schema) {
    throw report_error(
        fmt::format("{}its schema is {}; allowed: {}", who, document["schema"].dump(), observe::document_schema));
  }
  for (const auto& [member, right] : {std::pair{"tool", document["tool"].is_object()},
                                      {"command", document["command"].is_array()},
                                      {"machine", document["machine"].is_object()},
                                      {"points", document["points"].is_array()},
                                      {"claims", document["claims"].is_array()}}) {
    if (!right) throw report_error(who + "its member \"" + member + "\" is missing or has another type");
  }
  return {std::move(name), std::move(document)};
}

std::string page(const std::vector<source>& sources) {
  TXSYNC_ASSERT(!sources.empty(), "a page has at least one source");
  std::string body;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    body += checked(sources[i], [&] { return article(sources[i], i + 1); });
  }
  if (sources.size() > 1) body = contents(sources) + body;
  return page_around("txsync report: " + over_line(sources.front().document), body);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
