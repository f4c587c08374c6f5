// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of a lock's life, and its copy in the child of a fork.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <txsync/machine/memory.hpp>

#include "harness/guarded.hpp"
#include "harness/promises.hpp"
#include "scenarios/exclusion.hpp"

namespace conformance {

/// Where objects come from. Freed memory that is touched: AddressSanitizer sees it.
struct from_heap {
  template <class T>
  static T* make() {
    return new T;
  }
  template <class T>
  static void destroy(T* object) {
    delete object;
  }
};

/// Pages of their own, gone when the object is: a touch afterwards ends the program.
struct from_pages {
  template <class T>
  static T* make() {
    void* const pages = txsync::machine::map_pages(sizeof(T));
    return pages == nullptr ? nullptr : new (pages) T;
  }
  template <class T>
  static void destroy(T* object) {
    object->~T();
    txsync::machine::unmap_pages(object, sizeof(T));
  }
};

/// A counter of references inside the object, guarded by the object's own lock. The thread that drops the last one
/// destroys the object, while the previous thread may still be on its way out of unlock().
template <class Lock, class Memory>
violation last_one_destroys(unsigned threads, unsigned objects, std::chrono::milliseconds patience = usual_patience) {
  struct counted {
    Lock lock;
    unsigned references = 0;
  };
  auto all = std::make_shared<std::vector<counted*>>(objects);
  for (counted*& one : *all) {
    one = Memory::template make<counted>();
    if (one == nullptr) return "no memory";
    one->references = threads;
  }
  const auto reached = std::make_shared<std::atomic<unsigned>>(0);
  return run_team(
      threads,
      [=](seat& me) {
        for (unsigned i = 0; i < objects; ++i) {
          if (i % 16 == 0) {
            // Together again: threads that go one behind the other would never meet at an object.
            ++*reached;
            if (!me.await("the other threads", [&] { return *reached >= (i / 16 + 1) * threads; })) return;
          }
          counted* const one = (*all)[i];
          holder<Lock> hold(one->lock);
          me.at("lock() of an object that is about to go");
          hold.lock();
          const bool last = --one->references == 0;
          hold.unlock();
          if (last) Memory::destroy(one);
          me.tick();
        }
      },
      patience);
}

/// An unlocked lock can be destroyed and made again at the same place as often as one likes.
template <class Lock>
violation lives_again_in_place(unsigned times) {
  alignas(Lock) std::array<unsigned char, sizeof(Lock)> place;
  for (unsigned i = 0; i < times; ++i) {
    place.fill(static_cast<unsigned char>(i));
    Lock* const lock = new (place.data()) Lock;
    holder<Lock> hold(*lock);
    if (!try_free_lock(hold)) return "a new lock is not free";
    hold.unlock();
    hold.lock();
    hold.unlock();
    lock->~Lock();
  }
  return {};
}

/// Memory of zero bytes, and what a lock there guards.
struct zeroed {
  explicit zeroed(std::size_t count) : bytes(count), pages(txsync::machine::map_pages(count)) {}
  ~zeroed() { txsync::machine::unmap_pages(pages, bytes); }
  zeroed(const zeroed&) = delete;
  zeroed& operator=(const zeroed&) = delete;
  const std::size_t bytes;
  void* const pages;
  guarded<plain_field> data;
};

template <class Lock>
void sections_in_zero_bytes(seat& me, zeroed& memory, unsigned sections) {
  holder<Lock> mine(*static_cast<Lock*>(memory.pages));
  for (unsigned round = 0; round < sections; ++round) {
    me.at("lock() of zero bytes");
    mine.lock();
    memory.data.update(me, inside::yield, round);
    mine.unlock();
    me.tick();
  }
}

inline violation run_in_zero_bytes(const std::shared_ptr<zeroed>& memory, void (*thread)(seat&, zeroed&, unsigned),
                                   unsigned threads, unsigned sections) {
  violation found = run_team(threads, [=](seat& me) { thread(me, *memory, sections); });
  return found.empty() ? memory->data.count_is(long{threads} * sections) : found;
}

/// Zeroed memory, never constructed, is a lock that works.
template <class Lock>
violation zero_bytes_are_a_lock(unsigned threads, unsigned sections) {
  const auto memory = std::make_shared<zeroed>(sizeof(Lock));
  holder<Lock> hold(*static_cast<Lock*>(memory->pages));
  if (!try_free_lock(hold)) return "try_lock() failed on zero bytes";
  hold.unlock();
  return run_in_zero_bytes(memory, sections_in_zero_bytes<Lock>, threads, sections);
}

/// The child of a fork gets a lock that works: one that was used before, held by nobody.
template <class Lock>
violation works_after_fork(unsigned threads, unsigned sections) {
  const auto shared = std::make_shared<guarded_by<Lock>>();
  const auto use = [=](unsigned from) -> violation {
    violation found = run_team(threads, [=](seat& me) {
      holder<Lock> hold(shared->lock);
      for (unsigned round = 0; round < sections; ++round) {
        me.at("lock() around a fork");
        hold.lock();
        shared->data.update(me, inside::yield, round);
        hold.unlock();
        me.tick();
      }
    });
    return found.empty() ? shared->data.count_is(long{threads} * sections * from) : found;
  };
  if (violation found = use(1); !found.empty()) return found;
  const pid_t child = fork();
  if (child == 0) _exit(use(2).empty() ? 0 : 1);
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return "no child";
  if (status != 0) return "in the child of a fork the lock does not work";
  return use(2);
}

}  // namespace conformance
