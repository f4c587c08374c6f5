// SPDX-License-Identifier: Apache-2.0
// Time is virtual. Every run starts on the same day, because results would differ otherwise.
#include <poll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <txsync_backend/runtime.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

bool is_calendar(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

std::uint64_t now(clockid_t clock) { return txsync_sim_clock_ns() + (is_calendar(clock) ? start_of_time : 0); }

timespec split(std::uint64_t nanoseconds) {
  return {static_cast<time_t>(nanoseconds / second), static_cast<long>(nanoseconds % second)};
}

}  // namespace

extern "C" {

int txsync_sim_clock_gettime(clockid_t clock, timespec* to) {
  step();
  writes_object(to);
  *to = split(now(clock));
  return 0;
}
int txsync_sim_clock_getres(clockid_t, timespec* to) {
  step();
  writes_object(to);
  if (to) *to = {0, 1};
  return 0;
}
int txsync_sim_gettimeofday(timeval* to, void*) {
  step();
  writes_object(to);
  const timespec time = split(now(CLOCK_REALTIME));
  if (to) *to = {time.tv_sec, time.tv_nsec / 1000};
  return 0;
}
int txsync_sim_timespec_get(timespec* to, int base) {
  if (base != TIME_UTC) return 0;
  step();
  writes_object(to);
  *to = split(now(CLOCK_REALTIME));
  return base;
}
time_t txsync_sim_time(time_t* to) {
  step();
  const auto seconds = static_cast<time_t>(now(CLOCK_REALTIME) / second);
  writes_object(to);
  if (to) *to = seconds;
  return seconds;
}
clock_t txsync_sim_clock(void) { return static_cast<clock_t>(txsync_sim_clock_ns() / 1000); }

int txsync_sim_nanosleep(const timespec* duration, timespec*) {
  outside("nanosleep");
  reads_object(duration);
  txsync_sim_sleep_ns(in_ns(*duration));
  return 0;
}
int txsync_sim_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec*) {
  outside("clock_nanosleep");
  reads_object(time);
  std::uint64_t duration = in_ns(*time);
  if (flags & TIMER_ABSTIME) duration = duration > now(clock) ? duration - now(clock) : 0;
  txsync_sim_sleep_ns(duration);
  return 0;
}
int txsync_sim_usleep(useconds_t microseconds) {
  outside("usleep");
  txsync_sim_sleep_ns(std::uint64_t{microseconds} * 1000);
  return 0;
}
unsigned txsync_sim_sleep(unsigned seconds) {
  outside("sleep");
  txsync_sim_sleep_ns(seconds * second);
  return 0;
}

// Waits for files that name none are sleeps.
int txsync_sim_pselect(int, fd_set* read, fd_set* write, fd_set* other, const timespec* duration, const sigset_t*) {
  outside("select");
  if (read || write || other) txsync_sim_unsupported("select");
  if (!duration) wait_for_ever();
  reads_object(duration);
  txsync_sim_sleep_ns(in_ns(*duration));
  return 0;
}
int txsync_sim_select(int files, fd_set* read, fd_set* write, fd_set* other, timeval* duration) {
  if (!duration) return txsync_sim_pselect(files, read, write, other, nullptr, nullptr);
  reads_object(duration);
  const timespec time{duration->tv_sec, duration->tv_usec * 1000};
  return txsync_sim_pselect(files, read, write, other, &time, nullptr);
}
int txsync_sim_ppoll(pollfd* files, nfds_t count, const timespec* duration, const sigset_t* signals) {
  outside("poll");
  if (count == 0 && !duration) wait_for_ever();
  reads_object(duration);
  if (count == 0) {
    txsync_sim_sleep_ns(in_ns(*duration));
    return 0;
  }
  writes(files, count * sizeof *files);
  return ppoll(files, count, duration, signals);
}
int txsync_sim_poll(pollfd* files, nfds_t count, int milliseconds) {
  if (milliseconds < 0) return txsync_sim_ppoll(files, count, nullptr, nullptr);
  const timespec time = split(static_cast<std::uint64_t>(milliseconds) * 1000000);
  return txsync_sim_ppoll(files, count, &time, nullptr);
}

tm* txsync_sim_localtime_r(const time_t* time, tm* to) {
  step();
  reads_object(time);
  writes_object(to);
  return gmtime_r(time, to);  // the simulated machine's zone is UTC
}
tm* txsync_sim_gmtime_r(const time_t* time, tm* to) { return txsync_sim_localtime_r(time, to); }
tm* txsync_sim_gmtime(const time_t* time) {
  static tm result;
  return txsync_sim_localtime_r(time, &result);
}
tm* txsync_sim_localtime(const time_t* time) { return txsync_sim_gmtime(time); }
time_t txsync_sim_timegm(tm* time) {
  step();
  writes_object(time);
  return timegm(time);
}
time_t txsync_sim_mktime(tm* time) { return txsync_sim_timegm(time); }
std::size_t txsync_sim_strftime(char* to, std::size_t size, const char* format, const tm* time) {
  step();
  reads_string(format);
  reads_object(time);
  writes(to, size);
  return std::strftime(to, size, format, time);
}

char* txsync_sim_asctime_r(const tm* time, char* to) {
  constexpr std::size_t length = 26;
  step();
  reads_object(time);
  writes(to, length);
  return asctime_r(time, to);  // NOLINT(bugprone-unsafe-functions): the program has asked for it
}
char* txsync_sim_ctime_r(const time_t* time, char* to) {
  tm parts{};
  reads_object(time);
  gmtime_r(time, &parts);
  return txsync_sim_asctime_r(&parts, to);
}
char* txsync_sim_asctime(const tm* time) {
  static char result[64];
  return txsync_sim_asctime_r(time, result);
}
char* txsync_sim_ctime(const time_t* time) {
  static char result[64];
  return txsync_sim_ctime_r(time, result);
}
char* txsync_sim_strptime(const char* text, const char* format, tm* to) {
  step();
  reads_string(text);
  reads_string(format);
  writes_object(to);
  return strptime(text, format, to);
}

// std::chrono::steady_clock::now() and system_clock::now(): they return a count of nanoseconds in a register.
std::int64_t txsync_sim__ZNSt6chrono3_V212steady_clock3nowEv() {
  return static_cast<std::int64_t>(now(CLOCK_MONOTONIC));
}
std::int64_t txsync_sim__ZNSt6chrono3_V212system_clock3nowEv() {
  return static_cast<std::int64_t>(now(CLOCK_REALTIME));
}

}  // extern "C"
