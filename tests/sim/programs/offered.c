// SPDX-License-Identifier: Apache-2.0
// Calls of the C library that programs with threads make: each works, or fails with an error, or ends the run when it is
// made.
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

  errno = ENOENT;
  warn("%d %s", 1, "text");
  warnx("%d %s", 2, "text");
  if (count > 1) pthread_cancel(pthread_self());
  errx(21, "the end");
}
