// SPDX-License-Identifier: Apache-2.0
// Starts a simulated program's image (a static executable that contains the runtime) on a machine model, and collects
// what it reports.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/model.hpp"
#include "sim/protocol.hpp"

namespace txsync::sim {

/// The image could not be started, or the simulation could not continue. what() is one line.
struct image_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a thread does between two choices of the order systematic.
struct segment {
  unsigned thread = 0;
  std::uint64_t enabled = 0;  ///< the threads that could have gone on, a bit for each
  std::vector<segment_touch> touches = {};
  std::vector<segment_event> events = {};
};

struct image_request {
  std::string path;
  std::vector<std::string> arguments;
  machine_model model;
  std::uint64_t seed = 1;
  schedule_order order = schedule_order::virtual_time;
  bool store_buffers = false;  ///< stores of an exploring order wait until the order lets them out
  unsigned probes = 0;         ///< bits of `probe`, in exploring orders
  /// In exploring orders: the run is one schedule with about this many choices. 0: the program says where its schedules
  /// begin.
  std::uint64_t choices = 0;
  bool learns = false;       ///< in such a run: each access is a step, and image_result has shared_codes
  bool finds_races = false;  ///< in such a run: a data race is a fault
  /// Of earlier runs that learnt. In later ones, these instructions are steps.
  std::vector<std::uint64_t> shared_codes = {};
  bool counts_uses = false;  ///< in such a run: image_result has word_uses
  /// Of earlier runs that counted; for the order uniform_walk.
  std::vector<word_use> word_uses = {};
  /// In the order systematic: the choices, in the format of runtime/systematic.hpp. image_result has segments.
  std::vector<std::uint64_t> chosen = {};
  /// In exploring orders, of a program that explores itself: the name of the exploration of which this schedule is
  /// repeated.
  std::string repeats = {};
  std::uint64_t slack_cycles = 0;  ///< how far a thread may run ahead with accesses that concern no other
  bool uncharged_set_up = false;   ///< the set-up of workloads takes no time and leaves caches cold; faster
  bool oracle = false;             ///< checks the simulation itself; about 20 times slower
  std::uint64_t limit_us = 0;      ///< of virtual time, after which it ends and says where its threads are; 0: no limit
  std::uint64_t max_steps = 0;     ///< a longer run counts as a livelock; 0: no bound
  bool traces = false;             ///< report every step
  bool elides = false;             ///< the program's pthread mutexes are elided
  std::string locks = {};          ///< its pthread locks, in words of policy files; empty: the built-in policy
  /// The policies of its named sites, in the format of observe/simulated_policies.hpp. Empty: no policy.
  std::string sites = {};
  bool failure_is_a_result = false;   ///< a simulation that cannot continue is reported by image_result::failure
  bool runs_alone = false;            ///< it has no standard input, and its standard output is discarded
  bool keeps_error_output = false;    ///< it shares this process's standard error; image_result has no messages
  bool captures_output = false;       ///< its standard output goes into image_result's messages, too
  bool (*stop)() noexcept = nullptr;  ///< called ten times a second; true acts like a signal; may be null
};

/// Attempts that ended for one cause, at one line, because of two places in the code, with the calls that led there.
struct abort_entry : abort_record {
  call_chain own_calls;    ///< where the attempt was when it ended, innermost first; may be empty
  call_chain other_calls;  ///< where the thread was that ended it
};

/// A test that the image contains.
struct listed_test {
  std::string name;
  std::string expected;  ///< as in test_record
  std::string summary;
};

/// With what was at the address. 0 bytes: not known.
struct traced_step : trace_step {
  step_values values;
};

struct image_result {
  int status = 0;        ///< the program's own exit status
  int signal = 0;        ///< the signal that ended it, if a failure is a result
  std::string messages;  ///< its standard error; with captures_output, both outputs
  std::string failure;   ///< why the simulation could not continue (deadlock, livelock, ...); else empty
  std::map<std::string, std::uint64_t> records;  ///< those of one number (protocol.hpp)
  std::vector<abort_entry> aborts;               ///< most frequent first
  std::vector<abort_end> ends;
  std::vector<traced_step> steps;  ///< if traced: in the order of execution; of the last schedule
  std::vector<listed_test> tests;
  std::vector<std::uint64_t> shared_codes;  ///< of shared_instructions
  std::vector<word_use> word_uses;
  std::vector<segment> segments;
  std::vector<segment> awaited;  ///< what threads would do that still wait for a lock or a semaphore at the end

  /// The last line of `messages`; empty if there is none.
  std::string last_message() const;
  /// A signal has asked the image to end: `failure` says where its threads were.
  bool was_interrupted() const;
  /// The number with that name; 0 if there is none.
  std::uint64_t number(const std::string& name) const;
  /// The same for what the program itself has recorded: program_record, or a name of its own.
  std::uint64_t program_number(const std::string& name) const;
};

/// Runs the image to its end. Several threads may call this at once. The image's standard output is this process's.
/// Throws image_error if the image did not reach its end. If a signal that this process handles interrupts it, it ends
/// the image and throws as well.
image_result run_image(const image_request& request);

/// Replaces this process by the debugger gdb, in which the image runs until the simulation cannot continue, or ends. The
/// debugger has this process's standard input and output. Throws image_error if there is none.
[[noreturn]] void debug_image(const image_request& request);

/// Nothing if txsync-c++ of this version has built the program. Otherwise what is wrong with it, as a text that follows
/// its name.
std::string complaint_of_program(const std::string& path);

/// The image of this txsync with the name "workloads" or "explorations". It is in ../lib/txsync relative to the running
/// program, in the build tree and where installed. Throws image_error if this txsync has no simulated machine.
std::string image_file(const std::string& name);

}  // namespace txsync::sim
