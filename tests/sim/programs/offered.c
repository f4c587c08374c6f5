// SPDX-License-Identifier: Apache-2.0
// Calls of the C library that programs with threads make: each works, or fails with an error, or ends the run when it is
// made.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <iconv.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <syslog.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static int cleaned[3];

static void clean(void* which) { ++cleaned[*(int*)which]; }

static void* leaves(void* within) {
  int first = 0, second = 1, third = 2;
  pthread_cleanup_push(clean, &first);
  pthread_cleanup_push(clean, &second);
  pthread_cleanup_push(clean, &third);
  pthread_cleanup_pop(0);
  if (within) pthread_exit(within);
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(0);
  return NULL;
}

static void run_thread(void* within) {
  pthread_t thread;
  void* answer = &thread;
  if (pthread_create(&thread, NULL, leaves, within) != 0) exit(2);
  pthread_join(thread, &answer);
  if (answer != within) exit(3);
}

/// The threads that wait for what never comes do not keep the program from ending.
static void* waits_for_a_signal(void* none) {
  sigset_t all;
  int number = 0;
  sigfillset(&all);
  sigwait(&all, &number);
  puts("a signal has come");
  return none;
}

static void* polls_no_file(void* none) {
  poll(NULL, 0, -1);
  puts("a file has come");
  return none;
}
static void* polls_no_file_by_ppoll(void* none) {
  ppoll(NULL, 0, NULL, NULL);
  puts("a file has come");
  return none;
}
static void* selects_no_file(void* none) {
  select(0, NULL, NULL, NULL, NULL);
  puts("a file has come");
  return none;
}

static int starts(void* (*what)(void*)) {
  pthread_t waiter;
  return pthread_create(&waiter, NULL, what, NULL) == 0 && pthread_detach(waiter) == 0;
}

static int works_with_signals(void) {
  const struct itimerval each = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};
  const struct timespec moment = {.tv_nsec = 1000};
  sigset_t set;
  if (alarm(1) != 0 || setitimer(ITIMER_REAL, &each, NULL) != 0 || sigpending(&set) != 0 || !sigisemptyset(&set))
    return 0;
  sigaddset(&set, SIGTERM);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 || sigtimedwait(&set, NULL, &moment) != -1 || errno != EAGAIN) return 0;
  return starts(waits_for_a_signal);
}

static int knows_no_host(void) {
  struct hostent host, *found = &host;
  struct protoent protocol, *one = &protocol;
  char room[64];
  int error = 0;
  if (gethostbyname2_r("localhost", AF_INET, &host, room, sizeof room, &found, &error) == 0 || found != NULL) return 0;
  found = &host;
  if (gethostbyaddr_r("\1\2\3\4", 4, AF_INET, &host, room, sizeof room, &found, &error) == 0 || found != NULL) return 0;
  if (getprotobyname_r("tcp", &protocol, room, sizeof room, &one) == 0 || one != NULL) return 0;
  return getprotobynumber(6) == NULL && getnameinfo(NULL, 0, room, sizeof room, NULL, 0, 0) == EAI_FAIL;
}

static int is_one_user(void) {
  struct passwd me, *found = NULL;
  char room[64];
  const struct passwd* const known = getpwuid(getuid());
  if (known == NULL || getpwuid(getuid() + 1) != NULL || getpwnam("nobody") != NULL) return 0;
  return getpwuid_r(getuid(), &me, room, sizeof room, &found) == 0 && found == &me &&
         strcmp(me.pw_name, known->pw_name) == 0;
}

static int has_no_shared_objects(void) {
  Dl_info info;
  if (dlopen(NULL, RTLD_NOW) == NULL || dlerror() != NULL || dladdr((void*)&info, &info) != 0) return 0;
  return dlopen("libm.so", RTLD_NOW) == NULL && dlerror() != NULL && dlerror() == NULL;
}

static int waits_without_files(void) {
  struct timeval time = {.tv_usec = 5000};
  const struct timespec before = {0};
  struct timespec a = before, b = before;
  if (!starts(polls_no_file) || !starts(polls_no_file_by_ppoll) || !starts(selects_no_file)) return 0;
  clock_gettime(CLOCK_MONOTONIC, &a);
  if (select(0, NULL, NULL, NULL, &time) != 0 || poll(NULL, 0, 5) != 0) return 0;
  clock_gettime(CLOCK_MONOTONIC, &b);
  return (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 10000000;
}

static int moves_bytes(void) {
  char first[3] = {0}, second[3] = {0};
  const struct iovec parts[2] = {{first, 2}, {second, 2}};
  off_t at = 1;
  const int from = open("moved", O_RDWR | O_CREAT | O_TRUNC, 0600),
            to = open("there", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (from < 0 || to < 0 || write(from, "abcdefg", 7) != 7 || sendfile(to, from, &at, 5) != 5 || at != 6) return 0;
  return preadv(to, parts, 2, 0) == 4 && strcmp(first, "bc") == 0 && strcmp(second, "de") == 0;
}

static int converts(void) {
  char text[32] = "caf\303\251", out[32] = {0}, told[64], *from = text, *to = out;
  size_t left = strlen(text), room = sizeof out;
  const iconv_t how = iconv_open("UCS-4LE", "UTF-8");
  if (how != (iconv_t)-1 && (iconv(how, &from, &left, &to, &room) != 0 || room != sizeof out - 16 || out[12] != '\351'))
    return 0;
  if (strerror_r(ENOENT, told, sizeof told) == NULL || fnmatch("*.c", "offered.c", 0) != 0) return 0;
  const time_t start = 0;
  return strcmp(ctime_r(&start, told), "Thu Jan  1 00:00:00 1970\n") == 0;
}

static int has_a_log_and_keys_of_c11(void) {
  tss_t key;
  openlog("program", 0, LOG_USER);
  syslog(LOG_INFO, "%s", "nobody reads this");
  closelog();
  return tss_create(&key, NULL) == thrd_success && tss_set(key, &key) == thrd_success && tss_get(key) == &key;
}

int main(int count, char** words) {
  run_thread(NULL);
  if (cleaned[0] != 0 || cleaned[1] != 1 || cleaned[2] != 0) return 4;
  run_thread(words);
  if (cleaned[0] != 1 || cleaned[1] != 2 || cleaned[2] != 0) return 5;

  int old = -1;
  if (pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) != 0 || old != PTHREAD_CANCEL_ENABLE) return 6;
  const struct sched_param high = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &high) != EPERM) return 7;

  if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != EAFNOSUPPORT) return 8;
  if (gethostbyname("localhost") != NULL || hstrerror(h_errno) == NULL) return 9;
  char text[INET_ADDRSTRLEN];
  struct in_addr address = {.s_addr = inet_addr("10.1.2.3")};
  if (strcmp(inet_ntoa(address), "10.1.2.3") != 0 || ntohl(address.s_addr) != 0x0A010203) return 10;
  if (inet_ntop(AF_INET, &address, text, sizeof text) != text || strcmp(text, "10.1.2.3") != 0) return 11;

  const struct utimbuf times = {.actime = 5, .modtime = 7};
  struct stat seen;
  FILE* file = fopen("dated", "w");
  if (file == NULL || fclose(file) != 0 || utime("dated", &times) != 0 || chown("dated", getuid(), getgid()) != 0)
    return 12;
  if (stat("dated", &seen) != 0 || seen.st_mtime != 7) return 13;

  if (!works_with_signals()) return 14;
  if (!knows_no_host()) return 15;
  if (!is_one_user()) return 16;
  if (!has_no_shared_objects()) return 17;
  if (!waits_without_files()) return 18;
  if (!moves_bytes()) return 19;
  if (!converts()) return 20;
  if (!has_a_log_and_keys_of_c11()) return 22;

  errno = ENOENT;
  warn("%d %s", 1, "text");
  warnx("%d %s", 2, "text");
  if (count > 1) pthread_cancel(pthread_self());
  errx(21, "the end");
}
