// SPDX-License-Identifier: Apache-2.0
// Runs the case of reported.h that the first argument names.
#include "reported.h"

pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    int (*run)(int);
  } cases[] = {{"coroutine", coroutine},
               {"lookups", lookups},
               {"condition_alone", condition_alone},
               {"condition_and_mutex", condition_and_mutex},
               {"condition_of_two", condition_of_two},
               {"taker", taker},
               {"shared_owner", shared_owner},
               {"shared_by_programs", shared_by_programs},
               {"sharer", sharer},
               {"held_over_fork", held_over_fork},
               {"owner", owner},
               {"lock_words", lock_words},
               {"watchdog", watchdog},
               {"deadlines", deadlines},
               {"many_deadlines", many_deadlines},
               {"old_names", old_names},
               {"small_stack", small_stack},
               {"semaphore", semaphore},
               {"event", event},
               {"last_user", last_user}};
  if (count < 3) return 2;
  if (strcmp(arguments[1], "reloaded") == 0) return reloaded(arguments + 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(cases[i].name, arguments[1]) == 0) return cases[i].run(atoi(arguments[2]));
  return 2;
}
