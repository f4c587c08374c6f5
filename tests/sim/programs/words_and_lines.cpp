// SPDX-License-Identifier: Apache-2.0
// Reads words and lines in all ways that libstdc++ has precompiled, and prints the results. It reads standard input,
// then texts with ends and marks in all places.
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>

namespace {

void tell(const char* how, std::istream& in, const char* got) {
  std::printf("%s '%s' state %d count %ld width %ld,", how, got, static_cast<int>(in.rdstate()),
              static_cast<long>(in.gcount()), static_cast<long>(in.width()));
  in.clear();
  std::printf(" next %d\n", in.peek());
  in.clear();
}

void read_in_all_ways(const std::string& text) {
  std::printf("of '%s'\n", text.c_str());
  for (const int width : {0, 1, 2, 3, 9}) {
    std::string word = "before";
    std::istringstream in(text);
    in >> std::setw(width) >> word;
    tell("word", in, word.c_str());
    char array[4] = "bef";
    std::istringstream again(text);
    again >> std::setw(width) >> array;
    tell("array", again, array);
    std::istringstream skipped(text);
    skipped.ignore(width);
    tell("skipped", skipped, "");
    std::istringstream skipped_to(text);
    skipped_to.ignore(width, 'b');
    tell("skipped to b", skipped_to, "");
    char line[10] = "before";
    std::istringstream lines(text);
    lines.getline(line, width, ' ');
    tell("part", lines, line);
  }
  for (const char end : {'\n', 'b'}) {
    std::string line = "before";
    std::istringstream in(text);
    while (std::getline(in, line, end)) std::printf("line '%s'\n", line.c_str());
    tell("last line", in, line.c_str());
    std::istringstream skipped(text);
    skipped.ignore(std::numeric_limits<std::streamsize>::max(), end);
    tell("skipped", skipped, "");
  }
  std::istringstream bad(text);
  bad.setstate(std::ios::failbit);
  std::string word = "before";
  char array[4] = "bef";
  bad >> word >> array;
  bad.getline(array, 4);
  bad.ignore(1);
  tell("bad", bad, (word + array).c_str());
}

bool throws_at_the_end() {
  std::istringstream in("a");
  in.exceptions(std::ios::failbit);
  std::string word;
  in >> word;
  try {
    in >> word;
  } catch (const std::ios::failure&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  std::string word;
  while (std::cin >> word) std::printf("%s\n", word.c_str());
  const std::string letters = " ab\n";
  std::string text;
  for (unsigned number = 0; number < 4 * 4 * 4 * 4; ++number) {
    read_in_all_ways(text.substr(0, number % 5));
    text.clear();
    for (unsigned left = number; text.size() < 4; left /= 4) text += letters[left % 4];
  }
  std::printf("throws %d\n", throws_at_the_end());
}
