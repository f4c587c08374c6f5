// SPDX-License-Identifier: Apache-2.0
// Folders whose contents go away while they are read.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "launch/folder.hpp"

using txsync::launch::all_processes;
using txsync::launch::entries_of;

TEST(Folders, AFolderThatIsNotThereIsAnError) {
  std::error_code error;
  EXPECT_TRUE(entries_of("/nowhere", error).empty());
  EXPECT_TRUE(error);
}

TEST(Folders, OfAProcessThatEndsMeanwhileAreRead) {
  for (int turn = 0; turn < 100; ++turn) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(0);
    const std::string tasks = "/proc/" + std::to_string(child) + "/task";
    std::error_code error;
    pid_t ended = 0;
    while (ended == 0) {
      EXPECT_NO_THROW((void)entries_of(tasks, error));
      ended = waitpid(child, nullptr, WNOHANG);
    }
    EXPECT_EQ(ended, child);
    EXPECT_TRUE(entries_of(tasks, error).empty());
  }
}

TEST(Folders, AllProcessesHaveThisOne) {
  const auto all = all_processes();
  EXPECT_NE(std::find(all.begin(), all.end(), getpid()), all.end());
  EXPECT_NE(std::find(all.begin(), all.end(), getppid()), all.end());
}
