// SPDX-License-Identifier: Apache-2.0
// Files, on a real file system.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <txsync/machine/file.hpp>

namespace {

namespace machine = txsync::machine;
namespace fs = std::filesystem;
using machine::file;
using machine::open_mode;

class NativeFiles : public testing::Test {
 protected:
  NativeFiles() {
    std::string pattern = (fs::temp_directory_path() / "txsync-files-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~NativeFiles() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(NativeFiles, WhatIsWrittenIsRead) {
  file one;
  EXPECT_FALSE(one.is_open());
  ASSERT_TRUE(file::open(one, path("a").c_str(), open_mode::create).ok());
  EXPECT_TRUE(one.is_open());
  EXPECT_EQ(one.size().value, 0);
  EXPECT_EQ(one.write_at("hello", 5, 0).value, 5);
  EXPECT_EQ(one.write_at("!", 1, 1000).value, 1);
  EXPECT_EQ(one.size().value, 1001);
  char buffer[2000];
  EXPECT_EQ(one.read_at(buffer, sizeof buffer, 0).value, 1001);
  EXPECT_EQ(std::memcmp(buffer, "hello\0", 6), 0);
  EXPECT_EQ(buffer[1000], '!');
  EXPECT_EQ(one.read_at(buffer, 10, 998).value, 3);
  EXPECT_EQ(one.read_at(buffer, 10, 5000).value, 0);
  EXPECT_TRUE(one.sync().ok());
  EXPECT_TRUE(one.truncate(5).ok());
  EXPECT_EQ(one.size().value, 5);
  EXPECT_TRUE(one.close().ok());
  EXPECT_FALSE(one.is_open());
  EXPECT_EQ(one.close().error(), EBADF);
}

TEST_F(NativeFiles, ModesOfOpening) {
  file one;
  EXPECT_EQ(file::open(one, path("a").c_str(), open_mode::read).error(), ENOENT);
  EXPECT_EQ(file::open(one, path("a").c_str(), open_mode::read_write).error(), ENOENT);
  ASSERT_TRUE(file::open(one, path("a").c_str(), open_mode::create_new).ok());
  ASSERT_TRUE(one.write_at("x", 1, 0).ok());
  file two;
  EXPECT_EQ(file::open(two, path("a").c_str(), open_mode::create_new).error(), EEXIST);
  EXPECT_FALSE(two.is_open());
  ASSERT_TRUE(file::open(two, path("a").c_str(), open_mode::create).ok());
  EXPECT_EQ(two.size().value, 1) << "kept, not emptied";
  ASSERT_TRUE(file::open(two, path("a").c_str(), open_mode::read).ok());
  EXPECT_EQ(two.write_at("y", 1, 0).error(), EBADF);
  EXPECT_EQ(file::open(two, path("no/such").c_str(), open_mode::create).error(), ENOENT);
  fs::create_symlink(path("nowhere"), path("link"));
  EXPECT_EQ(file::open(two, path("link").c_str(), open_mode::create).error(), ENOENT);
}

TEST_F(NativeFiles, HandlesAreNotInherited) {
  file one;
  ASSERT_TRUE(file::open(one, path("a").c_str(), open_mode::create).ok());
  for (int handle = 3; handle < 64; ++handle) {
    char name[64];
    std::snprintf(name, sizeof name, "/proc/self/fd/%d", handle);
    std::error_code none;
    if (fs::read_symlink(name, none) == path("a")) {
      EXPECT_NE(fcntl(handle, F_GETFD) & FD_CLOEXEC, 0);
      return;
    }
  }
  FAIL() << "the open file has no handle";
}

TEST_F(NativeFiles, MoveHandsTheFileOver) {
  file one;
  ASSERT_TRUE(file::open(one, path("a").c_str(), open_mode::create).ok());
  file two = std::move(one);
  EXPECT_FALSE(one.is_open());  // NOLINT: the state after a move is part of the contract
  EXPECT_TRUE(two.write_at("x", 1, 0).ok());
  one = std::move(two);
  EXPECT_EQ(one.size().value, 1);
}

TEST_F(NativeFiles, AShortWriteIsContinuedUntilTheReason) {
  // The limit makes the system write a part first and answer EFBIG for the rest. In a child: the limit is the
  // process's.
  const std::string name = path("a");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    file one;
    if (!file::open(one, name.c_str(), open_mode::create).ok()) _exit(2);
    const std::vector<char> data(4096, 'd');
    _exit(one.write_at(data.data(), data.size(), 0).error() == EFBIG && one.size().value == 1000 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(NativeFiles, SignalsDoNotDisturb) {
  struct sigaction tick{};
  // Without SA_RESTART. The signals end: a slow emulator might otherwise do nothing but handle them.
  static volatile std::sig_atomic_t left;
  left = 20'000;
  tick.sa_handler = [](int) {
    left = left - 1;
    const itimerval never{};
    if (left <= 0) setitimer(ITIMER_REAL, &never, nullptr);
  };
  struct sigaction before;
  sigaction(SIGALRM, &tick, &before);
  const itimerval often{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  file one;
  EXPECT_TRUE(file::open(one, path("a").c_str(), open_mode::create).ok());
  std::vector<char> data(1 << 20, 'd');
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(one.write_at(data.data(), data.size(), i * data.size()).error(), 0);
    EXPECT_EQ(one.sync().error(), 0);
  }
  EXPECT_EQ(one.read_at(data.data(), data.size(), 3 * data.size()).value, 1 << 20);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

TEST_F(NativeFiles, RenameReplacesAndRemoveRemoves) {
  std::ofstream(path("new")) << "new";
  std::ofstream(path("old")) << "old";
  EXPECT_TRUE(machine::rename_file(path("new").c_str(), path("old").c_str()).ok());
  EXPECT_FALSE(fs::exists(path("new")));
  char text[16];
  EXPECT_EQ(machine::read_text(path("old").c_str(), text, sizeof text).value, 3);
  EXPECT_STREQ(text, "new");
  EXPECT_EQ(machine::rename_file(path("new").c_str(), path("old").c_str()).error(), ENOENT);
  EXPECT_TRUE(machine::remove_file(path("old").c_str()).ok());
  EXPECT_EQ(machine::remove_file(path("old").c_str()).error(), ENOENT);
}

TEST_F(NativeFiles, Directories) {
  EXPECT_TRUE(machine::make_directory(path("d").c_str()).ok());
  EXPECT_TRUE(fs::is_directory(path("d")));
  EXPECT_TRUE(machine::make_directory(path("d").c_str()).ok()) << "there already";
  std::ofstream(path("f")) << "a file";
  EXPECT_EQ(machine::make_directory(path("f").c_str()).error(), EEXIST);
  EXPECT_EQ(machine::make_directory(path("x/y").c_str()).error(), ENOENT);
}

TEST_F(NativeFiles, NamesWithoutADirectoryAreInTheCurrentOne) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  file one;
  EXPECT_TRUE(file::open(one, "plain", open_mode::create).ok());
  EXPECT_TRUE(machine::rename_file("plain", "other").ok());
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(path("other")));
}

TEST_F(NativeFiles, TextsOfUnknownSize) {
  char text[4096];
  const machine::file_result got = machine::read_text("/proc/self/status", text, sizeof text);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(std::strlen(text), static_cast<std::size_t>(got.value));
  EXPECT_NE(std::strstr(text, "Threads:"), nullptr);
  char little[5];
  EXPECT_EQ(machine::read_text("/proc/self/status", little, sizeof little).value, 4);
  EXPECT_STREQ(little, "Name");
  EXPECT_EQ(machine::read_text(path("none").c_str(), text, sizeof text).error(), ENOENT);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(machine::read_text("/proc/self/status", text, 0).error(), EINVAL);
}

TEST_F(NativeFiles, APathThatIsTooLongIsAnError) {
  const std::string name = path("a") + std::string(5000, 'a');
  file one;
  EXPECT_EQ(file::open(one, name.c_str(), open_mode::create).error(), ENAMETOOLONG);
}

}  // namespace
