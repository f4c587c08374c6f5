// SPDX-License-Identifier: Apache-2.0
// Parts of the C and C++ libraries that simulated programs have, beyond offered.c. Exit status 0, or the number of what
// went wrong.
#include <pthread.h>
#include <regex.h>

#include <cstdio>
#include <cstring>
#include <cwchar>
#include <string>
#include <strstream>

namespace {

/// Made and deleted outside of main().
struct key {
  pthread_key_t at;
  key() { pthread_key_create(&at, nullptr); }
  ~key() {
    if (pthread_key_delete(at) != 0) std::puts("the key is lost");
  }
};
key first;

bool keys_differ() {
  static key second;
  return first.at != second.at;
}

bool writes_a_growing_text() {
  std::ostrstream out;
  for (int i = 0; i < 100; ++i) out << i << ',';
  out << std::ends;
  const std::string text = out.str();
  out.freeze(false);
  return text.size() == 290 && text.ends_with(",98,99,");
}

bool writes_no_further_than_a_buffer() {
  char fixed[8];
  std::ostrstream out(fixed, sizeof fixed);
  out << "1234567890";
  return out.fail() && out.pcount() == 8 && std::memcmp(fixed, "12345678", 8) == 0;
}

bool reads_what_was_written() {
  std::istrstream in("12 abc");
  std::strstream both;
  both << 7 << ' ' << 8;
  int number = 0;
  int one = 0;
  int other = 0;
  std::string word;
  in >> number >> word;
  both >> one >> other;
  return number == 12 && word == "abc" && one == 7 && other == 8;
}

bool matches() {
  regex_t expression;
  regmatch_t found[1];
  if (regcomp(&expression, "b+", REG_EXTENDED) != 0) return false;
  const bool is_found = regexec(&expression, "abbc", 1, found, 0) == 0 && found[0].rm_so == 1 && found[0].rm_eo == 3;
  regfree(&expression);
  return is_found;
}

bool compares_wide_text() {
  wchar_t text[8];
  std::wcscat(std::wcscpy(text, L"ab"), L"cd");
  return std::wcscmp(text, L"abcd") == 0 && std::wcsstr(text, L"bc") == text + 1 &&
         std::wcsrchr(text, L'd') == text + 3;
}

}  // namespace

int main() {
  if (!keys_differ()) return 1;
  if (!writes_a_growing_text()) return 2;
  if (!writes_no_further_than_a_buffer()) return 3;
  if (!reads_what_was_written()) return 4;
  if (!matches()) return 5;
  if (!compares_wide_text()) return 6;
  std::puts("all right");
}
