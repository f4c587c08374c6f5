// SPDX-License-Identifier: Apache-2.0
// Starts a program under the preloaded library, waits for it, and says what its lock sites counted. These are
// pthread's, and the named ones where it links txsync.
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

namespace txsync::inline TXSYNC_BACKEND::launch {

struct options {
  std::vector<std::string> command;  ///< the program, as a shell finds it, and its arguments
  policy::policy_set policies;
  bool preload = true;       ///< false: the program runs as it is, and is only timed
  std::string library;       ///< the preloaded library; empty: the one that belongs to this txsync
  bool check_order = false;  ///< notice locks that are taken in both orders; costs time at each lock
  /// So much waiting of a thread at a site gets one call chain; 0: no chains.
  std::uint64_t ns_per_chain = 0;
  std::optional<counted_event> sampled = {};  ///< an event that is sampled in the program and all that it starts
  bool events = false;  ///< keep single waits and holds; each acquisition is then looked at, which costs time
  /// Afterwards the program's process group gets SIGTERM, and SIGKILL two seconds later.
  std::optional<double> limit_seconds;
  /// The program writes into result::output and reads `input`, in a process group of its own; else it has this
  /// process' standard files. Of the output the last `capture_bytes` are kept.
  bool capture = false;
  std::optional<std::string> input;  ///< a file, read from its beginning; none: there is nothing to read
  std::size_t capture_bytes = std::size_t{1} << 20;
  /// Processes that the program has started and that still run when it ends are ended, daemons included, before
  /// launch() comes back: SIGTERM, and SIGKILL two seconds later. Their time is not in `wall_s`.
  bool end_family = false;
  std::vector<std::pair<std::string, std::string>> environment;  ///< set for the program, over what is there
};

struct result {
  int wait_status = 0;  ///< as wait() has it
  int exit_status = 0;  ///< as a shell has it: 128 and the signal's number when a signal ended the program
  double wall_s = 0;
  double user_s = 0;  ///< CPU time of the program and the children that it waited for
  double system_s = 0;
  /// CPU time that other processes of the machine had meanwhile, daemons that the program left included; 0 where the
  /// system does not say. In steps of 10 ms.
  double others_s = 0;
  std::string output;  ///< captured: both outputs in the order in which they were written
  bool output_cut = false;
  std::vector<observe::site_record> sites;  ///< at which something happened, those waited for longest first
  std::vector<blame> wait_chains;           ///< who waited, those that waited longest first
  std::vector<blame> hold_chains;           ///< who held what others waited for, likewise
  std::vector<lock_event> events;           ///< by their starts
  std::uint64_t events_left_out = 0;
  std::optional<code_samples> samples = {};  ///< of options::sampled
  std::vector<std::string> notices;          ///< what the program did wrong with its locks, one sentence each
  /// The sites of locks that a thread with a real-time priority waited for, and that ignore priorities. In the notices,
  /// too.
  std::vector<std::string> priority_ignored_at;
  /// Why programs that the program started cannot have loaded the library. In the remarks, too.
  std::vector<std::string> without_library;
  std::vector<std::string> remarks;    ///< what was not counted and why, one sentence each
  std::uint32_t processes = 0;         ///< that took the library, children included
  std::uint32_t threads = 0;           ///< that took locks, at most so many at a time (later ones go on for ended ones)
  std::uint32_t threads_left_out = 0;  ///< beyond those, for which there was no room
  bool threads_unknown = false;        ///< some could not count, and nobody knows how many
  bool timed_out = false;
  bool read_in_vain = false;  ///< captured without an input: it read its standard input all the same
  int interrupted =
      0;  ///< the signal that this process got for the program (SIGINT, SIGTERM, SIGHUP, SIGQUIT); 0: none
};

/// Starts programs one after the other, and keeps what it learns about their files, so that the second start of a
/// program costs a few ms. One thread at a time; it may use other threads meanwhile.
class launcher {
 public:
  launcher();
  ~launcher();
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  /// Comes back when the program has ended, however it did. SIGINT, SIGTERM, SIGHUP and SIGQUIT that come meanwhile are
  /// for the program. Throws cannot_start, and std::runtime_error when the system lacks room. Requires: a command.
  result launch(const options& what);

 private:
  struct memory;
  std::unique_ptr<memory> memory_;
};

/// One launch.
result launch(const options& what);

}  // namespace txsync::inline TXSYNC_BACKEND::launch
