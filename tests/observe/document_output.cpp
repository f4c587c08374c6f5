// SPDX-License-Identifier: Apache-2.0
// Where documents go: whole or not at all, and refused before a run starts.
#include "observe/document/output.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace observe = txsync::observe;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for each test.
class output : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "txsync-output-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string& file, const char* text) { std::ofstream(file) << text; }

observe::document some_document() {
  observe::document made;
  made.command = {"txsync"};
  return made;
}

std::string refusal(const std::string& file) {
  try {
    observe::output out(file);
  } catch (const observe::output_error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_F(output, writes_a_document_and_nothing_else) {
  observe::output(path("r.json")).write(some_document());
  EXPECT_EQ(observe::json::parse(text_of(path("r.json")))["schema"], 1);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(output, replaces_an_old_document_only_by_a_whole_one) {
  put(path("r.json"), "old");
  {
    observe::output out(path("r.json"));
    EXPECT_EQ(text_of(path("r.json")), "old");
  }
  EXPECT_EQ(text_of(path("r.json")), "old");
  EXPECT_EQ(entries(), 1u);
  observe::output(path("r.json")).write(some_document());
  EXPECT_EQ(text_of(path("r.json")).front(), '{');
  EXPECT_EQ(entries(), 1u);
}

TEST_F(output, leaves_nothing_where_nothing_was_written) {
  {
    observe::output out(path("r.json"));
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(output, follows_symbolic_links) {
  put(path("real.json"), "old");
  fs::create_symlink("real.json", path("link.json"));
  observe::output(path("link.json")).write(some_document());
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(text_of(path("real.json")).front(), '{');
}

TEST_F(output, writes_devices_directly) {
  observe::output("/dev/null").write(some_document());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(output, refuses_what_cannot_be_written_and_says_why) {
  EXPECT_EQ(refusal(path("none/r.json")), "cannot write '" + path("none/r.json") + "': No such file or directory");
  EXPECT_EQ(refusal(folder_.string()), "cannot write '" + folder_.string() + "': Is a directory");
  EXPECT_EQ(refusal(""), "cannot write '': No such file or directory");
  put(path("file"), "");
  EXPECT_EQ(refusal(path("file/r.json")), "cannot write '" + path("file/r.json") + "': Not a directory");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(output, refuses_files_that_the_user_may_not_write) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  put(path("r.json"), "old");
  ASSERT_EQ(chmod(path("r.json").c_str(), 0444), 0);
  EXPECT_EQ(refusal(path("r.json")), "cannot write '" + path("r.json") + "': Permission denied");
}

TEST_F(output, says_when_the_device_is_full) {
  observe::output full("/dev/full");
  EXPECT_THROW(full.write(some_document()), observe::output_error);
}
