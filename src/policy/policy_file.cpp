// SPDX-License-Identifier: Apache-2.0
// Policy files: toml++ reads the TOML, and each key and value is checked here. docs/policy-file.md is the manual.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include <toml++/toml.h>

#include "base/descriptor.hpp"
#include "policy/policy.hpp"
#include "policy/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::policy {
namespace {

constexpr int schema = 1;
constexpr std::size_t max_bytes = std::size_t{4} << 20;  // 4096 sites with long names are a tenth of it

[[noreturn]] void refuse(const std::string& file, const std::string& what) { throw policy_error(file + ": " + what); }

// ---- the text

/// Walks through the parsed file. It reports the error that comes first in the file, although tables come sorted by
/// name.
class reader {
 public:
  explicit reader(const std::string& source) : source_(source) {}

  policy_set read(const toml::table& root) {
    policy_set made;
    read_root(root, made);
    complain();
    for (auto& [name, choices] : made.sites) {
      if (!sites_that_set_counting_.contains(name)) choices.counting = made.defaults.counting;
    }
    return made;
  }

 private:
  void wrong(const toml::source_region& where, const std::string& what) {
    const unsigned line = where.begin.line == 0 ? 1 : where.begin.line;
    if (first_line_ != 0 && first_line_ <= line) return;
    first_line_ = line;
    first_ = source_ + ":" + std::to_string(line) + ": " + what;
  }

  void complain() const {
    if (first_line_ != 0) throw policy_error(first_);
  }

  static std::string type_name(const toml::node& value) {
    std::ostringstream text;
    text << value.type();
    return text.str();
  }

  void unknown_key(const toml::key& key, const std::string& where, const std::string& allowed) {
    wrong(key.source(), "unknown key '" + std::string(key.str()) + "' " + where + "; allowed: " + allowed);
  }

  void read_root(const toml::table& root, policy_set& into) {
    bool versioned = false;
    for (const auto& [key, value] : root) {
      const std::string_view name = key.str();
      if (name == "schema") {
        versioned = true;
        read_schema(value);
      } else if (name == "default") {
        if (const toml::table* table = table_of(key, value)) read_default(*table, into);
      } else if (name == "site") {
        if (const toml::table* table = table_of(key, value)) read_sites(*table, into);
      } else {
        unknown_key(key, "at the top", "schema, [default], [site.\"NAME\"]");
      }
    }
    if (!versioned) wrong(root.source(), "schema is missing; allowed: schema = 1");
  }

  void read_schema(const toml::node& value) {
    if (const auto number = value.value_exact<std::int64_t>(); !number || *number != schema) {
      wrong(value.source(), "schema is unknown to this version of txsync; allowed: schema = 1");
    }
  }

  const toml::table* table_of(const toml::key& key, const toml::node& value) {
    const toml::table* table = value.as_table();
    if (table == nullptr) {
      const std::string name(key.str());
      wrong(value.source(), "'" + name + "' is " + type_name(value) + " rather than a table; allowed: " +
                                (name == "default" ? "[default]" : "[site.\"NAME\"]"));
    }
    return table;
  }

  void read_sites(const toml::table& sites, policy_set& into) {
    for (const auto& [key, value] : sites) {
      const std::string name(key.str());
      if (const toml::table* table = value.as_table()) {
        if (name.empty()) wrong(key.source(), "a site's name is empty; allowed: a name as txsync run prints it");
        into.sites.emplace_back(name, read_choices(*table, packed{}, "site.\"" + name + "\"", name));
      } else {
        wrong(value.source(), "'site." + name + "' is " + type_name(value) +
                                  " rather than a table; allowed: [site.\"NAME\"], with quotes if the name has dots");
      }
    }
  }

  void read_default(const toml::table& table, policy_set& into) {
    openmp_barrier_ = &into.openmp_barrier;
    const packed choices = read_choices(table, packed{}, "default");
    openmp_barrier_ = nullptr;
    into.default_mask = choices.set_bits() | (sites_that_set_counting_.contains({}) ? policy_word::counting_off : 0);
    into.defaults = packed::of(observe::partial_policy{choices.word(), into.default_mask}.over(built_in.word()));
  }

  packed read_choices(const toml::table& table, packed made, const std::string& where, const std::string& site = {}) {
    for (const auto& [key, value] : table) {
      const std::string_view name = key.str();
      if (name == "lock") {
        read_word(key, value, made.lock);
      } else if (name == "rwlock") {
        read_word(key, value, made.rwlock);
      } else if (name == "spinlock") {
        read_word(key, value, made.spinlock);
      } else if (name == "elision") {
        read_word(key, value, made.elision);
      } else if (name == "warm_up") {
        read_word(key, value, made.warm_up);
      } else if (name == "counting") {
        read_counting(value, made.counting);
        sites_that_set_counting_.insert(site);
      } else if (name == "openmp_barrier" && openmp_barrier_ != nullptr) {
        read_word(key, value, *openmp_barrier_);
      } else {
        unknown_key(key, "in [" + where + "]",
                    std::string("lock, elision, warm_up, rwlock, spinlock, counting") +
                        (openmp_barrier_ != nullptr ? ", openmp_barrier" : ""));
      }
    }
    return made;
  }

  void read_counting(const toml::node& value, bool& into) {
    if (const auto given = value.value_exact<bool>()) {
      into = *given;
    } else {
      wrong(value.source(), "counting is " + type_name(value) + " rather than a boolean; allowed: true, false");
    }
  }

  template <class Kind>
  void read_word(const toml::key& key, const toml::node& value, Kind& into) {
    std::string allowed;
    const auto word = value.value_exact<std::string>();
    for (const auto& [known, meaning] : words_of<Kind>::all) {
      if (word && is_word(*word, known)) {
        into = meaning;
        return;
      }
      allowed += (allowed.empty() ? "\"" : ", \"") + std::string(known) + "\"";
    }
    const std::string name(key.str());
    const std::string what =
        word ? "unknown " + name + " '" + *word + "'" : name + " is " + type_name(value) + " rather than a string";
    wrong(value.source(), what + "; allowed: " + allowed);
  }

  const std::string& source_;
  std::set<std::string> sites_that_set_counting_;  // names of sites
  openmp_kind* openmp_barrier_ = nullptr;          // where the file may set openmp_barrier
  unsigned first_line_ = 0;
  std::string first_;
};

// ---- the file

bool is_trusted_owner(uid_t owner) { return owner == 0 || owner == geteuid(); }

/// A policy decides how a program's locks work, so whoever can write the file can change the program.
void refuse_strangers(const std::string& path, const struct stat& file) {
  if (!is_trusted_owner(file.st_uid)) {
    refuse(path, "belongs to user " + std::to_string(file.st_uid) + "; allowed: your own files and root's");
  }
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    refuse(path, "is writable by other users; allowed: only its owner may write it (chmod go-w)");
  }
  std::error_code error;
  const std::string folder = std::filesystem::canonical(path, error).parent_path();
  struct stat about{};
  if (error || stat(folder.c_str(), &about) != 0) refuse(path, "is in a folder that cannot be examined");
  // In a folder with the sticky bit (/tmp), users cannot replace each other's files.
  const bool others_write = (about.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (about.st_mode & S_ISVTX) == 0;
  if (others_write || !is_trusted_owner(about.st_uid)) {
    refuse(path,
           "is in a folder that other users can write to (" + folder + "); allowed: a folder of your own or root's");
  }
}

std::string read_trusted(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe would block until there is a writer.
  const base::descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat about{};
  if (file.get() < 0 || fstat(file.get(), &about) != 0)
    refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(about.st_mode)) refuse(path, "is not a regular file; allowed: a policy file");
  refuse_strangers(path, about);
  std::string text;
  char part[65536];
  for (;;) {
    const ssize_t got = read(file.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > max_bytes) refuse(path, "is too long for a policy file; allowed: at most 4 MiB");
  }
}

// ---- writing

// GCC 12 at -O3 warns of toml++ 3.3: the formatter's branch for tables, which a text never takes, would read past it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
/// In quotes, with the escapes of TOML.
std::string quoted_text(std::string_view text) {
  std::ostringstream made;
  made << toml::toml_formatter{toml::value<std::string>{std::string(text)}, toml::format_flags::none};
  return made.str();
}
#pragma GCC diagnostic pop

void write_choices(std::string& text, packed choices, bool sets_counting) {
  const auto add = [&text](const char* key, const char* word) {
    if (word != nullptr) text += std::string(key) + " = \"" + word + "\"\n";
  };
  add("lock", to_string(choices.lock));
  add("elision", to_string(choices.elision));
  add("warm_up", to_string(choices.warm_up));
  if (choices.rwlock == rwlock_kind::as_mutex)
    text += "# One reader at a time: a program whose readers wait for each other inside such a lock hangs.\n";
  add("rwlock", to_string(choices.rwlock));
  add("spinlock", to_string(choices.spinlock));
  if (sets_counting) text += std::string("counting = ") + (choices.counting ? "true" : "false") + "\n";
}

/// Whether TOML accepts the line as a comment.
bool is_comment(const std::string& line) {
  try {
    (void)toml::parse("# " + line + "\n");
    return true;
  } catch (const toml::parse_error&) {
    return false;
  }
}

std::string with_bytes_escaped(std::string_view line) {
  std::string made;
  for (const char letter : line) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 0x20 && byte < 0x7F) {
      made += letter;
      continue;
    }
    char hex[8];
    std::snprintf(hex, sizeof hex, "\\x%02x", byte);
    made += hex;
  }
  return made;
}

std::string as_comment(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    std::string line(lines.substr(0, end));
    if (!is_comment(line)) line = with_bytes_escaped(line);
    text += line.empty() ? "#\n" : "# " + line + "\n";
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  return text;
}

}  // namespace

policy_set parse_policy(std::string_view text, const std::string& source) {
  try {
    const toml::table root = toml::parse(text, source);
    return reader(source).read(root);
  } catch (const toml::parse_error& error) {
    throw policy_error(source + ":" + std::to_string(error.source().begin.line) + ": " +
                       std::string(error.description()) + "; allowed: TOML, see docs/policy-file.md");
  }
}

policy_set read_policy_file(const std::string& path) { return parse_policy(read_trusted(path), path); }

std::string to_toml(const policy_set& set, std::string_view heading) {
  std::string text = as_comment(heading) + "schema = " + std::to_string(schema) + "\n\n[default]\n";
  write_choices(text, set.defaults, true);
  if (set.openmp_barrier != openmp_kind::library) {
    text += std::string("openmp_barrier = \"") + to_string(set.openmp_barrier) + "\"\n";
  }
  for (const auto& [name, choices] : set.sites) {
    text += "\n[site." + quoted_text(name) + "]\n";
    write_choices(text, choices, choices.counting != set.defaults.counting);
  }
  return text;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::policy
