// SPDX-License-Identifier: Apache-2.0
// No signals are delivered but those of access faults (runtime/signals.cpp). Alarms never ring; who waits for a signal waits for ever.
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "touch.hpp"

using namespace txsync::sim::library;

extern "C" {

unsigned txsync_sim_alarm(unsigned) {
  outside("alarm");
  return 0;
}
useconds_t txsync_sim_ualarm(useconds_t, useconds_t) { return txsync_sim_alarm(0); }
int txsync_sim_getitimer(int, itimerval* to) {
  outside("getitimer");
  writes_object(to);
  *to = {};
  return 0;
}
int txsync_sim_setitimer(int which, const itimerval* timer, itimerval* old) {
  outside("setitimer");
  reads_object(timer);
  return old ? txsync_sim_getitimer(which, old) : 0;
}

int txsync_sim_pause() {
  outside("pause");
  wait_for_ever();
}
int txsync_sim_sigsuspend(const sigset_t*) {
  outside("sigsuspend");
  wait_for_ever();
}
int txsync_sim_sigwait(const sigset_t*, int*) {
  outside("sigwait");
  wait_for_ever();
}
int txsync_sim_sigwaitinfo(const sigset_t*, siginfo_t*) {
  outside("sigwaitinfo");
  wait_for_ever();
}
int txsync_sim_sigtimedwait(const sigset_t* set, siginfo_t* to, const timespec* duration) {
  if (!duration) return txsync_sim_sigwaitinfo(set, to);
  outside("sigtimedwait");
  reads_object(duration);
  txsync_sim_sleep_ns(in_ns(*duration));
  errno = EAGAIN;
  return -1;
}

int txsync_sim_sigpending(sigset_t* to) {
  outside("sigpending");
  writes_object(to);
  return sigemptyset(to);
}
int txsync_sim_sigprocmask(int, const sigset_t*, sigset_t* old) { return old ? txsync_sim_sigpending(old) : 0; }
int txsync_sim_sigaltstack(const stack_t*, stack_t* old) {
  outside("sigaltstack");
  writes_object(old);
  if (old) *old = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  return 0;
}
int txsync_sim_siginterrupt(int, int) { return 0; }
int txsync_sim_sigblock(int) { return 0; }
int txsync_sim_sigsetmask(int) { return 0; }
int txsync_sim_siggetmask() { return 0; }

}  // extern "C"
