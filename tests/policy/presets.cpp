// SPDX-License-Identifier: Apache-2.0
// The table of presets: its words, and the tables of docs that repeat it.
#include "policy/presets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace policy = txsync::policy;
using policy::elision_kind;
using policy::warm_up_kind;

namespace {

std::vector<std::string> lines_of(const std::string& document) {
  std::ifstream file(std::string(TXSYNC_DOCS) + "/" + document);
  EXPECT_TRUE(file) << document;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// As the constants of C++ are called.
std::string with_underscores(std::string word) {
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
}

/// The lines of a document's table whose head begins so.
std::vector<std::string> rows_behind(const std::string& document, const std::string& head) {
  const std::vector<std::string> lines = lines_of(document);
  auto at = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) { return line.starts_with(head); });
  EXPECT_NE(at, lines.end()) << document << " has no table " << head;
  std::vector<std::string> rows;
  for (at += at == lines.end() ? 0 : 2; at != lines.end() && at->starts_with("|"); ++at) rows.push_back(*at);
  return rows;
}

const std::string* row_that_names(const std::vector<std::string>& rows, const std::string& name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const std::string& row) {
    return row.substr(0, row.find(" | ")).find(name) != std::string::npos;
  });
  return at == rows.end() ? nullptr : &*at;
}

std::string second_cell(const std::string& row) {
  const std::size_t begin = row.find(" | ") + 3;
  return row.substr(begin, row.find(" | ", begin) - begin);
}

/// The row names the subject of each lock that the preset names, and of no other.
template <class Preset>
void names_its_subjects(const std::string& row, const Preset& preset) {
  EXPECT_NE(preset.over, 0u) << preset.word;
  for (std::size_t bit = 0; bit < std::size(policy::subject_lock_names); ++bit) {
    const std::string subject = "`" + std::string(preset.subject) + "_" + policy::subject_lock_names[bit] + "`";
    EXPECT_EQ(row.find(subject) != std::string::npos, (preset.over >> bit & 1) != 0) << subject << "\n" << row;
  }
}

template <class Table>
void words_are_well_formed(const Table& table) {
  std::set<std::string> words;
  for (const auto& one : table) {
    const std::string word = one.word;
    EXPECT_TRUE(words.insert(word).second) << word << " stands there twice";
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos) << word;
    EXPECT_NE(word, "off");
    EXPECT_STRNE(one.summary, "") << word;
  }
}

TEST(Presets, WordsAreWordsWithHyphensAndUnique) {
  words_are_well_formed(policy::elision_table);
  words_are_well_formed(policy::warm_up_table);
}

TEST(Presets, KindsAreTheRowsBehindOff) {
  EXPECT_EQ(policy::policy_of(policy::named<elision_kind>("htm-10")).attempts, 10u);
  EXPECT_EQ(&policy::policy_of(policy::named<elision_kind>("shore")), &txsync::elision_presets::shore);
  EXPECT_EQ(&policy::policy_of(policy::named<warm_up_kind>("paper-ticket")), &txsync::warm_up_presets::paper_ticket);
  for (const elision_kind none : {elision_kind::unset, elision_kind::off, elision_kind{255}}) {
    EXPECT_EQ(&policy::policy_of(none), &txsync::elision_presets::standard);
  }
}

TEST(Presets, EachKindComesThroughASitesWord) {
  policy::packed choices = policy::built_in;
  for (std::size_t row = 0; row < std::size(policy::elision_table); ++row) {
    choices.elision = policy::kind_of_row<elision_kind>(row);
    choices.warm_up = policy::kind_of_row<warm_up_kind>(row % std::size(policy::warm_up_table));
    const policy::packed read = policy::packed::of(choices.word());
    EXPECT_EQ(read.elision, choices.elision);
    EXPECT_EQ(read.warm_up, choices.warm_up);
    EXPECT_EQ(read.lock, choices.lock);
    EXPECT_STREQ(policy::to_string(read.elision), policy::elision_table[row].word);
  }
}

TEST(Presets, OldSpellingsWithUnderscoresAreRead) {
  const auto elision_of = [](const std::string& word) {
    return policy::parse_policy("schema = 1\n[default]\nelision = \"" + word + "\"\n", "p").defaults.elision;
  };
  for (std::size_t row = 0; row < std::size(policy::elision_table); ++row) {
    const std::string word = policy::elision_table[row].word;
    EXPECT_EQ(elision_of(word), policy::kind_of_row<elision_kind>(row));
    EXPECT_EQ(elision_of(with_underscores(word)), policy::kind_of_row<elision_kind>(row));
  }
  EXPECT_EQ(policy::find_named("fifo_ticket")->defaults.lock, policy::lock_kind::fifo_ticket);
  EXPECT_FALSE(policy::is_word("htm-1", "htm_1")) << "a hyphen is no underscore";
  EXPECT_FALSE(policy::is_word("htm_1_", "htm-1"));
  EXPECT_FALSE(policy::is_word("htm 1", "htm-1"));
}

TEST(Presets, TheTableOfDocsElisionIsTheSame) {
  const std::vector<std::string> rows = rows_behind("elision.md", "| Preset | Attempts |");
  for (const policy::elision_preset& one : policy::elision_table) {
    const std::string name = with_underscores(one.word);
    const std::string* const row = row_that_names(rows, "`" + name + "`");
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(std::stoul(second_cell(*row)), one.policy->attempts) << *row;
    names_its_subjects(*row, one);
    EXPECT_EQ(
        row->find("paper") != std::string::npos || row->find("thesis,") != std::string::npos,
        std::string(one.source).find("paper") != std::string::npos || std::string(one.source).starts_with("thesis"))
        << *row;
  }
  EXPECT_EQ(rows.size(), std::size(policy::elision_table) + 1) << "and lemming, which is no word";
}

TEST(Presets, TheTableOfDocsPolicyFileIsTheSame) {
  const std::vector<std::string> rows = rows_behind("policy-file.md", "| `elision` | Attempts |");
  for (const policy::elision_preset& one : policy::elision_table) {
    const std::string* const row = row_that_names(rows, "`\"" + std::string(one.word) + "\"`");
    ASSERT_NE(row, nullptr) << one.word;
    EXPECT_NE(second_cell(*row).find(std::to_string(one.policy->attempts)), std::string::npos) << *row;
  }
}

TEST(Presets, TheDocsNameTheWordsOfWarmUp) {
  const std::vector<std::string> rows = rows_behind("warm-up.md", "| name | tries |");
  std::string text;
  for (const std::string& line : lines_of("policy-file.md")) text += line + "\n";
  for (const policy::warm_up_preset& one : policy::warm_up_table) {
    const std::string* const row = row_that_names(rows, "`" + with_underscores(one.word) + "`");
    ASSERT_NE(row, nullptr) << one.word;
    EXPECT_EQ(std::stoul(second_cell(*row)), one.policy->tries) << *row;
    names_its_subjects(*row, one);
    EXPECT_NE(text.find("`\"" + std::string(one.word) + "\"`"), std::string::npos) << one.word;
  }
}

}  // namespace
