// SPDX-License-Identifier: Apache-2.0
// Random programs over the pthread interface, each derived from a seed. A program is a list of operations. Each
// operation has participants, and each thread runs its operations in the order of the list. The earliest unfinished
// operation can always go on. A thread that waits for others holds no lock that anybody needs, and locks that are held
// together are taken by rank. So no program hangs, and what it counts is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace generated {

constexpr int max_threads = 8;
constexpr int max_processes = 3;
/// Of those that are not drawn each by a stream of its own.
constexpr int max_early_operations = 14;
constexpr int mutexes = 4;
constexpr int rwlocks = 2;
constexpr int spins = 2;

enum class mutex_kind { normal, recursive, error_checking, adaptive };
/// How a lock is taken. `poll`: timed by a millisecond, again and again. `old`: by its name of before glibc 2.34.
enum class how { lock, attempt, timed, clock, poll, old, old_attempt };

enum class deed {
  sections,     ///< each takes some mutexes by rank, some times, and counts under them
  reads,        ///< each reads and writes under a reader-writer lock, some times
  spin,         ///< each counts under a spin lock
  tokens,       ///< half make tokens, half take them; conditions, bounded
  turns,        ///< two wait for each other on one condition, with deadlines
  barrier,      ///< all meet, some times
  answers,      ///< one: what mutexes answer to their holder and to strangers
  expire,       ///< one: deadlines that pass, of a mutex and of a condition
  patience,     ///< one asks with a deadline of seconds for what the others take again and again
  cancel,       ///< one: threads that are cancelled while they wait
  coroutine,    ///< each counts under mutexes, on a stack whose bottom nobody can unwind
  plugin,       ///< one: opens, calls and closes a library with locks of its own
  fork_inside,  ///< one: forks while others run, the child counts under mutexes
  start,        ///< one: starts threads that count under a mutex
  rw_expire,    ///< one: deadlines of a reader-writer lock that pass for a thread that it starts, then some that do not
  executed,     ///< one: starts another program, which counts under a mutex together with it
  replaced,     ///< as executed; first the other program has threads that hold locks and wait, and becomes the next one
  c11,          ///< one: threads, mutexes and conditions of C11
  renewed,      ///< one: objects of all kinds at one address, one after the other
  robust,       ///< one: a robust mutex whose owners end while they hold it
  inherits,     ///< one: threads that count under a priority-inheriting mutex, and wait on a condition with it
  clocks,       ///< one: threads that make and take tokens; conditions of either clock, waits by both
  rw_holders,   ///< one: holders of a reader-writer lock who ask for it again; writers who are preferred
  atfork,       ///< one: forks with handlers that take the locks of other threads, and give them up on both sides
  cancel_points,  ///< one: threads that are cancelled where they can be, and are not where they cannot
  plugins,        ///< one: two libraries with locks of their own, in turns at the same addresses, or both at once
  switched,       ///< one: threads whose coroutines switch within sections, and go on in other threads between them
};
constexpr int deeds = static_cast<int>(deed::switched) + 1;
/// Deeds from here on came later. They are drawn apart, so that an older seed keeps the operations that it had.
constexpr int first_later_deed = static_cast<int>(deed::rw_expire);
constexpr int max_later_operations = 2;
/// And from here on later still; one of them in three programs.
constexpr int first_latest_deed = static_cast<int>(deed::robust);
constexpr int max_latest_operations = 1;
/// And from here on each by a stream of its own, in one of some programs: a further deed changes no other.
constexpr int first_own_deed = static_cast<int>(deed::clocks);
constexpr int own_deed_one_in = 8;
constexpr int max_operations = max_early_operations + deeds - first_own_deed;
/// Sections of each side, for each of an operation's `times`.
constexpr int executed_rounds = 20;
constexpr int c11_rounds = 20;
constexpr int renewed_rounds = 10;
constexpr int inherits_threads = 3;
constexpr int inherits_rounds = 10;
constexpr int ways = static_cast<int>(how::old_attempt) + 1;
/// By the number of the deed or way.
extern const char* const deed_names[deeds];
extern const char* const way_names[ways];

/// Operations that are left out, a bit each: deeds, then ways; and whether what takes long is done less often.
using omitted = std::uint64_t;
constexpr omitted brief = omitted{1} << 63;
static_assert(deeds + ways < 63);
constexpr omitted bit_of(deed what) { return omitted{1} << static_cast<int>(what); }
constexpr omitted bit_of(how by) { return omitted{1} << (deeds + static_cast<int>(by)); }

struct operation {
  deed what = deed::sections;
  std::uint32_t threads = 0;  ///< a bit each
  std::uint32_t objects = 0;  ///< the mutexes, a bit each; or a number
  how by = how::lock;
  int times = 1;
  bool signal = false;  ///< one waiter is told, or all

  int participants() const { return __builtin_popcount(threads); }
  int index_of(int thread) const { return __builtin_popcount(threads & ((1u << thread) - 1)); }
};

/// How many owners a robust mutex loses: where `signal` says so, one more, after which it is not made consistent.
inline long robust_turns(const operation& one) { return one.times + (one.signal ? 1 : 0); }

/// How many threads make tokens, and how many take them.
inline int clocks_pairs(const operation& one) { return 1 + static_cast<int>(one.objects % 3); }

/// How often one of the two libraries is opened and used.
inline long plugins_visits(const operation& one) { return 2L + one.times; }

struct object {
  mutex_kind kind = mutex_kind::normal;
  bool static_initializer = false;
  bool shared = true;  ///< has the attribute for several processes
};

struct program {
  std::uint64_t seed = 0;
  omitted without = 0;
  int threads = 2;
  int processes = 1;
  bool executes = false;  ///< further processes are programs of their own, at other addresses
  /// POSIX leaves the behaviour undefined, and the C library allows it. Examples are locks without the attribute that
  /// several processes share, taken without long waits, and locks in the child of a process with threads.
  bool undefined = false;
  object mutex[mutexes];
  bool rwlock_shared = true;
  bool condition_shared = true;
  std::vector<operation> operations;

  int process_of(int thread) const { return thread % processes; }
};

program generate(std::uint64_t seed, omitted without);
std::string to_text(const program& made);

/// What has been counted when a program ends.
struct counts {
  long mutex[mutexes];
  long rwlock[rwlocks];
  long spin[spins];
  long operation[max_operations];
};
counts expected(const program& made);

/// Libraries with locks, and the program itself, to be started again.
struct environment {
  const char* plugins;  ///< three, separated by colons: plugin.cpp, then the two of plugin_pair.cpp
  const char* self;
  int memory;  ///< the descriptor of a state

  std::string plugin(int which) const;
};

struct state;
std::size_t state_bytes();
/// Runs the program's process 0, in the group that the caller has made, and ends with status 0 if it went right. What
/// went wrong stands at the beginning of the state otherwise.
[[noreturn]] void run_first(const program& made, state& shared, const environment& around);
[[noreturn]] void run_other(const program& made, state& shared, const environment& around, int process);

/// Runs body(argument) on `stack`. The bottom frame returns to an address that is not mapped, and has no unwind table.
void on_bare_stack(void (*body)(void*), void* argument, unsigned char* stack, std::size_t bytes);

}  // namespace generated
