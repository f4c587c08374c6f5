// SPDX-License-Identifier: Apache-2.0
// Machine files: toml++ reads the TOML, and each key and value is checked here. docs/machines.md is the manual.
#include "sim/models/machine_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "sim/models/geometry.hpp"

namespace txsync::sim {
namespace {

constexpr int schema = 1;
constexpr std::size_t max_bytes = std::size_t{1} << 20;  // fifty times the size of the built-in files

constexpr confidence all_confidences[] = {confidence::read, confidence::measured, confidence::computed,
                                          confidence::recalled, confidence::estimate};

constexpr const char* top_keys = "schema, name, title, notes";

std::string type_name(const toml::node& value) {
  std::ostringstream text;
  text << value.type();
  return text.str();
}

unsigned line_of(const toml::source_region& where) { return where.begin.line == 0 ? 1 : where.begin.line; }

/// Keys and words of the file may contain any character.
std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char one) { return one < ' '; }, '?');
  return text;
}

std::string comma_list(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& one : words) text += (text.empty() ? "" : ", ") + one;
  return text;
}

/// The sections in their order, each once: "[core], [smt], ...".
std::string sections_text() {
  std::string text;
  std::string_view last;
  for (const field& one : fields()) {
    if (last == one.section) continue;
    last = one.section;
    text += (text.empty() ? "[" : ", [") + std::string(last) + "]";
  }
  return text;
}

bool is_section(std::string_view name) {
  return std::ranges::any_of(fields(), [&](const field& one) { return name == one.section; });
}

std::string keys_text(std::string_view section) {
  std::string text;
  for (const field& one : fields()) {
    if (section == one.section) text += (text.empty() ? "" : ", ") + std::string(one.key);
  }
  return text;
}

std::string range_text(const field& of) {
  return fmt::format("{} to {}{}{}", of.least, of.most, *of.unit == '\0' ? "" : " ", of.unit);
}

/// Walks through the parsed file. It reports the error that comes first in the file, although tables come sorted by
/// name. Missing keys are reported only if all present ones are right, because a misspelt key is missing, too. Whether
/// the numbers fit together is checked only if all are present.
class reader {
 public:
  reader(const std::string& source, const std::string& name) : source_(source), name_(name) {
    made_.from.resize(fields().size());
  }

  machine read(const toml::table& root) {
    made_.file = source_;
    read_root(root);
    complain(wrong_);
    complain(missing_);
    if (const auto impossible = find_impossibility(made_.model)) {
      complain({made_.from[field_index(impossible->at)].line, impossible->what});
    }
    return std::move(made_);
  }

 private:
  struct complaint {
    unsigned line = 0;  // 0: none
    std::string what;
  };

  static void keep_first(complaint& kept, const toml::source_region& where, const std::string& what) {
    const unsigned line = line_of(where);
    if (kept.line == 0 || line < kept.line) kept = {line, what};
  }

  void wrong(const toml::source_region& where, const std::string& what) { keep_first(wrong_, where, what); }
  void missing(const toml::source_region& where, const std::string& what) { keep_first(missing_, where, what); }

  void complain(const complaint& said) const {
    if (said.line != 0) throw machine_error(fmt::format("{}:{}: {}", source_, said.line, one_line(said.what)));
  }

  // ---- the top

  void read_root(const toml::table& root) {
    for (const auto& [key, value] : root) {
      const std::string_view word = key.str();
      if (is_section(word)) {
        read_section(key, value);
      } else if (word == "schema") {
        read_schema(value);
      } else if (word == "name") {
        read_name(value);
      } else if (word == "title") {
        made_.title = text_of(value, "title").value_or("");
      } else if (word == "notes") {
        read_notes(value);
      } else {
        wrong(key.source(),
              "unknown key '" + std::string(word) + "' at the top; allowed: " + top_keys + ", " + sections_text());
      }
    }
    look_for_missing(root);
  }

  void look_for_missing(const toml::table& root) {
    const auto needed = [&](const char* key, const char* allowed) {
      if (!root.contains(key)) missing(root.source(), std::string(key) + " is missing; allowed: " + allowed);
    };
    needed("schema", "schema = 1");
    needed("name", "name = \"the file's name without .toml\"");
    needed("title", "title = \"one line\"");
    needed("notes", "notes = [\"...\", ...], also empty");
    for (const field& one : fields()) {
      const toml::table* section = root[one.section].as_table();
      if (section == nullptr) {
        needed(one.section, sections_text().c_str());
      } else if (!section->contains(one.key)) {
        const std::string sort = *one.meaning == '\0' ? "" : " (" + std::string(one.meaning) + ")";
        missing(section->source(), one.name() + " is missing" + sort + "; allowed: " + range_text(one));
      }
    }
  }

  void read_schema(const toml::node& value) {
    if (const auto number = value.value_exact<std::int64_t>(); !number || *number != schema) {
      wrong(value.source(), "schema is unknown to this version of txsync; allowed: schema = 1");
    }
  }

  void read_name(const toml::node& value) {
    const auto said = text_of(value, "name");
    if (!said) return;
    made_.name = *said;
    if (*said != name_) wrong(value.source(), "name '" + *said + "' is not the file's; allowed: \"" + name_ + "\"");
  }

  void read_notes(const toml::node& value) {
    const toml::array* list = value.as_array();
    if (list == nullptr) {
      wrong(value.source(), "notes is " + type_name(value) + " rather than an array; allowed: notes = [\"...\", ...]");
      return;
    }
    for (const toml::node& one : *list) {
      if (const auto note = text_of(one, "a note")) made_.notes.push_back(*note);
    }
  }

  /// A non-empty string of one line. For anything else nothing, and a complaint.
  std::optional<std::string> text_of(const toml::node& value, const std::string& what) {
    auto said = value.value_exact<std::string>();
    if (!said) {
      wrong(value.source(), what + " is " + type_name(value) + " rather than a string; allowed: text in quotes");
    } else if (said->find_first_not_of(" \t") == std::string::npos) {
      wrong(value.source(), what + " is empty; allowed: text in quotes");
    } else if (said->find_first_of("\n\r") != std::string::npos) {
      wrong(value.source(), what + " has more than one line; allowed: one line");
    } else {
      return said;
    }
    return {};
  }

  // ---- the numbers

  void read_section(const toml::key& section, const toml::node& value) {
    const std::string name(section.str());
    const toml::table* table = value.as_table();
    if (table == nullptr) {
      wrong(value.source(), "'" + name + "' is " + type_name(value) + " rather than a table; allowed: [" + name + "]");
      return;
    }
    for (const auto& [key, entry] : *table) {
      const std::size_t index = field_index(name, key.str());
      if (index == no_field) {
        wrong(key.source(),
              "unknown key '" + std::string(key.str()) + "' in [" + name + "]; allowed: " + keys_text(name));
      } else {
        read_entry(index, key, entry);
      }
    }
  }

  void read_entry(std::size_t index, const toml::key& key, const toml::node& value) {
    static const std::set<std::string> parts = {"value", "source", "confidence"};
    const field& of = fields()[index];
    const toml::table* entry = value.as_table();
    if (entry == nullptr) {
      wrong(value.source(), of.name() + " is " + type_name(value) +
                                " rather than a table; allowed: { value = N, source = \"...\", confidence = \"...\" }");
      return;
    }
    for (const auto& [part, unused] : *entry) {
      if (!parts.contains(std::string(part.str()))) {
        wrong(part.source(),
              "unknown key '" + std::string(part.str()) + "' in " + of.name() + "; allowed: " + comma_list(parts));
      }
    }
    provenance& from = made_.from[index];
    from.line = line_of(key.source());
    if (const toml::node* number = part_of(*entry, of, "value", range_text(of))) read_value(of, *number);
    if (const toml::node* text = part_of(*entry, of, "source", "where the number is from, in quotes")) {
      from.source = text_of(*text, of.name() + "'s source").value_or("");
    }
    if (const toml::node* word = part_of(*entry, of, "confidence", confidences_text())) {
      read_confidence(of, *word, from.how);
    }
  }

  const toml::node* part_of(const toml::table& entry, const field& of, const char* part, const std::string& allowed) {
    const toml::node* found = entry.get(part);
    if (found == nullptr) {
      wrong(entry.source(), of.name() + " has no " + part + "; allowed: " + allowed);
    }
    return found;
  }

  void read_value(const field& of, const toml::node& value) {
    const auto number = value.value_exact<std::int64_t>();
    if (!number) {
      wrong(value.source(),
            of.name() + " is " + type_name(value) + " rather than an integer; allowed: " + range_text(of));
    } else if (*number < std::int64_t{of.least} || *number > std::int64_t{of.most}) {
      wrong(value.source(), fmt::format("{} = {} is out of range; allowed: {}", of.name(), *number, range_text(of)));
    } else {
      made_.model.*of.member = static_cast<std::uint32_t>(*number);
    }
  }

  void read_confidence(const field& of, const toml::node& value, confidence& into) {
    const auto said = value.value_exact<std::string>();
    for (const confidence one : all_confidences) {
      if (said && *said == to_string(one)) {
        into = one;
        return;
      }
    }
    const std::string what = said ? "unknown confidence '" + *said + "' of " + of.name()
                                  : of.name() + "'s confidence is " + type_name(value) + " rather than a string";
    wrong(value.source(), what + "; allowed: " + confidences_text());
  }

  static std::string confidences_text() {
    std::string text;
    for (const confidence one : all_confidences) {
      text += (text.empty() ? "\"" : ", \"") + std::string(to_string(one)) + "\"";
    }
    return text;
  }

  const std::string& source_;
  const std::string& name_;
  machine made_;
  complaint wrong_;
  complaint missing_;
};

std::string read_text(const std::string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  using std::filesystem::file_type;
  if (kind != file_type::regular && kind != file_type::not_found && kind != file_type::none) {
    throw machine_error(path +
                        ": is not a regular file; allowed: a machine file");  // opening a pipe could block for ever
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw machine_error(path + ": cannot be read: " + std::strerror(errno));
  std::string text(max_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_bytes) throw machine_error(path + ": is too long for a machine file; allowed: at most 1 MiB");
  return text;
}

}  // namespace

const char* to_string(confidence how) noexcept {
  switch (how) {
    case confidence::read:
      return "read";
    case confidence::measured:
      return "measured";
    case confidence::computed:
      return "computed";
    case confidence::recalled:
      return "recalled";
    case confidence::estimate:
      return "estimate";
  }
  return "";
}

machine parse_machine(std::string_view text, const std::string& source, const std::string& name) {
  try {
    const toml::table root = toml::parse(text, source);
    return reader(source, name).read(root);
  } catch (const toml::parse_error& error) {
    throw machine_error(fmt::format("{}:{}: {}; allowed: TOML, see docs/machines.md", source, line_of(error.source()),
                                    error.description()));
  }
}

machine read_machine(const std::string& path) {
  return parse_machine(read_text(path), path, std::filesystem::path(path).stem().string());
}

std::string htm_words(const machine_model& model) {
  if (model.htm_attempts == 0) return "none";
  std::string words;
  if (model.htm_entries != 0) {
    words = fmt::format("{} {}", model.htm_entries, model.htm_reads_in_entries != 0 ? "lines" : "written lines");
  } else {
    words = model.htm_write_in_l1 != 0 ? "writes in the L1" : "unbounded";
  }
  if (model.htm_hle != 0) words += ", HLE";
  if (model.htm_suspend != 0) words += ", suspend";
  if (model.htm_rollback_only != 0) words += ", rollback-only";
  if (model.htm_always_abort != 0) words += ", always-abort";
  return words;
}

}  // namespace txsync::sim
