// SPDX-License-Identifier: Apache-2.0
// Which programs can be started under the library, and why not.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "launch/executable.hpp"

namespace fs = std::filesystem;
using txsync::launch::cannot_start;
using txsync::launch::check_takes_library;
using txsync::launch::find_program;

namespace {

class Executables : public testing::Test {
 protected:
  Executables() {
    std::string made = (fs::temp_directory_path() / "executables-XXXXXX").string();
    folder_ = mkdtemp(made.data());
  }
  ~Executables() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string file(const std::string& name, const std::string& text, mode_t mode = 0755) const {
    std::ofstream(path(name)) << text;
    chmod(path(name).c_str(), mode);
    return path(name);
  }

  std::string copy(const std::string& name, mode_t mode = 0755) const {
    fs::copy_file(COUNTING_PROGRAM, path(name), fs::copy_options::overwrite_existing);
    chmod(path(name).c_str(), mode);
    return path(name);
  }

  fs::path folder_;
};

struct refusal {
  int status = 0;
  std::string what;
};

template <class Call>
refusal refused(Call call) {
  try {
    call();
    return {};
  } catch (const cannot_start& error) {
    return {error.status, error.what()};
  }
}

void expect_refused(const std::string& program, const std::string& says) {
  const refusal got = refused([&] { check_takes_library(program); });
  EXPECT_EQ(got.status, 126);
  EXPECT_NE(got.what.find(says), std::string::npos) << got.what;
  EXPECT_NE(got.what.find(program), std::string::npos) << got.what;
  EXPECT_EQ(got.what.find('\n'), std::string::npos);
}

TEST_F(Executables, AreFoundLikeAShellFindsThem) {
  const std::string here = copy("here");
  EXPECT_EQ(find_program(here), here);
  const std::string old = std::getenv("PATH");
  file("plain", "text", 0644);
  fs::create_directory(folder_ / "folder");
  setenv("PATH", ("/nowhere:" + folder_.string()).c_str(), 1);
  EXPECT_EQ(find_program("here"), here);
  EXPECT_EQ(refused([] { find_program("missing"); }).status, 127);
  EXPECT_EQ(refused([] { find_program("plain"); }).status, 126);
  EXPECT_EQ(refused([] { find_program("folder"); }).status, 127);
  EXPECT_EQ(refused([] { find_program(""); }).status, 127);
  setenv("PATH", old.c_str(), 1);
  EXPECT_EQ(refused([&] { find_program(path("missing")); }).status, 127);
  EXPECT_EQ(refused([&] { find_program(path("here/below")); }).status, 127);
  EXPECT_EQ(refused([&] { find_program(path("plain")); }).status, 126);
  EXPECT_EQ(refused([&] { find_program(folder_.string()); }).status, 126);
}

TEST_F(Executables, DynamicProgramsAndScriptsAreTaken) {
  EXPECT_EQ(refused([&] { check_takes_library(copy("program")); }).what, "");
  EXPECT_EQ(refused([&] { check_takes_library(file("script", "#!/bin/sh\nexit 0\n")); }).what, "");
  EXPECT_EQ(refused([&] { check_takes_library(file("spaced", "#! \t/usr/bin/env sh\n")); }).what, "");
  EXPECT_EQ(refused([&] { check_takes_library(file("bare", "exit 0\n")); }).what, "") << "goes to /bin/sh";
  EXPECT_EQ(refused([&] { check_takes_library(file("nested", "#!" + path("script") + "\n")); }).what, "");
}

TEST_F(Executables, ScriptsWithoutAnInterpreterAreRefused) {
  expect_refused(file("script", "#!/nowhere/sh\n"), "/nowhere/sh, which cannot be run");
  const std::string circle = path("circle");
  file("circle", "#!" + circle + "\n");
  expect_refused(circle, "without end");
}

TEST_F(Executables, ProgramsWithMoreRightsAreRefused) {
  expect_refused(copy("user", 04755), "is set-user-ID: the dynamic linker");
  expect_refused(copy("group", 02755), "is set-group-ID: the dynamic linker");
  const std::string script = file("script", "#!" + path("user") + "\n");
  EXPECT_NE(refused([&] { check_takes_library(script); }).what.find("is set-user-ID"), std::string::npos);
}

TEST_F(Executables, ProgramsWithCapabilitiesAreRefused) {
  const std::string program = copy("program");
  // Version 2, permitted and effective: to bind ports below 1024.
  const std::uint32_t capability[5] = {0x02000001, 1u << 10, 0, 0, 0};
  if (setxattr(program.c_str(), "security.capability", capability, sizeof capability, 0) != 0) {
    GTEST_SKIP() << "this user cannot give capabilities to a file, or the file system has none";
  }
  expect_refused(program, "has file capabilities: the dynamic linker");
}

TEST_F(Executables, ProgramsOf32BitAreRefused) {
  const std::string program = copy("program");
  std::fstream bytes(program, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(4);  // EI_CLASS
  bytes.put(1);
  bytes.close();
  expect_refused(program, "is a 32-bit program");
}

TEST_F(Executables, ProgramsOfOtherMachinesAreRefused) {
  const std::string program = copy("program");
  std::fstream bytes(program, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(18);  // e_machine: SuperH
  bytes.put(0x2A).put(0);
  bytes.close();
  expect_refused(program, "is for another processor");
  expect_refused(file("broken", std::string("\177ELF") + std::string(10, '\0')),
                 "is not a program of a format that this system knows");
}

TEST_F(Executables, StaticProgramsAreRefused) {
  const std::string source = file("empty.c", "int main(void) { return 0; }\n");
  for (const char* how : {"-static", "-static-pie"}) {
    const std::string made = path("static");
    if (std::system(("cc " + std::string(how) + " " + source + " -o " + made + " 2>/dev/null").c_str()) != 0) {
      GTEST_SKIP() << "the compiler cannot link with " << how;
    }
    expect_refused(made, "is a static program");
  }
}

}  // namespace
