// SPDX-License-Identifier: Apache-2.0
// The streams of <strstream> (C++17, annex D.9), which libstdc++ has compiled: instrumented here, like a program's own
// code. The class definitions are libstdc++'s.

#include <algorithm>
#include <climits>
#include <cstring>
#include <strstream>

namespace std {

namespace {

constexpr streamsize min_capacity = 16;

/// How much a fixed buffer has: `length` says so, or the text's end, or nothing does.
size_t size_of(const char* text, streamsize length) {
  if (length > 0) return static_cast<size_t>(length);
  return length == 0 ? strlen(text) : static_cast<size_t>(INT_MAX);
}

template <class Byte>
char* as_char(Byte* bytes) {
  return const_cast<char*>(reinterpret_cast<const char*>(bytes));
}

}  // namespace

// ---- strstreambuf

strstreambuf::strstreambuf(streamsize capacity)
    : _M_alloc_fun(nullptr), _M_free_fun(nullptr), _M_dynamic(true), _M_frozen(false), _M_constant(false) {
  const streamsize bytes = max(capacity, min_capacity);
  if (char* const buffer = _M_alloc(static_cast<size_t>(bytes))) {
    setp(buffer, buffer + bytes);
    setg(buffer, buffer, buffer);
  }
}

strstreambuf::strstreambuf(void* (*allocate)(size_t), void (*release)(void*))
    : _M_alloc_fun(allocate), _M_free_fun(release), _M_dynamic(true), _M_frozen(false), _M_constant(false) {
  if (char* const buffer = _M_alloc(static_cast<size_t>(min_capacity))) {
    setp(buffer, buffer + min_capacity);
    setg(buffer, buffer, buffer);
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): Byte is a type
#define TXSYNC_SIM_FIXED(Byte)                                                                                 \
  strstreambuf::strstreambuf(Byte* get, streamsize length, Byte* put) throw()                                  \
      : _M_alloc_fun(nullptr), _M_free_fun(nullptr), _M_dynamic(false), _M_frozen(false), _M_constant(false) { \
    _M_setup(as_char(get), as_char(put), length);                                                              \
  }                                                                                                            \
  strstreambuf::strstreambuf(const Byte* get, streamsize length) throw()                                       \
      : _M_alloc_fun(nullptr), _M_free_fun(nullptr), _M_dynamic(false), _M_frozen(false), _M_constant(true) {  \
    _M_setup(as_char(get), nullptr, length);                                                                   \
  }
// NOLINTEND(bugprone-macro-parentheses)
TXSYNC_SIM_FIXED(char)
TXSYNC_SIM_FIXED(signed char)
TXSYNC_SIM_FIXED(unsigned char)
#undef TXSYNC_SIM_FIXED

strstreambuf::~strstreambuf() {
  if (_M_dynamic && !_M_frozen) _M_free(eback());
}

void strstreambuf::_M_setup(char* get, char* put, streamsize length) throw() {
  if (get == nullptr) return;
  const size_t bytes = size_of(get, length);
  if (put != nullptr) {
    setg(get, get, put);
    setp(put, put + bytes);
  } else {
    setg(get, get, get + bytes);
  }
}

char* strstreambuf::_M_alloc(size_t bytes) {
  return static_cast<char*>(_M_alloc_fun != nullptr ? _M_alloc_fun(bytes) : operator new(bytes));
}

void strstreambuf::_M_free(char* buffer) {
  if (buffer == nullptr) return;
  _M_free_fun != nullptr ? _M_free_fun(buffer) : operator delete(buffer);
}

void strstreambuf::freeze(bool is_frozen) throw() {
  if (_M_dynamic) _M_frozen = is_frozen;
}

char* strstreambuf::str() throw() {
  freeze(true);
  return eback();
}

int strstreambuf::pcount() const throw() { return pptr() != nullptr ? static_cast<int>(pptr() - pbase()) : 0; }

strstreambuf::int_type strstreambuf::overflow(int_type added) {
  if (_Traits::eq_int_type(added, _Traits::eof())) return _Traits::not_eof(added);
  if (pptr() == epptr() && _M_dynamic && !_M_frozen && !_M_constant) {
    const ptrdiff_t old_bytes = epptr() - pbase();
    const ptrdiff_t bytes = max<ptrdiff_t>(2 * old_bytes, min_capacity);
    char* const larger = _M_alloc(static_cast<size_t>(bytes));
    if (larger == nullptr) return _Traits::eof();
    if (old_bytes != 0) memcpy(larger, pbase(), static_cast<size_t>(old_bytes));
    char* const before = pbase();
    const ptrdiff_t read = gptr() != nullptr ? gptr() - eback() : 0;
    setp(larger, larger + bytes);
    pbump(static_cast<int>(old_bytes));
    setg(larger, larger + read, larger + max(read, old_bytes));
    _M_free(before);
  }
  if (pptr() == epptr()) return _Traits::eof();
  *pptr() = _Traits::to_char_type(added);
  pbump(1);
  return added;
}

strstreambuf::int_type strstreambuf::pbackfail(int_type put_back) {
  if (gptr() == eback()) return _Traits::eof();
  if (_Traits::eq_int_type(put_back, _Traits::eof())) {
    gbump(-1);
    return _Traits::not_eof(put_back);
  }
  const char value = _Traits::to_char_type(put_back);
  if (gptr()[-1] != value && _M_constant) return _Traits::eof();
  gbump(-1);
  if (*gptr() != value) *gptr() = value;
  return put_back;
}

strstreambuf::int_type strstreambuf::underflow() {
  if (gptr() == egptr() && pptr() != nullptr && pptr() > egptr()) setg(eback(), gptr(), pptr());
  return gptr() != egptr() ? _Traits::to_int_type(*gptr()) : _Traits::eof();
}

strstreambuf::_Base* strstreambuf::setbuf(char*, streamsize) { return this; }

strstreambuf::pos_type strstreambuf::seekoff(off_type by, ios_base::seekdir from, ios_base::openmode which) {
  const pos_type refused(off_type(-1));
  const bool gets = (which & ios_base::in) != 0;
  const bool puts = (which & ios_base::out) != 0;
  if ((!gets && !puts) || (gets && puts && from == ios_base::cur)) return refused;
  if ((gets && gptr() == nullptr) || (puts && pptr() == nullptr)) return refused;
  char* const low = eback() != nullptr ? eback() : pbase();
  char* const high = max(egptr() != nullptr ? egptr() : low, epptr() != nullptr ? epptr() : low);
  off_type at = by;
  if (from == ios_base::cur) at += (gets ? gptr() : pptr()) - low;
  if (from == ios_base::end) at += high - low;
  if (at < 0 || at > high - low) return refused;
  if (gets) setg(low, low + at, max(egptr(), low + at));
  if (puts) {
    setp(low, epptr());
    pbump(static_cast<int>(at));
  }
  return pos_type(at);
}

strstreambuf::pos_type strstreambuf::seekpos(pos_type to, ios_base::openmode which) {
  return seekoff(off_type(to), ios_base::beg, which);
}

// ---- the streams

istrstream::istrstream(char* text) : basic_istream<char>(nullptr), _M_buf(text, 0) { init(&_M_buf); }
istrstream::istrstream(const char* text) : basic_istream<char>(nullptr), _M_buf(text, 0) { init(&_M_buf); }
istrstream::istrstream(char* text, streamsize length) : basic_istream<char>(nullptr), _M_buf(text, length) {
  init(&_M_buf);
}
istrstream::istrstream(const char* text, streamsize length) : basic_istream<char>(nullptr), _M_buf(text, length) {
  init(&_M_buf);
}
istrstream::~istrstream() = default;
strstreambuf* istrstream::rdbuf() const throw() { return const_cast<strstreambuf*>(&_M_buf); }
char* istrstream::str() throw() { return _M_buf.str(); }

ostrstream::ostrstream() : basic_ostream<char>(nullptr), _M_buf() { init(&_M_buf); }
ostrstream::ostrstream(char* text, int length, ios_base::openmode mode)
    : basic_ostream<char>(nullptr), _M_buf(text, length, (mode & ios_base::app) != 0 ? text + strlen(text) : text) {
  init(&_M_buf);
}
ostrstream::~ostrstream() = default;
strstreambuf* ostrstream::rdbuf() const throw() { return const_cast<strstreambuf*>(&_M_buf); }
void ostrstream::freeze(bool is_frozen) throw() { _M_buf.freeze(is_frozen); }
char* ostrstream::str() throw() { return _M_buf.str(); }
int ostrstream::pcount() const throw() { return _M_buf.pcount(); }

strstream::strstream() : basic_iostream<char>(nullptr), _M_buf() { init(&_M_buf); }
strstream::strstream(char* text, int length, ios_base::openmode mode)
    : basic_iostream<char>(nullptr), _M_buf(text, length, (mode & ios_base::app) != 0 ? text + strlen(text) : text) {
  init(&_M_buf);
}
strstream::~strstream() = default;
strstreambuf* strstream::rdbuf() const throw() { return const_cast<strstreambuf*>(&_M_buf); }
void strstream::freeze(bool is_frozen) throw() { _M_buf.freeze(is_frozen); }
char* strstream::str() throw() { return _M_buf.str(); }
int strstream::pcount() const throw() { return _M_buf.pcount(); }

}  // namespace std
