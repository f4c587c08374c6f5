// SPDX-License-Identifier: Apache-2.0
// The file that `txsync run` and the program under it share. It serves four purposes:
//  - The preloaded library asks for the site of a lock that it has not seen before.
//  - The linked library asks for the number of a named site.
//  - Both count in it.
//  - Both leave there what they noticed.
//
// The file outlives the program's processes. So kill -9, _exit and children lose only some commits of attempts
// (observe/commit_counts.hpp).
//
// Who writes what: the launcher makes the file, fills the header and the policies, and answers site requests. Every process
// of the program maps its head, and the blocks that it counts in. All zero beyond the header is valid. A program may
// link another build than the launcher's: both sides compare `version` and `block_layout`. No pointer is stored: a
// position in a program is a module and an offset in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

/// The environment variable that names the file.
inline constexpr const char* file_variable = "TXSYNC_CHANNEL";
/// The policy of pthread locks in a process that cannot open that file: policy::packed::word() in decimal.
inline constexpr const char* policy_variable = "TXSYNC_CHANNEL_POLICY";

/// A site as the locks hold it, in 12 bits; 0 is "not counted".
inline constexpr std::uint32_t max_sites = 4095;

/// One frame of a call chain: the address after the call, relative to where the module is loaded.
struct frame {
  std::uint64_t offset = 0;
  char module[248] = {};  ///< the path of the file, as the dynamic linker has it; empty if unknown
};

/// A call chain, the innermost frame first, without frames of the preloaded library itself. A site request may hold
/// something else in one (asked_by).
struct frame_list {
  static constexpr unsigned max_frames = 12;
  std::uint32_t count = 0;
  frame frames[max_frames];
};

/// What kind of object a site's lock is.
/// named: a txsync::site, whatever its locks are.
enum class object_kind : std::uint32_t { mutex = 1, rwlock, spinlock, barrier, named };

/// The offsets in one static object whose locks share one site: every `step` from `begin` on, before `end`. Offsets in
/// the file, as in frames.
struct object_offsets {
  std::uint64_t begin = 0, end = 0, step = 1;
  bool has(std::uint64_t offset) const noexcept {
    return offset >= begin && offset < end && step != 0 && (offset - begin) % step == 0;
  }
};

/// What a site request is about.
enum class asked_by : std::uint32_t {
  calls,   ///< `where` is the chain of calls that made the lock
  object,  ///< `where` has one frame, where the lock itself lies in a file's static storage
  name,    ///< the name of a txsync::site stands in the frames' `module` texts, one after the other (put_name())
};

/// A request for the site of a call chain, a static object or a name, and its answer. `state` says whose turn it is,
/// and which request it is. The latter is a number above the two bits, which each claim of the slot counts up. A
/// thread that gives up frees only its own request, and a late answer finds another number.
struct site_request {
  enum : std::uint32_t { free, claimed, asked, answered, turn_bits = 3, number = 4 };
  std::atomic<std::uint32_t> state{free};  // asked and answered: release; the other side reads with acquire
  std::atomic<std::uint32_t> process{0};   // the asker's; 0: the launcher has no number for it
  object_kind kind{};
  asked_by by{};
  /// Of a named site: the parts of policy::packed that its locks use, as a mask of the word.
  std::uint32_t heeded = 0;
  frame_list where;
  // The answer:
  std::uint32_t site = 0;    // its number, 1 and up; 0: not counted (too many sites)
  std::uint32_t policy = 0;  // policy::packed; of a named site only what is set, else with nothing unset
  std::uint32_t mask = 0;    // of a named site: which bits of `policy` are set
  std::uint32_t frames = 0;  // so many of the innermost frames decide it, whatever called them; 0: the whole chain
  object_offsets same;       // of an object: where else the answer holds
};

/// Something that the program did and should not have done, or that the library could not do.
enum class diagnostic_kind : std::uint32_t {
  double_unlock = 1,    ///< unlocked though nobody held it
  unlock_by_non_owner,  ///< unlocked by another thread than the one that locked it
  destroyed_locked,     ///< destroyed, or initialised again, while a thread held it
  order_inversion,      ///< two locks taken in both orders; `other_site` is that of the lock held before
  wait_without_mutex,   ///< a condition wait by a thread that did not hold the mutex
  relock_by_owner,      ///< a thread locked a mutex that it held: it waits for another to unlock it, or its deadline
  /// Threads of two processes use a condition whose attributes say that it belongs to one.
  condition_of_two_processes,
  priority_ignored,  ///< a thread with a real-time priority waited for a lock that treats all alike
};

struct diagnostic {
  std::atomic<std::uint32_t> kind{0};  // written last, release; 0 while the record is being written
  std::uint32_t process = 0;
  std::uint32_t site = 0;
  std::uint32_t other_site = 0;
  frame_list where;
};

/// Where a process says which program it is about to start. The launcher reads it, and the slot is free again. A
/// program that starts while all slots are taken is not reported.
struct started_program {
  enum : std::uint32_t { free, claimed, told };
  static constexpr std::size_t max_bytes = 508;
  std::atomic<std::uint32_t> state{free};  // acquire and release by both sides
  char path[max_bytes] = {};               ///< absolute; or a name without a slash, which is searched along PATH
};

/// Which library counts in a block: a program may have both, and each handles only its own blocks.
enum class counting_library : std::uint32_t { preloaded, linked };

/// The owner of a block, in one word.
struct block_owner {
  static constexpr std::uint32_t linked_bit = std::uint32_t{1} << 31;
  /// A process of another PID namespace, which has no number here.
  static constexpr std::uint32_t unnumbered = ~std::uint32_t{0};
  static constexpr std::uint32_t of(std::uint32_t process, counting_library library) noexcept {
    if (process == 0) return unnumbered;
    return process | (library == counting_library::linked ? linked_bit : 0);
  }
  /// The process; 0: nobody, or one without a number.
  static constexpr std::uint32_t process_in(std::uint32_t owner) noexcept {
    return owner == unnumbered ? 0 : owner & ~linked_bit;
  }
};

/// The first bytes of the file.
struct head {
  static constexpr std::uint64_t magic_number = 0x314C484353585401;
  static constexpr std::uint32_t current_version = 10;
  static constexpr unsigned site_requests_at_once = 16;
  static constexpr unsigned max_diagnostics = 128;
  static constexpr unsigned starts_at_once = 16;
  static constexpr std::uint32_t max_blocks = 1024;

  // Fixed before the program starts:
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t check_order = 0;     // 1: check the lock order
  std::uint32_t default_policy = 0;  // policy::packed; for places without an answer in time
  std::uint32_t is_one_policy = 0;   // 1: no site has a policy of its own, so each answer has default_policy
  std::uint32_t block_limit = 0;
  std::uint64_t block_bytes = 0;        // observe::block_bytes(), rounded up to whole pages
  std::uint64_t block_layout = 0;       // observe::block_layout()
  std::uint64_t first_block = 0;        // offset of block 0 in the file
  std::uint64_t processes_of = 0;       // the PID namespace (its inode) whose numbers name processes here
  std::uint32_t launcher = 0;           // its process there
  std::uint64_t cycles_per_second = 0;  // measured by the launcher; 0: not measured
  // Offsets of the parts in profile_area.hpp; 0: the part does not exist, and nothing is written to it.
  std::uint64_t chains = 0;
  std::uint64_t events = 0;
  /// One call chain is taken for so much waiting that a thread has done or caused at a site.
  std::uint64_t ns_per_chain = 0;
  // Grow and change:
  std::atomic<std::uint32_t> blocks_given{0};      // may exceed block_limit; a thread beyond that counts nothing
  std::atomic<std::uint32_t> processes{0};         // that have opened the file with the preloaded library
  std::atomic<std::uint32_t> linked_processes{0};  // likewise with the linked library; most are in `processes`, too
  std::atomic<std::uint32_t> unwatched_locks{0};   // 1: a program has elided locks that do not count their waits
  // machine::clock_ns() when the launcher last looked, at least every 100 ms; 0: it has ended, and nobody answers
  std::atomic<std::uint64_t> launcher_alive{0};
  std::atomic<std::uint32_t> doorbell{0};           // counted up and woken (machine::unpark_shared) after a request
  std::atomic<std::uint32_t> diagnostics_given{0};  // may exceed max_diagnostics; those beyond it were dropped
  // How often a thread could not count because of its sandbox, a limit or a full disk.
  std::atomic<std::uint32_t> blocks_out_of_reach{0};
  std::atomic<std::uint64_t> locks_without_room{0};  // that got the default policy, since their process had no room
                                                     // to remember another answer
  site_request site_requests[site_requests_at_once];
  diagnostic diagnostics[max_diagnostics];
  started_program started[starts_at_once];
  /// For each block that was given out: its owner (block_owner). 0: nobody counts in it now, and the next process may.
  /// Its counts stay.
  std::atomic<std::uint32_t> block_owners[max_blocks] = {};
  /// By the number of a site whose locks are pthread's: policy::packed, written before the first answer with the number.
  /// 0: there was none. Read for a lock in memory that processes share, if another process has asked for its site.
  std::atomic<std::uint32_t> site_policies[max_sites + 1] = {};
};

/// The longest name of a site that is sent; a longer one is cut.
inline constexpr std::size_t max_name_bytes = frame_list::max_frames * (sizeof(frame::module) - 1);
/// Puts a name into a request, and cuts it if there is no room.
void put_name(const char* name, frame_list& out) noexcept;

/// A request without an answer is given up when the launcher has not looked for so long.
inline constexpr std::uint64_t launcher_timeout_ns = 3'000'000'000;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel
