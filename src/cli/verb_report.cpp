// SPDX-License-Identifier: Apache-2.0
// txsync report: one page from result documents, or a comparison of two of them.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "base/bad_input.hpp"
#include "base/print.hpp"
#include "base/words.hpp"
#include "cli/difference_table.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "observe/document/output.hpp"
#include "report/difference.hpp"
#include "report/report.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::join;
using base::words;

namespace {

std::string contents_of(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in.is_open()) text << in.rdbuf();  // fails on a directory, and on nothing to read
  if (!in.is_open() || errno != 0) throw bad_input(fmt::format("cannot read '{}': {}", file, std::strerror(errno)));
  return std::move(text).str();
}

constexpr std::size_t max_difference_rows = 20;

class report_verb final : public verb {
 public:
  const char* name() const override { return "report"; }
  const char* summary() const override { return "Make one offline page from result documents, or compare two"; }

  void define(CLI::App& app) override {
    argument(app, "RESULT", files_, "Result documents, as --json writes them");
    flag(app, "--diff", compares_, "Compare two documents, before and after, in a table; with -o also on a page");
    text_option(app, "-o,--output", page_, "FILE",
                "Page to write (default: report.html; none with --diff); - is the standard output");
    footer(app,
           "The page is one file. It needs no network and can be read without scripts, in any browser.\n"
           "If a file is not a result document, the command prints one line and writes no page; the exit status is 2.\n"
           "--diff compares documents of one verb: run, bench or tune. It matches lock sites by name.");
  }

  int run(session& with) override {
    if (files_.empty()) throw bad_input("a result document is missing; --json FILE of any verb writes one");
    if (compares_ && files_.size() != 2) {
      throw bad_input(fmt::format("--diff takes two result documents, before and after; given: {}", files_.size()));
    }
    try {
      std::vector<report::source> sources;
      for (const std::string& file : files_) sources.push_back(report::read(file, contents_of(file)));
      if (compares_) {
        compare(with, sources.front(), sources.back());
      } else {
        put_page(with.table, page_.value_or("report.html"), report::page(sources));
      }
    } catch (const report::report_error& error) {
      throw bad_input(error.what());
    }
    return ok;
  }

 private:
  void compare(session& with, const report::source& before, const report::source& after) const {
    const report::difference all = report::compared(before, after);
    std::FILE* table = page_ == "-" ? stderr : with.table;
    if (page_) put_page(table, *page_, report::difference_page(before, after, all));
    print_difference(table, all, max_difference_rows);
  }

  void put_page(std::FILE* table, const std::string& file, const std::string& page) const {
    write(file, page);
    if (file == "-") return;
    base::print(table, "{}: {} KB from {}\n", file, (page.size() + 999) / 1000, join(files_));
  }

  /// A file that cannot be opened is the user's error; one that cannot be filled is a failed run, as elsewhere.
  static void write(const std::string& file, const std::string& page) {
    std::optional<observe::output> out;
    try {
      out.emplace(file);
    } catch (const observe::output_error& error) {
      throw bad_input("--output: " + std::string(error.what()));
    }
    out->write(page);
  }

  words files_;
  std::optional<std::string> page_;
  bool compares_ = false;
};

}  // namespace

std::unique_ptr<verb> make_report() { return std::make_unique<report_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
