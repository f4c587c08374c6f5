// SPDX-License-Identifier: Apache-2.0
// Starts a program under the preloaded library, waits for it, and returns what its lock sites counted. These are the
// sites of pthread's locks, and the named ones if it links txsync.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/blame.hpp"
#include "launch/code_samples.hpp"
#include "launch/counted_event.hpp"
#include "launch/executable.hpp"  // cannot_start
#include "observe/document/document.hpp"
#include "policy/policy.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

struct options {
  std::vector<std::string> command;  ///< the program, as a shell would find it, and its arguments
  policy::policy_set policies;
  bool preload = true;       ///< false: the program runs unchanged, and is only timed
  std::string library;       ///< the preloaded library; empty: the one that belongs to this txsync
  bool check_order = false;  ///< check the lock order; costs time at each lock
  /// One call chain is taken for so much waiting of a thread at a site; 0: no chains.
  std::uint64_t ns_per_chain = 0;
  std::optional<counted_event> sampled = {};  ///< an event to sample in the program and in everything that it starts
  bool events = false;                        ///< keep single waits and holds; costs time at each acquisition
  /// After so long, the program's process group gets SIGTERM, and SIGKILL two seconds later.
  std::optional<double> limit_seconds;
  /// The program writes into result::output and reads `input`, in a process group of its own. Otherwise it has this
  /// process' standard files. The last `capture_bytes` of the output are kept.
  bool capture = false;
  std::optional<std::string> input;  ///< a file, read from its beginning; none: there is nothing to read
  std::size_t capture_bytes = std::size_t{1} << 20;
  /// When the program ends, the processes that it has started and that still run are ended, daemons included, before
  /// launch() returns. They get SIGTERM, and SIGKILL two seconds later. Their time is not in `wall_s`.
  bool end_family = false;
  std::vector<std::pair<std::string, std::string>> environment;  ///< set for the program, on top of this process'
};

struct result {
  int wait_status = 0;  ///< as wait() returns it
  int exit_status = 0;  ///< as in a shell: 128 plus the signal's number if a signal ended the program
  double wall_s = 0;
  double user_s = 0;  ///< CPU time of the program and the children that it waited for
  double system_s = 0;
  /// CPU time that other processes of the machine used meanwhile, including daemons that the program left. 0 if the
  /// system does not say. In steps of 10 ms.
  double others_s = 0;
  std::string output;  ///< captured: both outputs in the order in which they were written
  bool output_cut = false;
  std::vector<observe::site_record> sites;  ///< at which something happened, the longest waits first
  std::vector<blame> wait_chains;           ///< who waited, the longest waits first
  std::vector<blame> hold_chains;           ///< who held what others waited for, likewise
  std::vector<lock_event> events;           ///< by their start times
  std::uint64_t events_left_out = 0;
  std::optional<code_samples> samples = {};  ///< for options::sampled
  std::vector<std::string> diagnostics;      ///< what the program did wrong with its locks, one sentence each
  /// Sites whose locks ignore priorities, and that a thread with a real-time priority waited for. They are in the
  /// diagnostics, too.
  std::vector<std::string> priority_ignored_at;
  /// Why programs that the program started cannot have loaded the library. In the remarks, too.
  std::vector<std::string> without_library;
  std::string without_waits;           ///< which waits nobody counted (wait_remarks.hpp); a remark, too
  std::vector<std::string> remarks;    ///< what was not counted and why, one sentence each
  std::uint32_t processes = 0;         ///< that loaded the library, children included
  std::uint32_t threads = 0;           ///< that took locks: most at one time (later ones take the place of ended ones)
  std::uint32_t threads_left_out = 0;  ///< beyond those, for which there was no room
  bool threads_unknown = false;        ///< some could not count, and their number is unknown
  bool timed_out = false;
  bool read_in_vain = false;  ///< captured without an input, but it read its standard input
  /// The signal that this process got for the program (SIGINT, SIGTERM, SIGHUP, SIGQUIT); 0: none.
  int interrupted = 0;
};

/// Starts programs one after the other. It keeps what it learns about their files, so the second start of a program
/// costs a few ms. For one thread at a time; it may use other threads itself.
class launcher {
 public:
  launcher();
  ~launcher();
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  /// Returns when the program has ended, in whatever way. SIGINT, SIGTERM, SIGHUP and SIGQUIT that arrive before go to
  /// the program. Throws cannot_start, and std::runtime_error if the system lacks room. Requires: a command.
  result launch(const options& settings);

 private:
  struct memory;
  std::unique_ptr<memory> memory_;
};

/// One launch.
result launch(const options& settings);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
