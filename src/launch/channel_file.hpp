// SPDX-License-Identifier: Apache-2.0
// The launcher's end of the file that a program under it counts in (channel/channel.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <txsync/observe/counters.hpp>

#include "base/descriptor.hpp"
#include "channel/channel.hpp"
#include "observe/turns.hpp"
#include "policy/packed.hpp"
#include "preload/profile_area.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// A new channel in a folder of its own: in /dev/shm, else in $TMPDIR or /tmp. It is removed when this object ends,
/// even if processes still count there. Its name has 128 random bits, in a folder that others cannot list. A process
/// that gets the name from the environment can open it, as the program does after it has become another user. Strangers
/// cannot. Only root can become another user; otherwise folder and file are accessible to the user alone. Folders that
/// killed launchers have left are removed first.
class channel_file {
 public:
  struct contents {
    policy::packed everywhere;   ///< says everything
    bool is_one_policy = false;  ///< no site has another one
    bool check_order = false;
    std::uint64_t ns_per_chain = 0;  ///< channel::head::ns_per_chain; 0: no chains
    bool events = false;
  };
  /// Throws std::runtime_error if no folder has room for it.
  explicit channel_file(const contents& content);
  ~channel_file();
  channel_file(const channel_file&) = delete;
  channel_file& operator=(const channel_file&) = delete;

  const std::string& path() const noexcept { return path_; }
  channel::head& head() const noexcept { return *head_; }

  /// Shows the program's processes that the launcher answers.
  void mark_alive() const noexcept;
  /// The launcher answers no more: processes that have asked, or ask from now on, go on at once.
  void mark_gone() const noexcept;

  struct counts {
    std::vector<observe::site_totals> totals;                   ///< of site i at [i - 1]
    std::vector<std::vector<observe::thread_turns>> by_thread;  ///< likewise; only threads that were at the site
    std::uint32_t threads = 0;                                  ///< that counted: the greatest number at one time
  };
  /// What all processes have counted. The program was `process`, and ended at `ended_at` in machine::cycles(). Its
  /// unfinished waits count up to then. Those of its other processes count up to their own exit, or up to now.
  counts read_counts(std::uint32_t sites, int process, std::uint64_t ended_at) const;

  /// What was written there; null if that part is not in the file.
  std::unique_ptr<preload::chain_area> read_chains() const;
  std::unique_ptr<preload::event_area> read_events() const;

  /// The blocks in use.
  std::uint32_t blocks() const noexcept;

 private:
  bool make_in(const std::string& parent, const contents& content);
  bool make_room(const contents& content, std::uint64_t head_bytes);
  template <class Area>
  std::unique_ptr<Area> read_area(std::uint64_t begin) const;
  bool open_in(const std::string& folder);
  void remove() noexcept;
  std::uint64_t end_of_waits(std::uint32_t block, int process, std::uint64_t ended_at) const noexcept;

  std::string folder_;
  std::string path_;
  base::descriptor file_;
  channel::head* head_ = nullptr;
  // As they were made: the launcher does not rely on what the program writes into the file.
  std::uint32_t block_limit_ = 0;
  std::uint64_t block_bytes_ = 0;
  std::uint64_t first_block_ = 0;
  std::uint64_t chains_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
