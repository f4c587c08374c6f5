// SPDX-License-Identifier: Apache-2.0
// asked NAME: reads a number, lets four threads count so far each, says what came out, and answers 3.
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
long counter = 0;

void count(int number) {
  for (int i = 0; i < number; ++i) {
    const std::lock_guard hold(mutex);
    ++counter;
  }
}

}  // namespace

int main(int, char** words) {
  int number = 0;
  if (std::scanf("%d", &number) != 1) return 1;
  std::thread team[4];
  for (std::thread& one : team) one = std::thread(count, number);
  for (std::thread& one : team) one.join();
  std::printf("%s: %ld\n", words[1], counter);
  std::fputs("the program's own word\n", stderr);
  return 3;
}
