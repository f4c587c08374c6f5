// SPDX-License-Identifier: Apache-2.0
// The launcher's end of the file that a program under it counts in (channel/channel.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <txsync/observe/counters.hpp>

#include "channel/channel.hpp"
#include "launch/handles.hpp"
#include "observe/turns.hpp"
#include "policy/packed.hpp"
#include "preload/profile_area.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {

/// A new channel in a folder of its own: in /dev/shm, else in $TMPDIR or /tmp. Gone at the end of its life, whoever
/// still counts there. Its name has 128 random bits in a folder that others cannot list. So whoever is told the name by
/// the environment can open it, as the program does after it has become another user, and strangers cannot. Others than
/// root cannot become other users; then the rights of folder and file are the user's alone. What launchers have left
/// that were killed is removed first.
class channel_file {
 public:
  struct contents {
    policy::packed everywhere;   ///< says all
    bool is_one_policy = false;  ///< no site has another one
    bool check_order = false;
    std::uint64_t ns_per_chain = 0;  ///< channel::ns_per_chain; 0: no chains
    bool events = false;
  };
  /// Throws std::runtime_error when no place has room for it.
  explicit channel_file(const contents& what);
  ~channel_file();
  channel_file(const channel_file&) = delete;
  channel_file& operator=(const channel_file&) = delete;

  const std::string& path() const noexcept { return path_; }
  channel::head& head() const noexcept { return *head_; }

  /// Tells the program's processes that somebody answers.
  void say_alive() const noexcept;
  /// Nobody answers any more: who has asked, or asks from now on, goes on at once.
  void say_gone() const noexcept;

  struct counts {
    std::vector<observe::site_totals> totals;                   ///< of site i at [i - 1]
    std::vector<std::vector<observe::thread_turns>> by_thread;  ///< likewise; of the threads that were at the site
    std::uint32_t threads = 0;                                  ///< that counted, at most so many at a time
  };
  /// What all processes have counted. The program was `process`, and ended at `ended_at` in machine::cycles(): its
  /// unfinished waits count up to then, those of its other processes up to their own exit, or up to now.
  counts read_counts(std::uint32_t sites, int process, std::uint64_t ended_at) const;

  /// What was written there; null where that part is not in the file.
  std::unique_ptr<preload::chain_area> read_chains() const;
  std::unique_ptr<preload::event_area> read_events() const;

  /// The blocks in use.
  std::uint32_t blocks() const noexcept;

 private:
  bool make_in(const std::string& parent, const contents& what);
  bool make_room(const contents& what, std::uint64_t head_bytes);
  template <class Area>
  std::unique_ptr<Area> read_area(std::uint64_t begin) const;
  bool open_in(const std::string& folder);
  void remove() noexcept;
  std::uint64_t end_of_waits(std::uint32_t block, int process, std::uint64_t ended_at) const noexcept;

  std::string folder_;
  std::string path_;
  descriptor file_;
  channel::head* head_ = nullptr;
  // As they were made: what the program writes into the file is not relied upon.
  std::uint32_t block_limit_ = 0;
  std::uint64_t block_bytes_ = 0;
  std::uint64_t first_block_ = 0;
  std::uint64_t chains_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace txsync::inline TXSYNC_BACKEND::launch
