// SPDX-License-Identifier: Apache-2.0
// warn() and its kin: the program's name, a text, and what errno means. err() and its kin end the program after that.
// The system's log is not written; with LOG_PERROR, the text goes to the standard error.
#include <syslog.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "touch.hpp"

using namespace txsync::sim::library;

extern "C" {

int txsync_sim_vfprintf(FILE* file, const char* format, va_list arguments);

}  // extern "C"

namespace {

bool logs_to_errors = false;

void say(const char* format, va_list arguments, const char* error) {
  std::fprintf(stderr, "%s: ", program_invocation_short_name);
  if (format) txsync_sim_vfprintf(stderr, format, arguments);
  if (error) std::fprintf(stderr, "%s%s", format ? ": " : "", error);
  std::fputc('\n', stderr);
}

}  // namespace

// Calls its body with the arguments as a va_list.
#define TXSYNC_SIM_VARIADIC(body) \
  va_list arguments;              \
  va_start(arguments, format);    \
  body;                           \
  va_end(arguments)

extern "C" {

void txsync_sim_vwarn(const char* format, va_list arguments) {
  const int error = errno;
  outside("warn");
  say(format, arguments, std::strerror(error));
}
void txsync_sim_vwarnx(const char* format, va_list arguments) {
  outside("warnx");
  say(format, arguments, nullptr);
}
[[noreturn]] void txsync_sim_verr(int status, const char* format, va_list arguments) {
  txsync_sim_vwarn(format, arguments);
  txsync_sim_exit(status);
}
[[noreturn]] void txsync_sim_verrx(int status, const char* format, va_list arguments) {
  txsync_sim_vwarnx(format, arguments);
  txsync_sim_exit(status);
}

void txsync_sim_warn(const char* format, ...) { TXSYNC_SIM_VARIADIC(txsync_sim_vwarn(format, arguments)); }
void txsync_sim_warnx(const char* format, ...) { TXSYNC_SIM_VARIADIC(txsync_sim_vwarnx(format, arguments)); }
[[noreturn]] void txsync_sim_err(int status, const char* format, ...) {
  TXSYNC_SIM_VARIADIC(txsync_sim_verr(status, format, arguments));
}
[[noreturn]] void txsync_sim_errx(int status, const char* format, ...) {
  TXSYNC_SIM_VARIADIC(txsync_sim_verrx(status, format, arguments));
}

void txsync_sim_openlog(const char*, int how, int) {
  outside("openlog");
  logs_to_errors = (how & LOG_PERROR) != 0;
}
void txsync_sim_closelog() { logs_to_errors = false; }
int txsync_sim_setlogmask(int) { return LOG_UPTO(LOG_DEBUG); }
void txsync_sim_vsyslog(int, const char* format, va_list arguments) {
  outside("syslog");
  if (logs_to_errors) say(format, arguments, nullptr);
}
void txsync_sim_syslog(int level, const char* format, ...) {
  TXSYNC_SIM_VARIADIC(txsync_sim_vsyslog(level, format, arguments));
}

#undef TXSYNC_SIM_VARIADIC

}  // extern "C"
