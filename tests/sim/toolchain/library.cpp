// SPDX-License-Identifier: Apache-2.0
// Typical C++ and C, compiled for the simulated machine: the program library must do what the libraries do that it
// stands in for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <list>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "trace.h"

namespace {

int failures = 0;
void expect(bool right, const char* what) {
  if (right) return;
  printf("wrong: %s\n", what);
  ++failures;
}

// A tree against a sorted vector, through growth and decay.
void trees() {
  std::mt19937 random(7);
  std::set<int> tree;
  std::vector<int> model;
  for (int i = 0; i < 20000; ++i) {
    const int key = static_cast<int>(random() % 500);
    const auto at = std::lower_bound(model.begin(), model.end(), key);
    const bool there = at != model.end() && *at == key;
    if (random() % 2 != 0) {
      expect(tree.insert(key).second == !there, "insertion into a tree");
      if (!there) model.insert(at, key);
    } else {
      expect(tree.erase(key) == (there ? 1u : 0u), "erasure from a tree");
      if (there) model.erase(at);
    }
    if (i % 100 == 0) {
      expect(std::equal(tree.begin(), tree.end(), model.begin(), model.end()), "a tree in order");
      expect(std::equal(tree.rbegin(), tree.rend(), model.rbegin(), model.rend()), "a tree backwards");
    }
  }
}

// libstdc++'s own checker of red-black trees is precompiled, so that heights are measured by time to find: by
// comparisons.
void tree_heights() {
  static long comparisons;
  struct counting {
    bool operator()(int a, int b) const {
      ++comparisons;
      return a < b;
    }
  };
  std::set<int, counting> tree;
  for (int i = 0; i < 4096; ++i) tree.insert(tree.end(), i);
  for (int i = 0; i < 4096; i += 2) tree.erase(tree.find(i));
  comparisons = 0;
  for (int i = 0; i < 4096; ++i) tree.count(i);
  expect(comparisons < 4096L * 26, "a balanced tree");
}

void lists_and_tables() {
  std::list<int> a{3, 1, 2}, b{9, 8};
  a.sort();
  a.splice(a.begin(), b);
  a.reverse();
  expect((a == std::list<int>{3, 2, 1, 8, 9}) && b.empty(), "lists");
  a.swap(b);
  expect(a.empty() && b.size() == 5, "swapped lists");
  std::unordered_map<std::string, int> table;
  for (int i = 0; i < 3000; ++i) table["key " + std::to_string(i)] = i;
  for (int i = 0; i < 3000; i += 3) table.erase("key " + std::to_string(i));
  expect(table.size() == 2000 && table.at("key 2999") == 2999 && table.count("key 0") == 0, "a hash table");
}

void text() {
  char buffer[40];
  expect(snprintf(buffer, sizeof buffer, "%s-%5.1f|%ld", "abc", 2.25, 7L) == 11 && !strcmp(buffer, "abc-  2.2|7"),
         "snprintf");
  expect(snprintf(buffer, 4, "%d", 123456) == 6 && !strcmp(buffer, "123"), "snprintf, cut");
  const std::string wide(2000, 'x');
  std::vector<char> big(3000);
  expect(snprintf(big.data(), big.size(), "<%s>", wide.c_str()) == 2002 && big[2001] == '>', "snprintf, long");
  char* end = nullptr;
  expect(strtol("-42z", &end, 10) == -42 && *end == 'z' && std::stoi("17") == 17 && std::stod("2.5") == 2.5, "numbers");
  char* copy = strdup("one,two");
  char* place = nullptr;
  expect(!strcmp(strtok_r(copy, ",", &place), "one") && !strcmp(strtok_r(nullptr, ",", &place), "two"), "strtok_r");
  free(copy);
  std::ostringstream out;
  out << 12 << ' ' << 1.5 << " text";
  std::istringstream in(out.str());
  int whole = 0;
  double part = 0;
  in >> whole >> part;
  expect(out.str() == "12 1.5 text" && whole == 12 && part == 1.5, "string streams");
  time_t day = 86400;
  tm broken{};
  expect(localtime_r(&day, &broken) == &broken && broken.tm_mday == 2, "localtime_r");
}

// What libstdc++ has precompiled of lines, long doubles, which are kept in registers of their own, and long files.
void lines_and_long_things() {
  std::istringstream in("one\n\nlast");
  std::string line;
  expect(std::getline(in, line) && line == "one" && std::getline(in, line) && line.empty(), "getline");
  expect(std::getline(in, line) && line == "last" && in.eof() && !std::getline(in, line) && line == "last", "its end");
  std::istringstream parts("a;b");
  expect(std::getline(parts, line, ';') && line == "a" && std::getline(parts, line, ';') && line == "b", "its mark");
  volatile long double given = 3.25L;
  long double whole = 0;
  expect(std::modf(given, &whole) == 0.25L && whole == 3.0L && given * given > whole, "modfl");
  struct stat64 one{};
  struct stat64 other{};
  expect(stat64("/", &one) == 0 && lstat64("/", &other) == 0 && one.st_ino == other.st_ino, "stat64");
}

int order(const void* a, const void* b) { return *static_cast<const int*>(a) - *static_cast<const int*>(b); }

void sorting() {
  std::mt19937 random(3);
  std::vector<int> numbers(1000);
  for (int& number : numbers) number = static_cast<int>(random() % 300);
  std::vector<int> wanted = numbers;
  std::sort(wanted.begin(), wanted.end());
  qsort(numbers.data(), numbers.size(), sizeof(int), order);
  expect(numbers == wanted, "qsort");
  const int key = numbers[500];
  const auto* found = static_cast<int*>(bsearch(&key, numbers.data(), numbers.size(), sizeof(int), order));
  expect(found && *found == key, "bsearch");
}

int made_once() {
  static const int value = [] {
    static int count = 0;
    return ++count;
  }();
  return value;
}

void threads_and_guards() {
  int done = 0;
  std::thread worker([&] { done = made_once(); });
  worker.join();
  expect(done == 1 && made_once() == 1, "threads and guards");
  expect(std::thread::hardware_concurrency() == 8, "the simulated machine's processors");
  const auto before = std::chrono::steady_clock::now();
  expect(std::chrono::steady_clock::now() == before, "virtual time");
  bool caught = false;
  try {
    std::map<int, int>().at(3);
  } catch (const std::out_of_range&) {
    caught = true;
  }
  expect(caught, "exceptions");
}

// std::string comes precompiled, unless the recipe takes care.
void strings_have_hooks() {
  static std::string text(100, 'a');
  text.reserve(200);
  txsync_sim_test_record(text.data());
  text.append("bcd");
  txsync_sim_test_record(nullptr);
  expect(strstr(txsync_sim_test_trace(), "w3@100") != nullptr, "hooks in std::string::append");
}

void output_ends_attempts() {
  txsync_sim_test_record(&failures);
  std::cerr << "";
  const std::string stream = txsync_sim_test_trace();
  fflush(stderr);
  txsync_sim_test_record(nullptr);
  expect(stream.find("call:") != std::string::npos, "output to a stream is something outside");
  expect(strstr(txsync_sim_test_trace(), "call:fflush") != nullptr, "fflush is something outside");
}

}  // namespace

int main() {
  trees();
  tree_heights();
  lists_and_tables();
  text();
  lines_and_long_things();
  sorting();
  threads_and_guards();
  strings_have_hooks();
  output_ends_attempts();
  if (failures == 0) puts("all as expected");
  return failures;
}
