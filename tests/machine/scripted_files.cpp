// SPDX-License-Identifier: Apache-2.0
// The scripted machine's files: what readers see, what a crash leaves, what fails.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include <machine/scripted/script.hpp>
#include <txsync/machine/file.hpp>

namespace {

namespace machine = txsync::machine;
using machine::file;
using machine::open_mode;
using txsync::script::file_call;
using txsync::script::file_system;
using txsync::script::machine_script;
using txsync::script::unsynced;

class ScriptedFiles : public testing::Test {
 protected:
  file open(const char* path, open_mode mode = open_mode::create) {
    file made;
    EXPECT_TRUE(file::open(made, path, mode).ok()) << path;
    return made;
  }
  static bool write(file& to, const char* text, std::uint64_t offset = 0) {
    return to.write_at(text, std::strlen(text), offset).ok();
  }

  machine_script script;
  file_system& disk = script.files();
};

TEST_F(ScriptedFiles, BehaveLikeFiles) {
  file one = open("a");
  EXPECT_TRUE(write(one, "hello"));
  EXPECT_TRUE(write(one, "!", 10));
  EXPECT_EQ(one.size().value, 11);
  EXPECT_EQ(disk.content("a"), std::string("hello\0\0\0\0\0!", 11));
  char buffer[32];
  EXPECT_EQ(one.read_at(buffer, sizeof buffer, 6).value, 5);
  EXPECT_EQ(one.read_at(buffer, sizeof buffer, 11).value, 0);
  EXPECT_TRUE(one.truncate(2).ok());
  EXPECT_EQ(disk.content("a"), "he");
  EXPECT_TRUE(one.close().ok());
  EXPECT_EQ(one.close().error(), EBADF);
  EXPECT_EQ(one.read_at(buffer, 1, 0).error(), EBADF);
}

TEST_F(ScriptedFiles, ModesAndNames) {
  file one;
  EXPECT_EQ(file::open(one, "a", open_mode::read).error(), ENOENT);
  EXPECT_EQ(file::open(one, "no/a", open_mode::create).error(), ENOENT);
  EXPECT_TRUE(machine::make_directory("no").ok());
  EXPECT_TRUE(machine::make_directory("no").ok());
  EXPECT_TRUE(disk.is_directory("no"));
  EXPECT_EQ(file::open(one, "no", open_mode::read).error(), EISDIR);
  one = open("no/a", open_mode::create_new);
  EXPECT_EQ(file::open(one, "no/a", open_mode::create_new).error(), EEXIST);
  disk.put("/etc/x/policy", "p");
  EXPECT_TRUE(disk.is_directory("/etc/x"));
  one = open("/etc/x/policy", open_mode::read);
  EXPECT_EQ(one.write_at("q", 1, 0).error(), EBADF);
  EXPECT_EQ(machine::make_directory("/etc/x/policy").error(), EEXIST);
  char text[8];
  EXPECT_EQ(machine::read_text("/etc/x/policy", text, sizeof text).value, 1);
  EXPECT_STREQ(text, "p");
  EXPECT_EQ(machine::read_text("/none", text, sizeof text).error(), ENOENT);
}

TEST_F(ScriptedFiles, ARenamedFileIsTheSameFile) {
  file one = open("new");
  EXPECT_TRUE(write(one, "1"));
  disk.put("old", "0");
  EXPECT_TRUE(machine::rename_file("new", "old").ok());
  EXPECT_FALSE(disk.content("new").has_value());
  EXPECT_EQ(disk.content("old"), "1");
  EXPECT_TRUE(write(one, "2"));
  EXPECT_EQ(disk.content("old"), "2");
  EXPECT_EQ(machine::rename_file("new", "old").error(), ENOENT);
  EXPECT_EQ(machine::rename_file("old", "nowhere/old").error(), ENOENT);
}

TEST_F(ScriptedFiles, ACrashLosesWhatNoSyncConfirmed) {
  file one = open("a");
  EXPECT_TRUE(write(one, "durable"));
  EXPECT_TRUE(one.sync().ok());
  EXPECT_TRUE(write(one, "DURABLE and more"));
  EXPECT_EQ(disk.durable_content("a"), "durable");
  disk.crash(unsynced::lost);
  EXPECT_EQ(disk.content("a"), "durable");
  EXPECT_EQ(one.sync().error(), EIO) << "open before the crash";
  one = open("a", open_mode::read_write);
  EXPECT_EQ(one.size().value, 7);
}

TEST_F(ScriptedFiles, ACrashMayKeepEverything) {
  file one = open("a");
  EXPECT_TRUE(write(one, "12345"));
  EXPECT_TRUE(one.truncate(3).ok());
  disk.crash(unsynced::kept);
  EXPECT_EQ(disk.content("a"), "123");
}

TEST_F(ScriptedFiles, ACrashMayTearWritesAtSectors) {
  constexpr std::size_t sector = 512;
  const std::string data(8 * sector, 'd');
  bool lost = false;
  bool torn = false;
  bool whole = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    file one = open("a");
    EXPECT_TRUE(write(one, data.c_str()));
    disk.crash(unsynced::torn, seed);
    const std::string left = disk.content("a").value_or("gone");
    EXPECT_EQ(left.size() % sector, 0u);
    EXPECT_EQ(left, data.substr(0, left.size()));
    lost |= left.empty();
    whole |= left.size() == data.size();
    torn |= !left.empty() && left.size() < data.size();
    EXPECT_TRUE(machine::remove_file("a").ok());
  }
  EXPECT_TRUE(lost && torn && whole);
}

TEST_F(ScriptedFiles, TheSameSeedTearsTheSameWay) {
  std::string results[2];
  for (std::string& result : results) {
    file one = open("a");
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(write(one, std::string(700, 'a' + i).c_str(), i * 300));
    disk.crash(unsynced::torn, 77);
    result = disk.content("a").value_or("gone");
    disk.put("a", "");
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(ScriptedFiles, ARemovedNameComesBackUnlessItsDirectoryWasSynced) {
  disk.put("a", "a");
  EXPECT_TRUE(machine::remove_file("a").ok());
  EXPECT_FALSE(disk.content("a").has_value());
  disk.crash(unsynced::lost);
  EXPECT_EQ(disk.content("a"), "a");
  EXPECT_TRUE(machine::remove_file("a").ok());
  file other = open("b");  // making a name syncs the directory
  disk.crash(unsynced::lost);
  EXPECT_FALSE(disk.content("a").has_value());
  EXPECT_TRUE(disk.content("b").has_value());
}

TEST_F(ScriptedFiles, EachCallCanFail) {
  file one = open("a");
  char byte = 'x';
  const auto fails = [&](file_call call, auto run) {
    disk.fail(call, 2, ENOSPC);
    EXPECT_TRUE(run().ok());
    EXPECT_EQ(run().error(), ENOSPC);
    EXPECT_TRUE(run().ok());
  };
  fails(file_call::read, [&] { return one.read_at(&byte, 1, 0); });
  fails(file_call::write, [&] { return one.write_at(&byte, 1, 0); });
  fails(file_call::sync, [&] { return one.sync(); });
  fails(file_call::size, [&] { return one.size(); });
  fails(file_call::truncate, [&] { return one.truncate(1); });
  fails(file_call::open, [&] {
    file other;
    return file::open(other, "b", open_mode::create);
  });
  fails(file_call::make_directory, [&] { return machine::make_directory("d"); });
  fails(file_call::read_text, [&] { return machine::read_text("a", &byte, 1); });
  fails(file_call::rename, [&] { return machine::rename_file("a", "a"); });
  disk.fail(file_call::remove, 1, EACCES);
  EXPECT_EQ(machine::remove_file("a").error(), EACCES);
  EXPECT_TRUE(disk.content("a").has_value());
  disk.fail(file_call::close, 1, EIO);
  EXPECT_EQ(one.close().error(), EIO);
  EXPECT_FALSE(one.is_open());
  EXPECT_GE(disk.calls(file_call::write), 3u);
}

TEST_F(ScriptedFiles, WhicheverCallComes) {
  file one = open("a");
  disk.fail(file_call::any, 3, EIO);
  EXPECT_TRUE(write(one, "1"));
  EXPECT_TRUE(one.sync().ok());
  EXPECT_EQ(one.size().error(), EIO);
}

TEST_F(ScriptedFiles, ATornWriteLeavesAPrefix) {
  file one = open("a");
  EXPECT_TRUE(write(one, "........"));
  disk.tear_write(1, 3, ENOSPC);
  EXPECT_EQ(one.write_at("abcdefgh", 8, 0).error(), ENOSPC);
  EXPECT_EQ(disk.content("a"), "abc.....");
}

TEST_F(ScriptedFiles, AFailedSyncLosesItsWritesForGood) {
  file one = open("a");
  EXPECT_TRUE(write(one, "before"));
  EXPECT_TRUE(one.sync().ok());
  EXPECT_TRUE(write(one, "failed"));
  disk.fail(file_call::sync, 1, EIO);
  EXPECT_EQ(one.sync().error(), EIO);
  EXPECT_TRUE(one.sync().ok()) << "as Linux answers: the pages are clean";
  EXPECT_EQ(disk.content("a"), "failed");
  disk.crash(unsynced::kept);
  EXPECT_EQ(disk.content("a"), "before");
}

TEST_F(ScriptedFiles, ADiskThatIsGone) {
  file one = open("a");
  EXPECT_TRUE(write(one, "1"));
  disk.break_down(EIO);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(write(one, "2"));
    EXPECT_EQ(one.sync().error(), EIO);
  }
  disk.crash(unsynced::lost);
  one = open("a");
  EXPECT_TRUE(write(one, "3"));
}

TEST(ScriptedFilesReset, EachScriptStartsEmpty) {
  {
    machine_script script;
    script.files().put("a", "a");
    script.files().fail(file_call::open, 1, EIO);
  }
  machine_script script;
  EXPECT_FALSE(script.files().content("a").has_value());
  EXPECT_EQ(script.files().calls(file_call::any), 0u);
  file one;
  EXPECT_TRUE(file::open(one, "a", open_mode::create).ok());
}

}  // namespace
