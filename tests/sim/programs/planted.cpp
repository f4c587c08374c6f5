// SPDX-License-Identifier: Apache-2.0
// Five small programs, each with four faults: planted PROGRAM FAULT. Each fault needs an order of execution that is not
// the usual one. Without a fault the programs are right.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace {

enum class fault { none, race, use_after_free, double_free, overflow };
fault planted = fault::none;
bool has(fault which) { return planted == which; }

template <class First, class Second>
void both(First first, Second second) {
  std::thread one(first);
  std::thread other(second);
  one.join();
  other.join();
}

// ---- a queue of messages

struct message {
  int length;
  char text[8];
};
std::mutex queue_mutex;
std::condition_variable queue_changed;
std::deque<message*> queue;
int pushed = 0;

void push(int length) {
  auto* const made = new message{length, {}};
  {
    const std::lock_guard guard(queue_mutex);
    queue.push_back(made);
  }
  queue_changed.notify_one();
  if (has(fault::race)) ++pushed;                    // not locked
  if (has(fault::use_after_free)) made->length = 0;  // it may have been taken
}

void pop() {
  std::unique_lock lock(queue_mutex);
  queue_changed.wait(lock, [] { return !queue.empty(); });
  message* const taken = queue.front();
  queue.pop_front();
  const bool is_last = queue.empty();
  if (has(fault::race)) ++pushed;
  lock.unlock();
  if (has(fault::overflow)) taken->text[is_last ? 3 : sizeof(message)] = 'x';
  delete taken;
  if (has(fault::double_free) && !is_last) delete taken;
}

void messages() {
  both([] { push(1), push(2); }, [] { pop(), pop(); });
}

// ---- accounts

struct account {
  std::mutex mutex;
  int balance = 100;
};
std::atomic<account*> open_account;
int* history = nullptr;
std::atomic<int> entries{0};

void withdraw(int amount) {
  account* const mine = open_account.load();
  if (mine == nullptr) return;
  if (has(fault::race) && mine->balance < amount) return;  // looked at before the lock
  {
    const std::lock_guard guard(mine->mutex);
    if (mine->balance >= amount) mine->balance -= amount;
  }
  // Two entries fit. The third comes only if nobody saw that the history is full.
  if (has(fault::overflow)) {
    if (entries.load() < 2) history[entries++ + 1] = amount;
  } else if (const int entry = entries++; entry < 2) {
    history[entry] = amount;
  }
}

void close_account() {
  account* const mine = has(fault::double_free) ? open_account.load() : open_account.exchange(nullptr);
  delete mine;
  if (has(fault::double_free)) open_account.store(nullptr);
}

void accounts() {
  open_account = new account;
  history = new int[2]{};
  if (has(fault::use_after_free)) {
    both([] { withdraw(30); }, close_account);
  } else if (has(fault::double_free)) {
    both(close_account, close_account);
  } else {
    both([] { withdraw(30); }, [] { withdraw(80); });
    close_account();
  }
  delete[] history;
}

// ---- a cache

std::mutex cache_mutex;
std::map<int, std::string*> cache;
std::size_t hits = 0;

const std::string* find(int key) {
  const std::lock_guard guard(cache_mutex);
  const auto found = cache.find(key);
  return found != cache.end() ? found->second : nullptr;
}

void read_cached(int key) {
  if (has(fault::use_after_free)) {
    const std::string* const seen = find(key);  // the lock is given up, and the string is used
    if (seen != nullptr && seen->empty()) std::abort();
    return;
  }
  const std::lock_guard guard(cache_mutex);
  const auto found = cache.find(key);
  if (found != cache.end() && found->second->empty()) std::abort();
}

void drop(int key) {
  std::string* dropped = nullptr;
  {
    const std::lock_guard guard(cache_mutex);
    if (const auto found = cache.find(key); found != cache.end()) {
      dropped = found->second;
      if (!has(fault::double_free)) cache.erase(found);
    }
  }
  delete dropped;
  if (!has(fault::double_free)) return;
  const std::lock_guard guard(cache_mutex);
  cache.erase(key);
}

void count_hit(char* bytes) {
  if (has(fault::race)) {
    ++hits;
  } else {
    const std::lock_guard guard(cache_mutex);
    ++hits;
  }
  // The second hit writes behind the block.
  const std::lock_guard guard(cache_mutex);
  if (has(fault::overflow)) bytes[8 * hits - 1 + (hits == 2 ? 1 : 0)] = 'x';
}

void caches() {
  cache[1] = new std::string("a string that is long enough to be on the heap");
  char* const bytes = new char[16]{};
  if (has(fault::double_free)) {
    both([] { drop(1); }, [] { drop(1); });
  } else {
    both([&] { read_cached(1), count_hit(bytes); }, [&] { drop(1), count_hit(bytes); });
  }
  delete[] bytes;
}

// ---- tasks

struct task {
  std::atomic<int> users{2};
  int result = 0;
  int steps[4] = {};
};

void leave(task* one) {
  if (has(fault::double_free)) {
    const int left = one->users.load() - 1;  // two steps
    one->users.store(left);
    if (left == 0) delete one;
    if (left == 1) {
      std::this_thread::yield();
      if (one->users.load() == 1) return;
      delete one;
    }
    return;
  }
  if (one->users.fetch_sub(1) == 1) delete one;
}

void work(task* one, int number) {
  if (has(fault::race)) one->result += number;
  static std::atomic<int> next{0};
  const int step = next++;
  one->steps[has(fault::overflow) && step == 1 && number == 1 ? 4 + 2 : step % 4] = number;
  leave(one);
  if (has(fault::use_after_free)) one->result = number;
}

void tasks() {
  auto* const one = new task;
  both([=] { work(one, 1); }, [=] { work(one, 2); });
}

// ---- a log

struct segment {
  char bytes[16];
  std::atomic<int> used{0};
};
std::atomic<segment*> open_segment;
int lines = 0;

void write_line(int bytes) {
  segment* const here = open_segment.load();
  if (here == nullptr) return;
  // Room is looked for and taken in two steps.
  const int at = has(fault::overflow) ? here->used.load() : here->used.fetch_add(bytes);
  if (at + bytes > 16) return;
  if (has(fault::overflow)) {
    std::this_thread::yield();
    for (int i = here->used.fetch_add(bytes); i < here->used; ++i) reinterpret_cast<char*>(here)[i * 2] = 'x';
    return;
  }
  for (int i = at; i < at + bytes; ++i) here->bytes[i] = 'x';
  if (has(fault::race)) ++lines;
}

void rotate() {
  segment* const old = has(fault::double_free) ? open_segment.load() : open_segment.exchange(nullptr);
  if (has(fault::use_after_free) || has(fault::double_free)) delete old;
  if (has(fault::double_free)) open_segment.store(nullptr);
}

void logs() {
  auto* const made = new segment;
  open_segment = made;
  if (has(fault::double_free)) {
    both(rotate, rotate);
  } else if (has(fault::use_after_free)) {
    both([] { write_line(4); }, rotate);
  } else {
    both([] { write_line(8); }, [] { write_line(8); });
    delete made;
  }
}

const std::map<std::string, void (*)()> programs = {
    {"messages", messages}, {"accounts", accounts}, {"caches", caches}, {"tasks", tasks}, {"logs", logs}};
const std::map<std::string, fault> faults = {{"none", fault::none},
                                             {"race", fault::race},
                                             {"use-after-free", fault::use_after_free},
                                             {"double-free", fault::double_free},
                                             {"overflow", fault::overflow}};

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  planted = faults.at(words[2]);
  programs.at(words[1])();
}
