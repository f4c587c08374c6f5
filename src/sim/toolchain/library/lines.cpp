// SPDX-License-Identifier: Apache-2.0
// What libstdc++ has precompiled to read words and lines from streams of char, whatever the program says. The contracts
// are the same, with hooks. Compiled like user code, and renamed like user code's references to it.
#include <istream>
#include <limits>
#include <locale>
#include <string>

namespace std {
namespace {

using traits = char_traits<char>;

bool is_end(traits::int_type next) { return traits::eq_int_type(next, traits::eof()); }
bool is(traits::int_type next, char wanted) { return traits::eq_int_type(next, traits::to_int_type(wanted)); }

// Takes characters until `stops` is true for the next one, which stays. It also ends after `most` characters, and at
// the end of the input, where it adds eofbit.
template <class Take, class Stops>
void take_while(istream& in, streamsize most, ios_base::iostate& state, Take take, Stops stops) {
  streambuf& from = *in.rdbuf();
  for (streamsize taken = 0; taken < most; ++taken) {
    const auto next = from.sgetc();
    if (is_end(next)) {
      state |= ios_base::eofbit;
      return;
    }
    if (stops(next)) return;
    take(traits::to_char_type(next));
    from.sbumpc();
  }
}

// `body` adds to the state. If it throws, the stream is bad.
template <class Body>
void tried(istream& in, Body body) {
  ios_base::iostate state = ios_base::goodbit;
  try {
    body(state);
  } catch (...) {
    state |= ios_base::badbit;
  }
  in.setstate(state);
}

auto stops_at_space(const istream& in) {
  return [&letters = use_facet<ctype<char>>(in.getloc())](traits::int_type next) {
    return letters.is(ctype_base::space, traits::to_char_type(next));
  };
}

}  // namespace

template <>
istream& getline(istream& in, string& line, char mark) {
  const istream::sentry reads(in, true);
  if (!reads) return in;
  tried(in, [&](ios_base::iostate& state) {
    line.clear();
    take_while(
        in, numeric_limits<streamsize>::max(), state, [&](char next) { line.push_back(next); },
        [&](traits::int_type next) { return is(next, mark); });
    if ((state & ios_base::eofbit) == 0) {
      in.rdbuf()->sbumpc();
    } else if (line.empty()) {
      state |= ios_base::failbit;
    }
  });
  return in;
}

template <>
istream& operator>>(istream& in, string& word) {
  const istream::sentry reads(in, false);
  if (!reads) return in;
  tried(in, [&](ios_base::iostate& state) {
    word.clear();
    const streamsize most = in.width() > 0 ? in.width() : numeric_limits<streamsize>::max();
    take_while(in, most, state, [&](char next) { word.push_back(next); }, stops_at_space(in));
    in.width(0);
    if (word.empty()) state |= ios_base::failbit;
  });
  return in;
}

void __istream_extract(istream& in, char* to, streamsize room) {
  const istream::sentry reads(in, false);
  if (!reads) return;
  tried(in, [&](ios_base::iostate& state) {
    if (in.width() > 0 && in.width() < room) room = in.width();
    const char* const start = to;
    take_while(in, room - 1, state, [&](char next) { *to++ = next; }, stops_at_space(in));
    *to = 0;
    in.width(0);
    if (to == start) state |= ios_base::failbit;
  });
}

template <>
istream& istream::getline(char* to, streamsize room, char mark) {
  _M_gcount = 0;
  if (room > 0) *to = 0;
  const sentry reads(*this, true);
  if (!reads) return *this;
  tried(*this, [&](ios_base::iostate& state) {
    const struct termination {
      ~termination() {
        if (room > 0) *to = 0;
      }
      char*& to;
      streamsize room;
    } at_the_end{to, room};
    const auto take = [&](char next) {
      *to++ = next;
      ++_M_gcount;
    };
    take_while(*this, room - 1, state, take, [&](traits::int_type next) { return is(next, mark); });
    if ((state & ios_base::eofbit) == 0) {
      const auto next = rdbuf()->sgetc();  // the line may end exactly where the buffer does
      if (is_end(next)) {
        state |= ios_base::eofbit;
      } else if (is(next, mark)) {
        rdbuf()->sbumpc();
        ++_M_gcount;
      } else {
        state |= ios_base::failbit;
      }
    }
    if (_M_gcount == 0) state |= ios_base::failbit;
  });
  return *this;
}

template <>
istream& istream::ignore(streamsize most) {
  return ignore(most, traits::eof());
}

template <>
istream& istream::ignore(streamsize most, int_type mark) {
  _M_gcount = 0;
  const sentry reads(*this, true);
  if (!reads) return *this;
  tried(*this, [&](ios_base::iostate& state) {
    take_while(
        *this, most, state, [&](char) { ++_M_gcount; },
        [&](traits::int_type next) { return traits::eq_int_type(next, mark); });
    if ((state & ios_base::eofbit) != 0 || _M_gcount >= most) return;
    rdbuf()->sbumpc();
    ++_M_gcount;
  });
  return *this;
}

}  // namespace std
