// SPDX-License-Identifier: Apache-2.0
// std::getline for strings of char, which libstdc++ has precompiled whatever the program says: the same contract, with
// hooks. Compiled as user code, and renamed as user code's references to it are.
#include <istream>
#include <string>

namespace std {

template <>
istream& getline(istream& in, string& line, char end) {
  const istream::sentry reads(in, true);
  if (!reads) return in;
  line.clear();
  ios_base::iostate state = ios_base::goodbit;
  try {
    for (;;) {
      const auto next = in.rdbuf()->sbumpc();
      if (char_traits<char>::eq_int_type(next, char_traits<char>::eof())) {
        state = line.empty() ? ios_base::eofbit | ios_base::failbit : ios_base::eofbit;
        break;
      }
      if (char_traits<char>::to_char_type(next) == end) break;
      line.push_back(char_traits<char>::to_char_type(next));
    }
  } catch (...) {
    state = ios_base::badbit;
  }
  in.setstate(state);
  return in;
}

}  // namespace std
