// SPDX-License-Identifier: Apache-2.0
// txsync-audit: refuses objects that the simulated machine could not follow. txsync-c++ and the build run it.
#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "object_file.hpp"
#include "scan.hpp"
#include "symbol_table.hpp"

namespace {

using namespace txsync::sim::toolchain;

constexpr const char* usage =
    "usage: txsync-audit --symbols FILE MODE [[--source SOURCE] OBJECT|ARCHIVE...]\n"
    "  --source     what is said of the next object names the source that it was made of\n"
    "  --accesses   each object: no memory access without a hook\n"
    "  --link       objects that are linked together: the same for those without a mark, and no undefined symbol that\n"
    "               the table does not allow\n"
    "  --map        print the map for objcopy --redefine-syms\n"
    "  --thunks     print the assembly of the thunks\n"
    "  --wrapped    print the names that a program's image has to define\n"
    "Exit status: 0 nothing found, 1 refused, 2 the command line or the table was wrong.\n";

struct input {
  std::string path;
  std::string source;  // empty if unknown
};

// Functions by the names that the source gave them: objcopy renames main but not main.cold, which is a part of it.
std::vector<object_file> read(const symbol_table& table, const input& file, bool code) {
  std::vector<object_file> objects = read_objects(file.path, code);
  for (object_file& object : objects) {
    if (!file.source.empty()) object.known = file.source;
    for (code_section& section : object.code) {
      for (auto& [address, name] : section.functions) name = table.given_name(name);
    }
  }
  return objects;
}

std::string readable(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // of C; the demangler takes short ones for types
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string made = status == 0 ? text : name;
  std::free(text);
  return made;
}

// "file:line" from the debug information; empty without it.
std::string source_line(const unseen_access& found) {
  if (found.object.ends_with(")")) return {};
  std::string line;
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(found.address));
  try {
    each_line({"addr2line", "-e", found.object, "-j", found.section, address}, [&](std::string_view text) {
      if (!text.starts_with("?") && line.empty()) line = text.substr(text.rfind('/') + 1);
    });
  } catch (const std::exception&) {
    return {};  // a missing line does no harm
  }
  return line.substr(0, line.find(' '));
}

int report_accesses(const object_file& object) {
  std::map<std::string, std::vector<unseen_access>> by_function;
  for (unseen_access& found : unseen_accesses(object)) by_function[found.function].push_back(std::move(found));
  for (const auto& [function, all] : by_function) {
    const unseen_access& first = all.front();
    const std::string line = source_line(first);
    std::fprintf(stderr, "txsync: %s: %s (%s%s%s+0x%llx): %s: %s", object.known.c_str(), readable(function).c_str(),
                 line.c_str(), line.empty() ? "" : ", ", first.section.c_str(),
                 static_cast<unsigned long long>(first.address), first.reason.c_str(), first.text.c_str());
    if (all.size() > 1) std::fprintf(stderr, " (and %zu more in this function)", all.size() - 1);
    std::fputc('\n', stderr);
  }
  return by_function.empty() ? 0 : 1;
}

// The function of `object` that first names the symbol. Its code is read only when this is called.
std::string user_of(const symbol_table& table, const std::string& symbol, const object_file& object) {
  if (object.name.ends_with(")")) return {};
  for (const object_file& again : read(table, {object.name, {}}, true)) {
    for (const code_section& section : again.code) {
      for (const instruction& here : section.instructions) {
        if (here.relocation.find(" " + symbol) == std::string::npos) continue;
        auto after = section.functions.upper_bound(here.address);
        if (after != section.functions.begin()) return readable(whole_function(std::prev(after)->second));
      }
    }
  }
  return {};
}

// `symbol` is the one that the object uses; `name` is what the source calls it.
void report_symbol(const symbol_table& table, const std::string& symbol, const std::string& name,
                   const object_file& object, const std::string& why) {
  const std::string function = user_of(table, symbol, object);
  std::fprintf(stderr, "txsync: %s: %s%suses %s: %s\n", object.known.c_str(), function.c_str(),
               function.empty() ? "" : " ", readable(name).c_str(), why.c_str());
}

int report_symbols(const symbol_table& table, const std::set<std::string>& symbols, const object_file& object) {
  int status = 0;
  std::vector<std::string> unrenamed;
  for (const std::string& symbol : symbols) {
    const symbol_rule rule = table.find(symbol);
    if (const symbol_rule given = table.rule_of_target(symbol); given.what == treatment::ends && given.target == symbol)
      report_symbol(table, symbol, table.given_name(symbol), object, "a call ends the run: " + given.reason);
    if (rule.what == treatment::plain) continue;
    status = 1;
    if (rule.what == treatment::unknown) {
      report_symbol(
          table, symbol, symbol, object,
          "no function of the simulated machine; compile what defines it with txsync-c++ or txsync-cc, or do without");
    } else {
      unrenamed.push_back(symbol);
    }
  }
  if (!unrenamed.empty()) {
    std::fprintf(stderr, "txsync: %s: was not made by txsync-c++ or txsync-cc: it uses %s", object.known.c_str(),
                 readable(unrenamed.front()).c_str());
    if (unrenamed.size() > 1) std::fprintf(stderr, " and %zu more that they rename", unrenamed.size() - 1);
    std::fputc('\n', stderr);
  }
  return status;
}

int audit_accesses(const symbol_table& table, const std::vector<input>& files) {
  int status = 0;
  for (const input& file : files) {
    for (const object_file& object : read(table, file, true)) status |= report_accesses(object);
  }
  return status;
}

int audit_link(const symbol_table& table, const std::vector<input>& files) {
  int status = 0;
  std::vector<object_file> objects;
  std::set<std::string> defined;
  std::vector<input> unread;  // reading code takes the time, so it is done only without a mark that says it was read
  for (const input& file : files) {
    bool marked = true;
    for (object_file& object : read(table, file, false)) {
      for (const auto& [name, place] : object.symbols) {
        if (place.global && place.section != "*UND*") defined.insert(name);
      }
      marked = marked && object.audited;
      objects.push_back(std::move(object));
    }
    if (!marked) unread.push_back(file);
  }
  for (const object_file& object : objects) {
    std::set<std::string> outside;
    std::ranges::set_difference(object.undefined, defined, std::inserter(outside, outside.end()));
    status |= report_symbols(table, outside, object);
  }
  return status | audit_accesses(table, unread);
}

std::vector<input> inputs_of(const std::vector<std::string>& words) {
  std::vector<input> files;
  std::string source;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--source" && i + 2 < words.size()) {
      source = words[++i];
    } else {
      files.push_back({words[i], std::exchange(source, {})});
    }
  }
  return files;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3 || arguments[0] != "--symbols") {
    std::fputs(usage, stderr);
    return 2;
  }
  const symbol_table table(arguments[1]);
  const std::string& mode = arguments[2];
  const std::vector<input> files = inputs_of({arguments.begin() + 3, arguments.end()});
  if (mode == "--map") return std::fputs(table.map().c_str(), stdout) < 0;
  if (mode == "--thunks") return std::fputs(table.thunks().c_str(), stdout) < 0;
  if (mode == "--wrapped") {
    for (const std::string& name : table.wrapped_targets()) std::puts(name.c_str());
    return 0;
  }
  if (mode == "--accesses") return audit_accesses(table, files);
  if (mode == "--link") return audit_link(table, files);
  std::fputs(usage, stderr);
  return 2;
}

}  // namespace

int main(int count, char** values) {
  try {
    return run({values + 1, values + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "txsync-audit: %s\n", error.what());
    return 2;
  }
}
