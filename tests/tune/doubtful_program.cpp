// SPDX-License-Identifier: Apache-2.0
// doubtful_program WORD: for tests of the warnings of txsync tune; what makes a verdict about it worth nothing.
//   jobs                 a section of 1 ms under a lock for each line of the standard input; prints "worked N"
//   quick                one section, as the others after 15 ms
//   same                 prints the same in each run
//   says-under-preload   prints another word under a policy
//   counts-under-preload prints another number there
//   says FILE            prints another word in every other pair of runs: FILE has a byte for each run
//   counts FILE          prints another number in every run
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long worked = 0;

void* work(void*) {
  char line[256];
  for (bool more = true; more;) {
    pthread_mutex_lock(&lock);
    more = std::fgets(line, sizeof line, stdin) != nullptr;
    if (more) {
      ++worked;
      usleep(1000);
    }
    pthread_mutex_unlock(&lock);
  }
  return nullptr;
}

int do_jobs() {
  pthread_t workers[2];
  for (pthread_t& one : workers) pthread_create(&one, nullptr, work, nullptr);
  for (pthread_t& one : workers) pthread_join(one, nullptr);
  std::printf("worked %ld\n", worked);
  return 0;
}

/// With this one.
long runs_until_now(const char* path) {
  std::FILE* const file = std::fopen(path, "a");
  if (file == nullptr) std::exit(9);
  std::fputc('.', file);
  std::fflush(file);
  std::fseek(file, 0, SEEK_END);
  const long count = std::ftell(file);
  std::fclose(file);
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const word = argc > 1 ? argv[1] : "";
  const bool preloaded = std::getenv("LD_PRELOAD") != nullptr;
  const long run = argc > 2 ? runs_until_now(argv[2]) : 0;
  if (std::strcmp(word, "jobs") == 0) return do_jobs();
  if (std::strcmp(word, "quick") != 0) usleep(15'000);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  const bool other_word = (std::strcmp(word, "says-under-preload") == 0 && preloaded) ||
                          (std::strcmp(word, "says") == 0 && run / 2 % 2 == 1);
  const long number =
      std::strcmp(word, "counts") == 0 ? run : std::strcmp(word, "counts-under-preload") == 0 && preloaded;
  std::printf("%s %ld\n", other_word ? "nothing" : "something", number);
  return 0;
}
