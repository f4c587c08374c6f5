// SPDX-License-Identifier: Apache-2.0
// Conversion of strings to numbers, and functions that return results through pointers.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

// strtol and the like: they read the string and write *end.
template <typename Convert>
auto convert(const char* text, char** end, Convert with) {
  step();
  reads_string(text);
  writes_object(end);
  return with();
}

// frexp and the like.
template <typename Result, typename Compute>
auto through(Result* result, Compute with) {
  step();
  writes_object(result);
  return with();
}

}  // namespace

extern "C" {

long txsync_sim_strtol(const char* text, char** end, int base) {
  return convert(text, end, [&] { return std::strtol(text, end, base); });
}
long long txsync_sim_strtoll(const char* text, char** end, int base) {
  return convert(text, end, [&] { return std::strtoll(text, end, base); });
}
unsigned long txsync_sim_strtoul(const char* text, char** end, int base) {
  return convert(text, end, [&] { return std::strtoul(text, end, base); });
}
unsigned long long txsync_sim_strtoull(const char* text, char** end, int base) {
  return convert(text, end, [&] { return std::strtoull(text, end, base); });
}
double txsync_sim_strtod(const char* text, char** end) {
  return convert(text, end, [&] { return std::strtod(text, end); });
}
float txsync_sim_strtof(const char* text, char** end) {
  return convert(text, end, [&] { return std::strtof(text, end); });
}
long double txsync_sim_strtold(const char* text, char** end) {
  return convert(text, end, [&] { return std::strtold(text, end); });
}
std::intmax_t txsync_sim_strtoimax(const char* text, char** end, int base) {
  return txsync_sim_strtol(text, end, base);
}
std::uintmax_t txsync_sim_strtoumax(const char* text, char** end, int base) {
  return txsync_sim_strtoul(text, end, base);
}
int txsync_sim_atoi(const char* text) { return static_cast<int>(txsync_sim_strtol(text, nullptr, 10)); }
long txsync_sim_atol(const char* text) { return txsync_sim_strtol(text, nullptr, 10); }
long long txsync_sim_atoll(const char* text) { return txsync_sim_strtoll(text, nullptr, 10); }
double txsync_sim_atof(const char* text) { return txsync_sim_strtod(text, nullptr); }

double txsync_sim_frexp(double value, int* exponent) {
  return through(exponent, [&] { return std::frexp(value, exponent); });
}
float txsync_sim_frexpf(float value, int* exponent) {
  return through(exponent, [&] { return std::frexp(value, exponent); });
}
double txsync_sim_modf(double value, double* whole) {
  return through(whole, [&] { return std::modf(value, whole); });
}
float txsync_sim_modff(float value, float* whole) {
  return through(whole, [&] { return std::modf(value, whole); });
}
long double txsync_sim_modfl(long double value, long double* whole) {
  return through(whole, [&] { return std::modf(value, whole); });
}
double txsync_sim_remquo(double value, double by, int* quotient) {
  return through(quotient, [&] { return std::remquo(value, by, quotient); });
}
double txsync_sim_lgamma_r(double value, int* sign) {
  return through(sign, [&] { return lgamma_r(value, sign); });
}
void txsync_sim_sincos(double value, double* sine, double* cosine) {
  step();
  writes_object(sine);
  writes_object(cosine);
  sincos(value, sine, cosine);
}
void txsync_sim_sincosf(float value, float* sine, float* cosine) {
  step();
  writes_object(sine);
  writes_object(cosine);
  sincosf(value, sine, cosine);
}

}  // extern "C"
