// SPDX-License-Identifier: Apache-2.0
// A program's pthread locks under the preloaded library if their waiters run the program's own section ahead, in
// always-abort attempts. There, locks within the section are passed by. The unlock of the lock that is waited for ends
// the attempt.
#include "explorations/exploration.hpp"
#include "explorations/program_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using preload::algorithm;

/// Sections of an outer lock, each with one of an inner lock. The last thread takes only the inner lock. Nodes are
/// moved from the head of a list to its end; meanwhile their links are no addresses.
template <algorithm under, unsigned threads, unsigned sections>
struct nested_test {
  struct node {
    node* next;
  };
  static constexpr unsigned length = 3;

  program_warming_mutex<under> outer;
  program_warming_mutex<under> inner;
  alignas(64) node nodes[length] = {};
  node* head = nullptr;
  alignas(64) std::uint64_t count = 0;
  alignas(64) std::uint64_t inner_count = 0;
  std::uint32_t inside = 0;
  std::uint32_t inside_inner = 0;
  bool met = false;

  nested_test() {
    for (node& one : nodes) {
      one.next = head;
      head = &one;
    }
  }

  void move_first() {
    node* const moved = head;
    head = moved->next;
    moved->next = reinterpret_cast<node*>(1);
    node** at = &head;
    while (*at != nullptr) at = &(*at)->next;
    moved->next = nullptr;
    *at = moved;
  }
  void in_inner() {
    inner.lock();
    if (inside_inner++ != 0) met = true;
    ++inner_count;
    --inside_inner;
    inner.unlock();
  }

  static void body(nested_test& me, unsigned index) {
    for (unsigned i = 0; i < sections; ++i) {
      if (index + 1 == threads) {
        me.in_inner();
        continue;
      }
      me.outer.lock();
      if (me.inside++ != 0) me.met = true;
      ++me.count;
      me.in_inner();
      me.move_first();
      --me.inside;
      me.outer.unlock();
    }
  }

  const char* check() const {
    if (met) return "two threads were in a section";
    if (count != std::uint64_t{threads - 1} * sections) return "an update under the outer lock was lost";
    if (inner_count != std::uint64_t{threads} * sections) return "an update under the inner lock was lost";
    unsigned seen = 0;
    for (const node* at = head; at != nullptr && seen <= length; at = at->next) ++seen;
    return seen == length ? nullptr : "a node was lost";
  }
};

template <algorithm under, unsigned threads, unsigned sections>
constexpr exploration test_of(const char* name, const char* summary) {
  return {name, summary, verdict::right, run_anew<nested_test<under, threads, sections>, threads>};
}

/// In the child of a fork: a waiter of the parent is counted as ready, and the last owner was a thread of the parent.
class forked_mutex : public program_warming_mutex<algorithm::priority_tatas> {
 public:
  forked_mutex() noexcept {
    constexpr std::uint16_t parent = 7;
    preload::mutex_state& state = preload::state_of(native_handle());
    void* const ready = reinterpret_cast<std::byte*>(&state.word.priority) + sizeof(std::uint32_t);
    *static_cast<volatile std::uint32_t*>(ready) = 1;
    state.mark.store(parent);
  }
};

constexpr exploration table[] = {
    test_of<algorithm::fifo_ticket, 3, 2>("pthread_fifo_ticket-ahead", "a program's mutexes that run ahead, in order"),
    test_of<algorithm::ticket, 3, 1>("pthread_ticket-ahead", "the same with a limiter"),
    test_of<algorithm::tatas, 3, 2>("pthread_tatas-ahead", "the same, tatas"),
    test_of<algorithm::priority_tatas, 3, 2>("pthread_priority_tatas-ahead", "the same; who has run ahead goes first"),
    {"pthread_priority_tatas-forked", "the same in the child of a fork", verdict::right,
     exclusion_test<trying<forked_mutex>, 2, 3>::run},
    test_of<algorithm::futex, 3, 2>("pthread_futex-ahead", "the same, the futex mutex"),
};

}  // namespace

std::span<const exploration> mutex_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
