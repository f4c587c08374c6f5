// SPDX-License-Identifier: Apache-2.0
// txsync report: one page from result documents.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "observe/document/output.hpp"
#include "report/report.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

std::string contents_of(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in.is_open()) text << in.rdbuf();  // fails on a directory, and on nothing to read
  if (!in.is_open() || errno != 0) throw bad_input("cannot read '" + file + "': " + std::strerror(errno));
  return std::move(text).str();
}

class report_verb final : public verb {
 public:
  const char* name() const override { return "report"; }
  const char* summary() const override { return "Make one offline page from result documents"; }

  void define(CLI::App& app) override {
    argument(app, "RESULT", files_, "Result documents, as --json writes them");
    text_option(app, "-o,--output", page_, "FILE", "The page (report.html); - is the standard output");
    footer(app,
           "The page is one file that needs no network and reads without script; open it in any browser.\n"
           "What is no result document is one line and exit status 2; then no page is made or changed.");
  }

  int run(session& with) override {
    if (files_.empty()) throw bad_input("a result document is missing; --json FILE of any verb writes one");
    std::vector<report::source> sources;
    std::string page;
    try {
      for (const std::string& file : files_) sources.push_back(report::read(file, contents_of(file)));
      page = report::page(sources);
    } catch (const report::report_error& error) {
      throw bad_input(error.what());
    }
    write(page);
    if (page_ != "-") {
      std::fprintf(with.table, "%s: %zu KB from %s\n", page_.c_str(), (page.size() + 999) / 1000, join(files_).c_str());
    }
    return ok;
  }

 private:
  /// A file that cannot be opened was asked for in vain; one that cannot be filled is a run that failed, as elsewhere.
  void write(const std::string& page) {
    std::optional<observe::output> file;
    try {
      file.emplace(page_);
    } catch (const observe::output_error& error) {
      throw bad_input("--output: " + std::string(error.what()));
    }
    file->write(page);
  }

  words files_;
  std::string page_ = "report.html";
};

}  // namespace

std::unique_ptr<verb> make_report() { return std::make_unique<report_verb>(); }

}  // namespace txsync::inline TXSYNC_BACKEND::cli
