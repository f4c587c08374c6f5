// SPDX-License-Identifier: Apache-2.0
// Machine files: every way to get them wrong, with file and line.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "sim/models/machine_file.hpp"

namespace fs = std::filesystem;
namespace sim = txsync::sim;
using sim::machine_model;

namespace {

using changes = std::map<std::string, std::string>;

/// A number of the smallest machine that is right: the least that is allowed, 0 where that is none.
std::uint32_t plain_value(const sim::field& of) {
  static const std::map<std::string, std::uint32_t> others = {{"core.access", 4},
                                                              {"smt.share_1", 100},
                                                              {"l1.line", 64},
                                                              {"l1.kib", 32},
                                                              {"l1.ways", 8},
                                                              {"l2.kib", 256},
                                                              {"l2.ways", 8},
                                                              {"l2.hit", 12},
                                                              {"l3.kib", 46080},
                                                              {"l3.ways", 20},
                                                              {"l3.hit", 36},
                                                              {"memory.local", 200},
                                                              {"memory.remote", 300},
                                                              {"memory.dirty_core", 60},
                                                              {"memory.dirty_socket", 200},
                                                              {"page.bytes", 4096},
                                                              {"htm.attempts", 1},
                                                              {"htm.nesting", 7}};
  const auto found = others.find(of.name());
  return found == others.end() ? of.least : found->second;
}

std::string entry(const std::string& key, const std::string& value) {
  return key + " = { value = " + value + ", source = \"a book\", confidence = \"read\" }\n";
}

struct text_with_lines {
  std::string text;
  std::map<std::string, unsigned> lines;  // of "section.key", and of "section"
};

/// A whole file; a changed number is a value, or a whole line when it has a '=', or left out when it is empty.
text_with_lines file_with(const changes& wanted = {}) {
  text_with_lines made;
  made.text = "schema = 1\nname = \"m\"\ntitle = \"a machine\"\nnotes = [\"one\", \"two\"]\n";
  unsigned line = 5;
  std::string section;
  for (const sim::field& one : sim::fields()) {
    if (section != one.section) {
      section = one.section;
      made.text += "[" + section + "]\n";
      made.lines[section] = line++;
    }
    std::string text = entry(one.key, std::to_string(plain_value(one)));
    if (const auto change = wanted.find(one.name()); change != wanted.end()) {
      const std::string& other = change->second;
      text = other.empty() ? "" : other.find('=') != std::string::npos ? other + "\n" : entry(one.key, other);
    }
    made.lines[one.name()] = line;
    made.text += text;
    line += static_cast<unsigned>(std::ranges::count(text, '\n'));
  }
  return made;
}

sim::machine parse(const std::string& text) { return sim::parse_machine(text, "m.toml", "m"); }

template <class Call>
std::string complaint(Call call) {
  try {
    (void)call();
    return {};
  } catch (const sim::machine_error& error) {
    return error.what();
  }
}

/// The complaint names this line, says this, and is one line that says what is allowed.
void refused(const std::string& text, unsigned line, const std::string& what) {
  const std::string said = complaint([&] { return parse(text); });
  EXPECT_EQ(said.rfind("m.toml:" + std::to_string(line) + ": ", 0), 0u) << "'" << said << "', not line " << line;
  EXPECT_NE(said.find(what), std::string::npos) << said;
  EXPECT_NE(said.find("; allowed: "), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(MachineFiles, TheSmallestOne) {
  const sim::machine made = parse(file_with().text);
  EXPECT_EQ(made.name, "m");
  EXPECT_EQ(made.title, "a machine");
  EXPECT_EQ(made.notes, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(made.model.core_mhz, 100u);
  EXPECT_EQ(made.model.l3_kib, 46080u);
  EXPECT_EQ(made.from[0].source, "a book");
  EXPECT_EQ(made.from[0].line, 6u);
  for (const sim::field& one : sim::fields()) EXPECT_EQ(made.model.*one.member, plain_value(one)) << one.name();
}

TEST(MachineFiles, EveryNumberIsMissedAndKeptInItsRange) {
  for (const sim::field& one : sim::fields()) {
    const std::string name = one.name();
    const text_with_lines missing = file_with({{name, ""}});
    refused(missing.text, missing.lines.at(one.section), name + " is missing");
    for (const std::int64_t value : {std::int64_t{one.least} - 1, std::int64_t{one.most} + 1}) {
      const text_with_lines wrong = file_with({{name, std::to_string(value)}});
      refused(wrong.text, wrong.lines.at(name), name + " = " + std::to_string(value) + " is out of range");
    }
  }
}

TEST(MachineFiles, TheTop) {
  const std::string text = file_with().text;
  refused(replaced(text, "schema = 1", "schema = 2"), 1, "schema is unknown to this version of txsync");
  refused(replaced(text, "schema = 1", "#"), 1, "schema is missing");
  refused(replaced(text, "name = \"m\"", "#"), 1, "name is missing");
  refused(replaced(text, "name = \"m\"", "name = \"n\""), 2, "name 'n' is not the file's; allowed: \"m\"");
  refused(replaced(text, "name = \"m\"", "name = 3"), 2, "name is integer rather than a string");
  refused(replaced(text, "title = \"a machine\"", "#"), 1, "title is missing");
  refused(replaced(text, "\"a machine\"", "\" \""), 3, "title is empty");
  refused(replaced(text, "\"a machine\"", "\"a\\nb\""), 3, "title has more than one line");
  refused(replaced(text, "notes = [\"one\", \"two\"]", "#"), 1, "notes is missing");
  refused(replaced(text, "[\"one\", \"two\"]", "\"one\""), 4, "notes is string rather than an array");
  refused(replaced(text, "[\"one\", \"two\"]", "[\"one\", 2]"), 4, "a note is integer");
  refused(replaced(text, "[\"one\", \"two\"]", "[\"\"]"), 4, "a note is empty");
  refused(replaced(text, "[\"one\", \"two\"]", "[]\nclock = 3"), 5, "unknown key 'clock' at the top");
  EXPECT_TRUE(parse(replaced(text, "[\"one\", \"two\"]", "[]")).notes.empty());
}

TEST(MachineFiles, Sections) {
  const text_with_lines whole = file_with();
  refused(whole.text + "[gpu]\ncores = 1\n", static_cast<unsigned>(std::ranges::count(whole.text, '\n')) + 1,
          "unknown key 'gpu' at the top; allowed: schema, name, title, notes, [core], [smt], [l1]");
  refused(replaced(whole.text, "[smt]", "[smd]"), whole.lines.at("smt"), "unknown key 'smd'");
  refused("schema = 1\ncore = 3\n", 2, "'core' is integer rather than a table; allowed: [core]");
  const std::size_t begin = whole.text.find("[prefetch]");
  const std::string without = std::string(whole.text).erase(begin, whole.text.find("[tlb]") - begin);
  refused(without, 1, "prefetch is missing; allowed: [core], ");
}

TEST(MachineFiles, WrongEntries) {
  const struct {
    const char* line;
    const char* what;
  } wrongs[] = {
      {"ways = 8", "l1.ways is integer rather than a table; allowed: { value = N, source ="},
      {"ways = { source = \"s\", confidence = \"read\" }", "l1.ways has no value; allowed: 1 to 32"},
      {"ways = { value = 8, confidence = \"read\" }", "l1.ways has no source"},
      {"ways = { value = 8, source = \"s\" }", "l1.ways has no confidence; allowed: \"read\", \"measured\""},
      {"ways = { value = 8, source = \"s\", confidence = \"read\", unit = \"\" }",
       "unknown key 'unit' in l1.ways; allowed: confidence, source, value"},
      {"ways = { value = 8.0, source = \"s\", confidence = \"read\" }",
       "l1.ways is floating-point rather than an integer"},
      {"ways = { value = \"8\", source = \"s\", confidence = \"read\" }", "l1.ways is string rather than an integer"},
      {"ways = { value = true, source = \"s\", confidence = \"read\" }", "l1.ways is boolean rather than an integer"},
      {"ways = { value = 8, source = \"\", confidence = \"read\" }", "l1.ways's source is empty"},
      {"ways = { value = 8, source = 3, confidence = \"read\" }", "l1.ways's source is integer rather than a string"},
      {"ways = { value = 8, source = \"s\", confidence = \"sure\" }",
       "unknown confidence 'sure' of l1.ways; allowed: \"read\", \"measured\", \"computed\", \"recalled\", "
       "\"estimate\""},
      {"ways = { value = 8, source = \"s\", confidence = 1 }", "l1.ways's confidence is integer rather than a string"},
      {"way = { value = 8, source = \"s\", confidence = \"read\" }",
       "unknown key 'way' in [l1]; allowed: line, kib, ways"},
      {"ways = { value = 8, source = \"s\", confidence = \"read\"", ""},
      {"ways = eight # =", ""},
  };
  for (const auto& [line, what] : wrongs) {
    const text_with_lines made = file_with({{"l1.ways", line}});
    refused(made.text, made.lines.at("l1.ways"), what);
  }
}

TEST(MachineFiles, AnyPieceOfAFileIsOneLine) {
  const std::string text = file_with().text;
  for (std::size_t length = 0; length < text.size() - 1; ++length) {
    const std::string said = complaint([&] { return parse(text.substr(0, length)); });
    EXPECT_EQ(said.rfind("m.toml:", 0), 0u) << length << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  refused(text + "\"a\\nb\" = 1\n", static_cast<unsigned>(std::ranges::count(text, '\n')) + 1, "unknown key 'a?b'");
}

TEST(MachineFiles, WhatIsWrongFirstIsSaidAndBeforeWhatIsMissing) {
  const text_with_lines made = file_with({{"core.mhz", ""}, {"l1.ways", "0"}, {"tlb.walk", "x = 1"}, {"l1.kib", "48"}});
  refused(made.text, made.lines.at("l1.ways"), "l1.ways = 0 is out of range");
}

struct impossible {
  const char* title;
  changes numbers;
  const char* at;  // the number whose line is named
  const char* what;
};

void PrintTo(const impossible& one, std::ostream* out) { *out << one.title; }

class ImpossibleMachines : public testing::TestWithParam<impossible> {};

TEST_P(ImpossibleMachines, AreRefused) {
  const auto& [title, numbers, at, what] = GetParam();
  const text_with_lines made = file_with(numbers);
  refused(made.text, made.lines.at(at), what);
}

const impossible all_impossible[] = {
    {"Threads",
     {{"core.sockets", "16"}, {"core.cores", "65"}},
     "core.cores",
     "core.cores = 65 makes 1040 hardware threads; allowed: at most 1024"},
    {"ShareMissing",
     {{"core.threads", "2"}},
     "smt.share_2",
     "smt.share_2 = 0 is needed for core.threads = 2; allowed: 1 to 100"},
    {"ShareOfFourForThree",
     {{"core.threads", "3"}, {"smt.share_2", "60"}},
     "smt.share_4",
     "is needed for core.threads = 3"},
    {"ShareOfEightForFive",
     {{"core.threads", "5"}, {"smt.share_2", "60"}, {"smt.share_4", "30"}},
     "smt.share_8",
     "is needed"},
    {"ShareWithoutThreads",
     {{"smt.share_2", "60"}},
     "smt.share_2",
     "for more hardware threads than core.threads = 1; allowed: 0"},
    {"ShareRises",
     {{"core.threads", "4"}, {"smt.share_2", "50"}, {"smt.share_4", "60"}},
     "smt.share_4",
     "smt.share_4 = 60 is more than smt.share_2 = 50; allowed: 1 to 50"},
    {"Line", {{"l1.line", "96"}}, "l1.line", "is no power of two"},
    {"L1NotWholeSets",
     {{"l1.kib", "32"}, {"l1.ways", "7"}},
     "l1.kib",
     "l1.kib = 32 is no whole number of sets, with l1.ways = 7 of lines of 64 bytes; allowed: sets x ways x line"},
    {"L1Sets", {{"l1.kib", "24"}}, "l1.kib", "makes 48 sets"},
    {"L2Sets", {{"l2.kib", "384"}}, "l2.kib", "makes 768 sets"},
    {"L3NotWholeSets", {{"l3.kib", "46080"}, {"l3.ways", "11"}}, "l3.kib", "is no whole number of sets"},
    {"L2SmallerThanL1", {{"l2.kib", "16"}}, "l2.kib", "l2.kib = 16 is less than l1.kib = 32; allowed: 32 or more"},
    {"L3SmallerThanL2", {{"l3.kib", "160"}}, "l3.kib", "l3.kib = 160 is less than l2.kib = 256"},
    {"L2WithoutWays", {{"l2.ways", "0"}}, "l2.ways", "l2.ways = 0 with l2.kib = 256; allowed: both 0"},
    {"L2WaysWithoutSize", {{"l2.kib", "0"}, {"l2.hit", "0"}}, "l2.kib", "l2.kib = 0 with l2.ways = 8"},
    {"L3WithoutWays", {{"l3.ways", "0"}}, "l3.ways", "l3.ways = 0 with l3.kib"},
    {"InclusiveNothing",
     {{"l3.kib", "0"}, {"l3.ways", "0"}, {"l3.hit", "0"}, {"l3.inclusive", "1"}},
     "l3.inclusive",
     "without a last level"},
    {"HitOfNoCache", {{"l2.kib", "0"}, {"l2.ways", "0"}}, "l2.hit", "is a time of a cache that is not there"},
    {"L2FasterThanL1", {{"l2.hit", "3"}}, "l2.hit", "l2.hit = 3 is less than core.access = 4; allowed: 4 or more"},
    {"L3FasterThanL2", {{"l3.hit", "11"}}, "l3.hit", "is less than l2.hit = 12"},
    {"MemoryFasterThanL3", {{"memory.local", "35"}}, "memory.local", "is less than l3.hit = 36"},
    {"RemoteFasterThanLocal", {{"memory.remote", "199"}}, "memory.remote", "is less than memory.local = 200"},
    {"DirtyFasterThanL3", {{"memory.dirty_core", "35"}}, "memory.dirty_core", "is less than l3.hit = 36"},
    {"DirtySocketFaster",
     {{"memory.dirty_socket", "59"}},
     "memory.dirty_socket",
     "is less than memory.dirty_core = 60"},
    {"WalkWithoutTlb", {{"tlb.walk", "30"}}, "tlb.walk", "where translation is free (tlb.entries = 0)"},
    {"SecondHitWithoutLevel",
     {{"tlb.entries", "64"}, {"tlb.second_hit", "7"}},
     "tlb.second_hit",
     "without a second level"},
    {"SecondTlbSmaller",
     {{"tlb.entries", "64"}, {"tlb.second_entries", "32"}},
     "tlb.second_entries",
     "is less than tlb.entries = 64"},
    {"WalkFasterThanSecond",
     {{"tlb.entries", "64"}, {"tlb.second_entries", "1024"}, {"tlb.second_hit", "7"}, {"tlb.walk", "6"}},
     "tlb.walk",
     "is less than tlb.second_hit = 7"},
    {"Page", {{"page.bytes", "5000"}}, "page.bytes", "is no power of two"},
    {"PrefetchOfNothing",
     {{"prefetch.streams", "4"}},
     "prefetch.distance",
     "prefetch.distance = 0 with prefetch.streams = 4"},
    {"PrefetchByNothing",
     {{"prefetch.distance", "4"}},
     "prefetch.streams",
     "prefetch.streams = 0 with prefetch.distance = 4"},
    {"ReadsInNoEntries", {{"htm.reads_in_entries", "1"}}, "htm.reads_in_entries", "without entries"},
    {"HleWithoutLocks", {{"htm.hle", "1"}}, "htm.hle_locks", "htm.hle_locks = 0 with htm.hle = 1; allowed: 1 to 16"},
    {"LocksWithoutHle", {{"htm.hle_locks", "1"}}, "htm.hle_locks", "htm.hle_locks = 1 with htm.hle = 0; allowed: 0"},
};

INSTANTIATE_TEST_SUITE_P(Each, ImpossibleMachines, testing::ValuesIn(all_impossible),
                         [](const auto& one) { return std::string(one.param.title); });

TEST(MachineFiles, AreNotRefusedForWhatIsPossible) {
  const changes possible[] = {
      {{"l3.kib", "0"}, {"l3.ways", "0"}, {"l3.hit", "0"}},
      {{"core.sockets", "16"}, {"core.cores", "64"}},
      {{"core.threads", "8"}, {"smt.share_2", "80"}, {"smt.share_4", "80"}, {"smt.share_8", "80"}},
      {{"htm.attempts", "0"}, {"htm.hle", "1"}, {"htm.reads_in_entries", "1"}},  // not used without attempts
      {{"l2.hit", "4"}, {"l3.hit", "4"}, {"memory.local", "4"}, {"memory.dirty_core", "4"}},
      {{"tlb.entries", "64"}, {"tlb.walk", "30"}},
  };
  for (const changes& numbers : possible) {
    EXPECT_EQ(complaint([&] { return parse(file_with(numbers).text); }), "");
  }
}

// ---- files and names

class folder {
 public:
  folder() : path_(fs::temp_directory_path() / ("txsync-machines-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
    setenv("TXSYNC_MACHINES", path_.c_str(), 1);
  }
  ~folder() {
    unsetenv("TXSYNC_MACHINES");
    fs::remove_all(path_);
  }

  std::string add(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file) << text;
    return (path_ / file).string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(MachineFiles, FilesThatCannotBeRead) {
  const folder here;
  EXPECT_NE(complaint([&] { return sim::read_machine(here.path() + "/none.toml"); }).find("No such file"),
            std::string::npos);
  EXPECT_NE(complaint([&] { return sim::read_machine(here.path()); }).find("is not a regular file"), std::string::npos);
  const std::string big = here.add("big.toml", std::string((1 << 20) + 1, '#'));
  EXPECT_NE(complaint([&] { return sim::read_machine(big); }).find("is too long"), std::string::npos);
  const std::string other = here.add("other.toml", file_with().text);
  EXPECT_EQ(complaint([&] { return sim::read_machine(other); }),
            other + ":2: name 'm' is not the file's; allowed: \"other\"");
}

TEST(MachineFiles, TheUsersOwnFolderComesFirst) {
  const folder here;
  const std::string mine = here.add("m.toml", file_with().text);
  here.add("ideal.toml", replaced(file_with().text, "name = \"m\"", "name = \"ideal\""));
  here.add("readme.txt", "no machine");
  EXPECT_EQ(sim::load_machine("m").file, mine);
  EXPECT_EQ(sim::load_machine("ideal").title, "a machine");
  EXPECT_EQ(sim::load_machine(mine).name, "m");
  const std::vector<std::string> names = sim::machine_names();
  EXPECT_EQ(std::ranges::count(names, "m"), 1);
  EXPECT_EQ(std::ranges::count(names, "ideal"), 1);
  EXPECT_EQ(std::ranges::count(names, "readme"), 0);
  const std::string said = complaint([] { return sim::load_machine("n"); });
  EXPECT_EQ(said.rfind("unknown machine 'n'; allowed: ", 0), 0u) << said;
  EXPECT_NE(said.find("ideal, "), std::string::npos) << said;
  EXPECT_NE(complaint([] { return sim::load_machine(""); }).find("unknown machine ''"), std::string::npos);
}

TEST(MachineFiles, AFolderThatIsNone) {
  setenv("TXSYNC_MACHINES", "/nowhere/machines", 1);
  const std::string said = complaint([] { return sim::machine_names(); });
  unsetenv("TXSYNC_MACHINES");
  EXPECT_EQ(said,
            "TXSYNC_MACHINES: '/nowhere/machines' is no folder that can be read; allowed: a folder of machine files");
}

}  // namespace
