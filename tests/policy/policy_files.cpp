// SPDX-License-Identifier: Apache-2.0
// Policy files: every key, every value, and every way to get them wrong, with file and line.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/policy.hpp"
#include "policy/presets.hpp"

namespace policy = txsync::policy;
namespace fs = std::filesystem;
using policy::elision_kind;
using policy::lock_kind;
using policy::packed;
using policy::parse_policy;
using policy::policy_set;
using policy::rwlock_kind;
using policy::spinlock_kind;

namespace {

/// What parse_policy() or read_policy_file() complains of; empty when it does not.
template <class Call>
std::string complaint(Call call) {
  try {
    (void)call();
    return {};
  } catch (const policy::policy_error& error) {
    return error.what();
  }
}

std::string complaint_of(const std::string& text) {
  return complaint([&] { return parse_policy(text, "p.toml"); });
}

/// The complaint names this line, says this, and is one line that says what is allowed.
void refused(const std::string& text, unsigned line, const std::string& what) {
  const std::string said = complaint_of(text);
  EXPECT_EQ(said.rfind("p.toml:" + std::to_string(line) + ": ", 0), 0u) << "'" << said << "' for\n" << text;
  EXPECT_NE(said.find(what), std::string::npos) << said;
  EXPECT_NE(said.find("; allowed: "), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

TEST(PolicyFiles, EveryWordOfEveryKey) {
  const std::pair<const char*, lock_kind> locks[] = {{"libc", lock_kind::libc},
                                                     {"mutex", lock_kind::mutex},
                                                     {"spin", lock_kind::spin},
                                                     {"tatas", lock_kind::tatas},
                                                     {"ticket", lock_kind::ticket},
                                                     {"fifo-ticket", lock_kind::fifo_ticket},
                                                     {"fifo_ticket", lock_kind::fifo_ticket},
                                                     {"priority-tatas", lock_kind::priority_tatas}};
  for (const auto& [word, kind] : locks) {
    EXPECT_EQ(parse_policy("schema = 1\n[default]\nlock = \"" + std::string(word) + "\"\n", "p").defaults.lock, kind);
  }
  const std::pair<const char*, rwlock_kind> rwlocks[] = {
      {"libc", rwlock_kind::libc}, {"rwlock", rwlock_kind::rwlock}, {"as-mutex", rwlock_kind::as_mutex}};
  for (const auto& [word, kind] : rwlocks) {
    EXPECT_EQ(parse_policy("schema = 1\n[default]\nrwlock = \"" + std::string(word) + "\"\n", "p").defaults.rwlock,
              kind);
  }
  const std::pair<const char*, spinlock_kind> spinlocks[] = {{"libc", spinlock_kind::libc},
                                                             {"tatas", spinlock_kind::tatas}};
  for (const auto& [word, kind] : spinlocks) {
    EXPECT_EQ(parse_policy("schema = 1\n[default]\nspinlock = \"" + std::string(word) + "\"\n", "p").defaults.spinlock,
              kind);
  }
  std::vector<std::pair<std::string, elision_kind>> elisions = {{"off", elision_kind::off}};
  for (std::size_t row = 0; row < std::size(policy::elision_table); ++row) {
    elisions.emplace_back(policy::elision_table[row].word, policy::kind_of_row<elision_kind>(row));
  }
  for (const auto& [word, kind] : elisions) {
    const policy_set set = parse_policy("schema = 1\n[site.x]\nelision = \"" + word + "\"\n", "p");
    EXPECT_EQ(set.find("x").elision, kind);
    EXPECT_EQ(set.find("y").elision, elision_kind::off);
    EXPECT_EQ(parse_policy(policy::to_toml(set), "p").find("x").elision, kind);
  }
  EXPECT_FALSE(parse_policy("schema = 1\n[default]\ncounting = false\n", "p").defaults.counting);
  EXPECT_TRUE(parse_policy("schema = 1\n[default]\ncounting = true\n", "p").defaults.counting);
}

TEST(PolicyFiles, WhatIsNotSaidIsTheDefault) {
  const policy_set least = parse_policy("schema = 1\n", "p");
  EXPECT_EQ(least.defaults.word(), policy::built_in.word());
  EXPECT_TRUE(least.sites.empty());
  const policy_set set = parse_policy(
      "schema = 1\n[site.\"a.b::c+0x1f\"]\nlock = \"tatas\"\n[site.quiet]\ncounting = true\n[default]\ncounting = "
      "false\n"
      "rwlock = \"libc\"\n",
      "p");
  ASSERT_EQ(set.sites.size(), 2u);
  const packed one = set.find("a.b::c+0x1f");
  EXPECT_EQ(one.lock, lock_kind::tatas);
  EXPECT_EQ(one.rwlock, rwlock_kind::libc);
  EXPECT_EQ(one.spinlock, spinlock_kind::tatas);
  EXPECT_FALSE(one.counting) << "the default's, though it stands further down";
  EXPECT_TRUE(set.find("quiet").counting);
}

TEST(PolicyFiles, BarriersOfOpenmpAreTheWholePrograms) {
  using policy::openmp_kind;
  EXPECT_EQ(parse_policy("schema = 1\n", "p").openmp_barrier, openmp_kind::library);
  const policy_set warm = parse_policy("schema = 1\n[default]\nopenmp_barrier = \"warm\"\n", "p");
  EXPECT_EQ(warm.openmp_barrier, openmp_kind::warm);
  EXPECT_EQ(parse_policy(policy::to_toml(warm), "p").openmp_barrier, openmp_kind::warm);
  refused("schema = 1\n[default]\nopenmp_barrier = \"cold\"\n", 3, "unknown openmp_barrier 'cold'");
  refused("schema = 1\n[site.a]\nopenmp_barrier = \"warm\"\n", 3, "unknown key 'openmp_barrier'");
}

TEST(PolicyFiles, UnknownKeys) {
  refused("schema = 1\nversion = 2\n", 2, "unknown key 'version' at the top");
  refused("schema = 1\n[defaults]\nlock = \"mutex\"\n", 2, "unknown key 'defaults'");
  refused("schema = 1\n[default]\nlocks = \"mutex\"\n", 3, "unknown key 'locks' in [default]");
  refused("schema = 1\n\n[site.\"x\"]\nattempts = 3\n", 4, "unknown key 'attempts' in [site.\"x\"]");
  refused("schema = 1\n[site.a.b]\nlock = \"mutex\"\n", 2, "unknown key 'b' in [site.\"a\"]");
  refused("schema = 1\n[[site]]\nlock = \"mutex\"\n", 2, "'site' is array rather than a table");
}

TEST(PolicyFiles, WrongTypes) {
  for (const char* value : {"1", "1.5", "true", "[\"mutex\"]", "{ a = 1 }", "2025-01-31", "12:00:00"}) {
    for (const char* key : {"lock", "elision", "warm_up", "rwlock", "spinlock"}) {
      const std::string line = std::string(key) + " = " + value + "\n";
      refused("schema = 1\n[default]\n" + line, 3, std::string(key) + " is ");
      refused("schema = 1\n[site.\"x\"]\n\n" + line, 4, std::string(key) + " is ");
    }
  }
  for (const char* value : {"1", "0", "\"true\"", "1.5", "[true]", "{ a = 1 }"}) {
    refused(std::string("schema = 1\n[default]\ncounting = ") + value + "\n", 3, "counting is ");
  }
  refused("schema = 1\ndefault = 3\n", 2, "'default' is integer rather than a table");
  refused("schema = 1\nsite = \"x\"\n", 2, "'site' is string rather than a table");
  refused("schema = 1\n[site]\nx = \"mutex\"\n", 3, "'site.x' is string rather than a table");
}

TEST(PolicyFiles, UnknownWords) {
  refused("schema = 1\n[default]\nlock = \"mutx\"\n", 3, "unknown lock 'mutx'; allowed: \"libc\", \"mutex\"");
  refused("schema = 1\n[default]\nlock = \"Mutex\"\n", 3, "unknown lock 'Mutex'");
  refused("schema = 1\n[default]\nlock = \"\"\n", 3, "unknown lock ''");
  refused("schema = 1\n[default]\nrwlock = \"as mutex\"\n", 3, "unknown rwlock 'as mutex'");
  refused("schema = 1\n[default]\nrwlock = \"ticket\"\n", 3, "unknown rwlock 'ticket'");
  refused("schema = 1\n[default]\nelision = \"on\"\n", 3, "unknown elision 'on'; allowed: \"off\", \"standard\"");
  refused("schema = 1\n[default]\nelision = \"lemming\"\n", 3, "unknown elision 'lemming'");
  refused("schema = 1\n[default]\nspinlock = \"ticket\"\n", 3, "unknown spinlock 'ticket'");
  refused("schema = 1\n[site.\"\"]\nlock = \"mutex\"\n", 2, "a site's name is empty");
}

TEST(PolicyFiles, Schema) {
  refused("[default]\n", 1, "schema is missing");
  refused("", 1, "schema is missing");
  for (const char* value : {"2", "0", "-1", "\"1\"", "1.0", "true"}) {
    refused(std::string("\nschema = ") + value + "\n", 2,
            "schema is unknown to this version of txsync; allowed: schema = 1");
  }
}

TEST(PolicyFiles, NotTomlAndDuplicates) {
  refused("schema = 1\n[default\n", 2, "");
  refused("schema = 1\n[default]\nlock = mutex\n", 3, "");
  refused("schema = 1\n[default]\nlock = \"mutex\n", 3, "");
  refused("schema = 1\nschema = 1\n", 2, "");
  refused("schema = 1\n[default]\nlock = \"mutex\"\nlock = \"tatas\"\n", 4, "");
  refused("schema = 1\n[default]\n[site.\"x\"]\n[default]\n", 4, "");
  refused("schema = 1\n[site.\"x\"]\n[site.\"x\"]\n", 3, "");
  refused(std::string("schema = 1\n\0\n", 13), 2, "");
  refused("schema = 1\n# \xff\xfe\n", 2, "");
}

TEST(PolicyFiles, WhatIsWrongFirstIsSaid) {
  refused("schema = 2\n[site.\"a\"]\nlock = 1\n[default]\nlock = 2\n", 1, "schema");
  refused("schema = 1\n[site.\"b\"]\nlock = 1\n[site.\"a\"]\nlock = 2\n[default]\nlock = 3\n", 3, "lock is integer");
}

TEST(policy_files, headings_of_any_bytes_are_comments) {
  const std::string text = policy::to_toml({}, "args \x1b[31m \xff\xfe\r\ncaf\xc3\xa9\t\x01");
  EXPECT_NE(text.find("# args \\x1b[31m \\xff\\xfe\\x0d\n"), std::string::npos) << text;
  EXPECT_NO_THROW(parse_policy(text, "p"));
  EXPECT_NE(policy::to_toml({}, "caf\xc3\xa9").find("# caf\xc3\xa9\n"), std::string::npos);
}

TEST(PolicyFiles, WhatIsWrittenIsReadBack) {
  policy_set set;
  set.defaults = {lock_kind::ticket,
                  rwlock_kind::as_mutex,
                  spinlock_kind::libc,
                  false,
                  policy::named<elision_kind>("shore"),
                  policy::named<policy::warm_up_kind>("paper-ticket")};
  set.sites = {{"kyotocabinet::HashDB::set@kchashdb.h:31", {lock_kind::tatas, {}, {}, false, elision_kind::off}},
               {"quotes \" ' \\ and \t\n control", {lock_kind::unset, rwlock_kind::libc, {}, true}},
               {"dots.and+0x1f", {lock_kind::libc, rwlock_kind::rwlock, spinlock_kind::tatas, false}}};
  const std::string text = policy::to_toml(set, "first\n\nthird");
  EXPECT_EQ(text.rfind("# first\n#\n# third\nschema = 1\n", 0), 0u) << text;
  const policy_set read = parse_policy(text, "p");
  EXPECT_EQ(read.defaults.word(), set.defaults.word());
  ASSERT_EQ(read.sites.size(), set.sites.size());
  for (const auto& [name, choices] : set.sites) EXPECT_EQ(read.find(name).word(), set.find(name).word()) << name;
}

TEST(PolicyFiles, AReaderWriterLockAsAMutexIsWarnedOf) {
  const std::string warning =
      "# One reader at a time: a program whose readers wait for each other inside such a lock hangs.\n";
  policy_set set;
  set.sites.emplace_back("a", policy::packed{lock_kind::ticket, rwlock_kind::rwlock});
  EXPECT_EQ(policy::to_toml(set).find('#'), std::string::npos) << "nothing to warn of";
  EXPECT_EQ(policy::warning_of(set), "");
  set.sites.emplace_back("b", policy::packed{lock_kind::unset, rwlock_kind::as_mutex});
  EXPECT_NE(policy::to_toml(set).find("[site.\"b\"]\n" + warning + "rwlock = \"as-mutex\"\n"), std::string::npos);
  EXPECT_NE(policy::warning_of(set).find("one reader at a time"), std::string::npos);
  const policy_set by_default = policy::find_named("as-mutex").value_or(policy_set{});
  EXPECT_NE(policy::to_toml(by_default).find(warning + "rwlock = "), std::string::npos);
  EXPECT_NE(policy::warning_of(by_default).find("one reader at a time"), std::string::npos);
  EXPECT_EQ(policy::warning_of(parse_policy(policy::to_toml({}), "p")), "");
}

/// A folder of the test's own.
struct folder {
  fs::path path;
  folder() {
    std::string made = (fs::temp_directory_path() / "policy_files-XXXXXX").string();
    path = mkdtemp(made.data());
  }
  ~folder() { fs::remove_all(path); }
  std::string file(const std::string& text = "schema = 1\n") const {
    const std::string name = (path / "p.toml").string();
    std::ofstream(name) << text;
    chmod(name.c_str(), 0644);
    return name;
  }
};

std::string complaint_of_file(const std::string& path) {
  return complaint([&] { return policy::load_policy(path); });
}

TEST(PolicyFiles, ReadFromAFile) {
  const folder here;
  const std::string name = here.file("schema = 1\n[default]\nlock = \"tatas\"\n");
  EXPECT_EQ(policy::load_policy(name).defaults.lock, lock_kind::tatas);
  EXPECT_EQ(complaint_of_file(here.file("schema = 1\n[default]\nlock = 1\n")).rfind(name + ":3: lock is integer", 0),
            0u);
}

TEST(PolicyFiles, FilesThatCannotBeRead) {
  const folder here;
  EXPECT_EQ(complaint_of_file((here.path / "no.toml").string()),
            (here.path / "no.toml").string() + ": cannot be read: No such file or directory");
  EXPECT_NE(complaint_of_file(here.path.string()).find("is not a regular file; allowed: "), std::string::npos);
  const std::string pipe = (here.path / "pipe.toml").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(complaint_of_file(pipe).find("is not a regular file; allowed: "), std::string::npos);
  EXPECT_NE(complaint_of_file(here.file("#" + std::string(5 << 20, 'x'))).find("too long"), std::string::npos);
}

TEST(PolicyFiles, FilesThatOthersCanWrite) {
  const folder here;
  const std::string name = here.file();
  for (const mode_t mode : {0664u, 0646u, 0666u}) {
    chmod(name.c_str(), mode);
    EXPECT_NE(complaint_of_file(name).find("is writable by other users; allowed: "), std::string::npos);
  }
  chmod(name.c_str(), 0600);
  EXPECT_EQ(complaint_of_file(name), "");
  chmod(here.path.c_str(), 0777);
  EXPECT_NE(complaint_of_file(name).find("a folder that other users can write to"), std::string::npos);
  chmod(here.path.c_str(), 01777);
  EXPECT_EQ(complaint_of_file(name), "") << "like /tmp";
  chmod(here.path.c_str(), 0700);
}

TEST(PolicyFiles, FilesOfStrangers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const folder here;
  const std::string name = here.file();
  ASSERT_EQ(chown(name.c_str(), 4242, 4242), 0);
  EXPECT_NE(complaint_of_file(name).find("belongs to user 4242; allowed: "), std::string::npos);
  ASSERT_EQ(chown(name.c_str(), 0, 0), 0);
  ASSERT_EQ(chown(here.path.c_str(), 4242, 4242), 0);
  EXPECT_NE(complaint_of_file(name).find("a folder that other users can write to"), std::string::npos);
}

}  // namespace
