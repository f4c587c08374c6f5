// SPDX-License-Identifier: Apache-2.0
// runs_ahead THREADS SECTIONS: critical sections of a lock whose waiters may run them ahead of time. A section takes
// and gives up other locks, allocates, and moves list nodes whose links are temporarily no addresses. It gives the lock
// up halfway to take it again. Prints "all right", or what was wrong.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace {

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

struct node {
  long value;
  node* next;
};
node* head = nullptr;
node* const no_address = reinterpret_cast<node*>(0x10);

long inside = 0;
long met = 0;
long in_inner = 0;
long total = 0;
std::atomic<long> shown{0};

/// Takes a new node in, moves the first to the end, and gives an old one up.
void move_nodes(long value) {
  head = new node{value, head};
  node* const moved = head;
  head = moved->next;
  moved->next = no_address;
  node** at = &head;
  while (*at != nullptr) at = &(*at)->next;
  moved->next = nullptr;
  *at = moved;
  if (value % 3 == 0) delete std::exchange(head, head->next);
}

void alone() {
  if (inside++ != 0) ++met;
}

void section(long value) {
  pthread_rwlock_wrlock(&lock);
  alone();
  pthread_mutex_lock(&inner);
  ++in_inner;
  pthread_mutex_unlock(&inner);
  if (pthread_mutex_trylock(&other) == 0) {
    ++total;
    pthread_mutex_unlock(&other);
  }
  --inside;
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  alone();
  move_nodes(value);
  --inside;
  shown.store(value);
  pthread_rwlock_unlock(&lock);
}

}  // namespace

int main(int, char** words) {
  const int threads = std::atoi(words[1]);
  const long sections = std::atol(words[2]);
  for (long i = 0; i < 4; ++i) head = new node{1, head};
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i) {
    team.emplace_back([=] {
      for (long k = 0; k < sections; ++k) section(k + 1);
    });
  }
  for (std::thread& one : team) one.join();
  const long wanted = threads * sections;
  long nodes = 0;
  for (const node* at = head; at != nullptr; at = at->next) ++nodes;
  const bool right =
      met == 0 && in_inner == wanted && total == wanted && nodes == 4 + wanted - threads * (sections / 3);
  if (right)
    std::puts("all right");
  else
    std::printf("met %ld, inner %ld, other %ld of %ld, nodes %ld\n", met, in_inner, total, wanted, nodes);
  return right ? 0 : 1;
}
