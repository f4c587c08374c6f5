// SPDX-License-Identifier: Apache-2.0
// Starts a simulated program's image (a static executable with the runtime in it) on a machine model, and gathers what
// it tells.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/model.hpp"

namespace txsync::sim {

/// The image could not be started, or the simulation could not go on; what() is one line.
struct image_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// In the order of the runtime's.
enum class schedule_order : std::uint8_t { virtual_time, random, priorities, round_robin, delay_bounded };

/// What an exploration does besides ordering steps; the runtime's probes.hpp says what each is.
enum probe : unsigned {
  spurious_aborts = 1,
  tight_capacity = 2,
  weak_exchanges = 4,
  late_subscription = 8,
  spurious_wakes = 16
};

struct image_request {
  std::string path;
  std::vector<std::string> arguments;
  machine_model model;
  std::uint64_t seed = 1;
  schedule_order order = schedule_order::virtual_time;
  bool store_buffers = false;      ///< stores of an exploring order wait until the order lets them out
  unsigned probes = 0;             ///< bits of probe, in exploring orders
  std::uint64_t choices = 0;       ///< in exploring orders: the run is one schedule, with about so many choices; 0: the
                                   ///< program says where its schedules begin
  std::uint64_t slack_cycles = 0;  ///< how far a thread may run ahead with accesses that concern nobody else
  bool uncharged_set_up = false;   ///< what workloads set up takes no time and finds cold caches; faster
  bool oracle = false;             ///< check the simulation itself; about 20 times slower
  std::uint64_t limit_us = 0;      ///< of virtual time, after which it ends with where its threads are; 0: no limit
  std::uint64_t most_steps = 0;    ///< a longer run is taken for a livelock; 0: no bound
  bool traces = false;             ///< tell every step
  bool elides = false;             ///< the program's pthread mutexes are elided
  std::string locks = {};          ///< what its pthread locks are, in words of policy files; empty: the built-in policy
  std::string sites = {};  ///< what its named sites do, as observe/told_policies.hpp has it; empty: nothing is said
  bool failure_is_a_result = false;   ///< a simulation that cannot go on is told by image_result::failure
  bool runs_alone = false;            ///< nobody gives it a standard input, and its standard output is nobody's
  bool keeps_error_output = false;    ///< the program's standard error is this process'; image_result has no messages
  bool captures_output = false;       ///< its standard output stands among image_result's messages, too
  bool (*stop)() noexcept = nullptr;  ///< asked ten times a second: true is as a signal to this thread; may be null
};

/// In the order of the runtime's.
enum class data_kind : std::uint8_t { unknown, image, heap, mapped, stack, thread_local_data };

/// What lies at an address of the program's memory.
struct data_place {
  data_kind kind = data_kind::unknown;
  std::uint64_t whose =
      0;  ///< heap: the code that asked for it, 0 where that is not known; stack, thread-local: the thread
  std::uint64_t start = 0;   ///< of a block of the heap
  std::uint64_t bytes = 0;   ///< of that block
  std::uint64_t offset = 0;  ///< behind the start
};

/// How full what an attempt had no room in was.
struct occupancy {
  enum class what : std::uint8_t {
    written_ways,  ///< of a set of the L1, by lines that attempts have written
    read_ways,     ///< of a set that a read line has left: by lines that attempts have touched
    entries,       ///< of a table that the core's hardware threads share
    reads,         ///< lines that an attempt can read
  } of = what::written_ways;
  std::uint64_t set = 0;
  std::uint64_t own = 0;       ///< of the attempt
  std::uint64_t siblings = 0;  ///< of attempts of its core's other hardware threads
  std::uint64_t room = 0;      ///< ways, entries or lines; 0: not known
};

/// Attempts that ended for one cause, at one line, between two places in the code.
struct abort_entry {
  std::string cause;
  std::uint64_t count = 0;
  std::uint64_t own_code = 0;    ///< the access that brought the line into the attempt, or where it ended; 0: not known
  std::uint64_t other_code = 0;  ///< the access of the other thread that met it; 0: none
  std::uint64_t address = 0;     ///< of the line; 0: none
  std::uint64_t apart = 0;       ///< of `count`: met at bytes that the attempt is not known to have touched
  data_place own;                ///< of the first: what it had touched; unknown where `met` says it
  data_place met;                ///< and what was met
  occupancy crowd;
  std::vector<std::uint64_t> own_calls;    ///< where the attempt was when it ended, innermost first; may be empty
  std::vector<std::uint64_t> other_calls;  ///< and where the thread was that ended it
};

/// Where attempts were as they ended; estimated from some of the aborts.
struct abort_end {
  std::uint64_t code = 0;    ///< behind the instruction that the attempt came to
  std::uint64_t caller = 0;  ///< behind the call of that function; 0: not known
  std::uint64_t count = 0;   ///< aborts
};

/// What one thread did at one place, of a traced run.
struct trace_step {
  unsigned thread = 0;
  std::uint64_t code = 0;
  std::string what;  ///< "reads", "writes", "buffers", "drains", "begins", "commits", "sleeps", "wakes", or the cause
                     ///< of an abort
  std::uint64_t address = 0;
};

struct image_result {
  int status = 0;        ///< the program's own exit status
  int signal = 0;        ///< that ended it, where a failure is a result
  std::string messages;  ///< its standard error; with captures_output both outputs
  std::string failure;   ///< why the simulation could not go on (deadlock, livelock, ...); empty where it did
  std::map<std::string, std::uint64_t> records;
  std::vector<abort_entry> aborts;  ///< most frequent first
  std::vector<abort_end> ends;
  std::vector<trace_step> steps;  ///< in the order of execution, where it was traced; of the last schedule

  /// The last line of them; empty where there is none.
  std::string last_message() const;
  /// 0 where there is none of that name.
  std::uint64_t number(const std::string& name) const;
};

/// Runs the image to its end, in several threads at once where they ask for it; its standard output is this process'.
/// Throws image_error where it did not come to one. Interrupted by a signal that this process handles, it ends the
/// image and throws as well.
image_result run_image(const image_request& request);

/// Nothing when txsync-c++ of this version has built the program, otherwise what is wrong with it, to stand behind its
/// name.
std::string complaint_of_program(const std::string& path);

/// An image of this txsync by its name, "workloads" or "explorations": beside the running program where it was built,
/// ../lib/txsync where it is installed. Throws image_error when this txsync has no simulated machine.
std::string image_file(const std::string& name);

}  // namespace txsync::sim
