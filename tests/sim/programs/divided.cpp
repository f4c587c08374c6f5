// SPDX-License-Identifier: Apache-2.0
// divided THREADS BLOCKS ALGORITHM: short blocks on one map, and long ones on another, which are not tried in hardware.
// Each 64th block moves an amount from one map to the other. Both maps lie in the heap that dmp divides. Prints which
// paths the blocks took, and fails if an amount was lost.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <txsync/tm.hpp>

namespace {

namespace stm = txsync::tm;
using map = stm::hash_map<unsigned, long>;

constexpr unsigned keys = 64;
constexpr long first_amount = 100;

constinit stm::block set_up{"divided.set_up", {.hardware_attempts = 0}};
constinit stm::block set_up_long{"divided.set_up_long", {.hardware_attempts = 0, .memory_class = 1}};
constinit stm::block move{"divided.move"};
constinit stm::block scan{"divided.scan", {.hardware_attempts = 0, .memory_class = 1}};
constinit stm::block across{"divided.across"};

struct maps {
  stm::in_heap<map> brief;
  stm::in_heap<map> lengthy{stm::memory_class{1}};

  maps() {
    for (unsigned key = 0; key < keys; ++key) {
      stm::atomically(set_up, [&](auto& tx) { brief->insert(tx, key, first_amount); });
      stm::atomically(set_up_long, [&](auto& tx) { lengthy->insert(tx, key, first_amount); });
    }
  }
  long sum() const {
    return stm::atomically(scan, [&](auto& tx) {
      long all = 0;
      for (unsigned key = 0; key < keys; ++key) all += *brief->find(tx, key) + *lengthy->find(tx, key);
      return all;
    });
  }
};

template <class Transaction>
void add(Transaction& tx, map& to, unsigned key, long amount) {
  stm::var<long>& place = *to.place_of(tx, key % keys);
  tx.write(place, tx.read(place) + amount);
}

void work(maps& all, unsigned thread, unsigned blocks) {
  unsigned seed = thread + 1;
  for (unsigned n = 1; n <= blocks; ++n) {
    seed = seed * 1'664'525 + 1'013'904'223;
    const unsigned from = seed >> 8;
    const unsigned to = seed >> 20;
    if (n % 64 == 0) {
      stm::atomically(across, [&](auto& tx) {
        add(tx, *all.brief, from, -1);
        add(tx, *all.lengthy, to, 1);
      });
    } else if (n % 8 == 0) {
      stm::atomically(scan, [&](auto& tx) {
        long most = 0;
        for (unsigned key = 0; key < keys; ++key) most = std::max(most, *all.lengthy->find(tx, key));
        add(tx, *all.lengthy, from, -most);
        add(tx, *all.lengthy, to, most);
      });
    } else {
      stm::atomically(move, [&](auto& tx) {
        add(tx, *all.brief, from, -1);
        add(tx, *all.brief, to, 1);
      });
    }
  }
}

void print(stm::block& where) {
  const stm::block_totals seen = stm::totals(where);
  std::printf("%s %llu commits, %llu in hardware, %llu alone\n", where.name(),
              static_cast<unsigned long long>(seen.commits), static_cast<unsigned long long>(seen.hardware),
              static_cast<unsigned long long>(seen.alone));
}

}  // namespace

int main(int count, char** words) {
  if (count != 4 || !stm::use_algorithm(words[3])) return 2;
  const auto threads = static_cast<unsigned>(std::atoi(words[1]));
  const auto blocks = static_cast<unsigned>(std::atoi(words[2]));
  maps all;
  {
    std::vector<std::jthread> running;
    for (unsigned i = 0; i < threads; ++i) running.emplace_back([&, i] { work(all, i, blocks); });
  }
  const bool is_whole = all.sum() == 2 * keys * first_amount;
  for (stm::block* const one : {&move, &scan, &across}) print(*one);
  const stm::heap_totals heap = stm::heap_now();
  std::printf("heap %zu of %zu bytes\n", heap.used_bytes, heap.max_bytes);
  return is_whole && stm::is_in_heap(all.brief.get()) ? 0 : 1;
}
