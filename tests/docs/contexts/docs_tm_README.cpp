// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <mutex>
#include <vector>
//@ #include <txsync/tm.hpp>

//@ struct account {

namespace restarts {
constinit stm::block report{"report"};
std::mutex log_mutex;
std::vector<account> accounts(2);
void log(const std::vector<long>&) {}
void run() {
  //@ stm::atomically(report, [&](auto& tx) {            // WRONG
}
}  // namespace restarts

namespace objects {
struct node {
  explicit node(int given) : key(given) {}
  int key;
};
constinit stm::block replace{"replace"};
void run(node* old, int key) {
  stm::atomically(replace, [&](auto& tx) {
    //@ auto* const fresh = stm::make<node>(tx, key);
    (void)fresh;
  });
}
}  // namespace objects

namespace waiting {
constinit stm::block take{"take"};
stm::var<int> full{0};
stm::var<int> value{0};
int run() {
  //@ const int got = stm::atomically(take, [&](auto& tx) {
  return got;
}
}  // namespace waiting

namespace waiting_until {
constinit stm::block take{"take"};
stm::var<int> full{0};
bool run(std::chrono::steady_clock::time_point deadline) {
  //@ const bool came = stm::atomically(take, [&](auto& tx) {
  return came;
}
}  // namespace waiting_until

namespace output {
constinit stm::block pay{"pay"};
void run(account& account, long left, long amount) {
  stm::atomically(pay, [&](auto& tx) {
    //@ tx.write(account.balance, left);
  });
}
}  // namespace output

namespace irrevocable {
//@ constinit stm::block report{"bank.report", {.irrevocable = true}};
}
