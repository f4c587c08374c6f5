// SPDX-License-Identifier: Apache-2.0
// The file that `txsync run` and the program under it share: how the preloaded library asks for the site of a lock it
// has not met, how the linked library asks for the number of a named site, where both count, and where they leave what
// they noticed. The file outlives the program's processes, so that kill -9, _exit and children lose nothing but some
// commits of attempts (observe/commit_counts.hpp).
//
// Who writes what: the launcher makes the file, fills the header and the policies, and answers questions; every process
// of the program maps its head, and the blocks that it counts in. All zero beyond the header is valid. A program may
// link another build than that of the launcher: both sides compare `version` and `block_layout`. No pointer is stored:
// a place in a program is a module and an offset in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::channel {

/// The environment variable that names the file.
inline constexpr const char* file_variable = "TXSYNC_CHANNEL";
/// The policy of pthread locks in a process that cannot open that file: policy::packed::word() in decimal.
inline constexpr const char* policy_variable = "TXSYNC_CHANNEL_POLICY";

/// A site as the locks carry it, in 12 bits; 0 is "not counted".
inline constexpr std::uint32_t most_sites = 4095;

/// One frame of a call chain: the address behind the call, relative to where the module is loaded.
struct frame {
  std::uint64_t offset = 0;
  char module[248] = {};  ///< the path of the file, as the dynamic linker has it; empty where it is unknown
};

/// A chain of calls, the innermost first. The frames of the preloaded library itself are not in it.
struct place {
  static constexpr unsigned most = 12;
  std::uint32_t count = 0;
  frame frames[most];
};

/// What kind of object a site's lock is.
/// named: a txsync::site, whatever its locks are.
enum class object_kind : std::uint32_t { mutex = 1, rwlock, spinlock, barrier, named };

/// Places of one static object whose locks are of one site: those from `begin` to before `end` that are a multiple of
/// `step` behind `begin`. Offsets in the file, as of frames.
struct object_places {
  std::uint64_t begin = 0, end = 0, step = 1;
  bool has(std::uint64_t offset) const noexcept {
    return offset >= begin && offset < end && step != 0 && (offset - begin) % step == 0;
  }
};

/// What a question is asked by.
enum class asked_by : std::uint32_t {
  calls,   ///< `where` is the chain of calls that made the lock
  object,  ///< `where` has one frame, the place of the lock itself in a file's static storage
  name,    ///< the name of a txsync::site is in the frames' `module` texts, one behind the other (put_name())
};

/// A question for the site of a call chain, a static object or a name, and its answer. `state` says whose turn it is,
/// and which question it is: a number above the two bits, counted up by each that claims the slot. Whoever gives up
/// frees its own question only, and an answer that comes late finds another number.
struct question {
  enum : std::uint32_t { free, claimed, asked, answered, turn_bits = 3, number = 4 };
  std::atomic<std::uint32_t> state{free};  // asked and answered: release; the other side reads with acquire
  std::atomic<std::uint32_t> process{0};   // of the asker; 0: the launcher has no number for it
  object_kind kind{};
  asked_by by{};
  /// Of a named site: the parts of policy::packed that its locks are known to heed, as a mask of the word.
  std::uint32_t heeded = 0;
  place where;
  // The answer:
  std::uint32_t site = 0;    // its number, 1 and up; 0: not counted (too many sites)
  std::uint32_t policy = 0;  // policy::packed; of a named site with what is said, else with nothing unsaid
  std::uint32_t said = 0;    // of a named site: which bits of `policy` are said
  std::uint32_t frames = 0;  // so many of the innermost frames decide it, whatever called them; 0: the whole chain
  object_places same;        // of an object: where else the answer holds
};

/// Something that the program did and should not have, or that the library could not do.
enum class notice_kind : std::uint32_t {
  double_unlock = 1,   ///< unlocked though nobody held it
  unlock_by_stranger,  ///< unlocked by another thread than the one that locked it
  destroyed_locked,    ///< destroyed, or initialised again, while a thread held it
  order_inversion,     ///< two locks taken in both orders; `other_site` is the lock held before
  wait_without_mutex,  ///< a condition wait by a thread that did not hold the mutex
  relock_by_owner,     ///< a thread locked a mutex that it held: it waits for another to unlock it, or its deadline
  /// Threads of two processes use a condition whose attributes say that it is of one.
  condition_of_two_processes,
  priority_ignored,  ///< a thread with a real-time priority waited for a lock that serves all alike
};

struct notice {
  std::atomic<std::uint32_t> kind{0};  // written last, release; 0 while the record is being written
  std::uint32_t process = 0;
  std::uint32_t site = 0;
  std::uint32_t other_site = 0;
  place where;
};

/// Where a process says which program it is about to start. The launcher takes it, and the slot is free again; what
/// comes while all are taken is lost.
struct started_program {
  enum : std::uint32_t { free, claimed, told };
  static constexpr std::size_t max_bytes = 508;
  std::atomic<std::uint32_t> state{free};  // acquire and release by both sides
  char path[max_bytes] = {};               ///< absolute; or a name without a slash, which is looked for along PATH
};

/// Which library counts in a block: a program may have both, and each looks after its own blocks only.
enum class counting_library : std::uint32_t { preloaded, linked };

/// Who has a block, in one word.
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
  static constexpr std::uint32_t current_version = 8;
  static constexpr unsigned questions_at_once = 16;
  static constexpr unsigned most_notices = 128;
  static constexpr unsigned starts_at_once = 16;
  static constexpr std::uint32_t max_blocks = 1024;

  // Fixed before the program starts:
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t check_order = 0;     // 1: look for lock order inversions
  std::uint32_t default_policy = 0;  // policy::packed; for places that were not answered in time
  std::uint32_t is_one_policy = 0;   // 1: no site has a policy of its own, so that each answer has default_policy
  std::uint32_t block_limit = 0;
  std::uint64_t block_bytes = 0;        // observe::block_bytes(), rounded up to whole pages
  std::uint64_t block_layout = 0;       // observe::block_layout()
  std::uint64_t first_block = 0;        // offset of block 0 in the file
  std::uint64_t processes_of = 0;       // the PID namespace (its inode) whose numbers name processes here
  std::uint32_t launcher = 0;           // its process there
  std::uint64_t cycles_per_second = 0;  // the launcher has measured it; 0: it has not
  // Offsets of what profile_area.hpp says; 0: it is not there, and nothing is written to it.
  std::uint64_t chains = 0;
  std::uint64_t events = 0;
  /// Of waiting that a thread has done or caused at a site, for which one call chain is taken.
  std::uint64_t ns_per_chain = 0;
  // Grow and change:
  std::atomic<std::uint32_t> blocks_given{0};  // may run past block_limit; who gets a number beyond it does not count
  std::atomic<std::uint32_t> processes{0};     // that have opened the file with the preloaded library
  std::atomic<std::uint32_t> linked_processes{0};  // likewise with the linked library; most are in `processes`, too
  // machine::clock_ns() of the launcher's last look, at least every 100 ms; 0: it has ended, and nobody answers
  std::atomic<std::uint64_t> launcher_alive{0};
  std::atomic<std::uint32_t> doorbell{0};       // counted up and woken (machine::unpark_shared) after a question
  std::atomic<std::uint32_t> notices_given{0};  // may run past most_notices; what is beyond was dropped
  // Tries of threads to count that their sandbox, a limit or a full disk foiled.
  std::atomic<std::uint32_t> blocks_out_of_reach{0};
  std::atomic<std::uint64_t> locks_without_place{0};  // that got the default policy since a process had no room to
                                                      // remember another place
  question questions[questions_at_once];
  notice notices[most_notices];
  started_program started[starts_at_once];
  /// For each block that was given out: who counts in it (block_owner). 0: nobody does now, and the next process may;
  /// its counts stay.
  std::atomic<std::uint32_t> block_owners[max_blocks] = {};
};

/// The longest name of a site that crosses; a longer one is cut.
inline constexpr std::size_t max_name_bytes = place::most * (sizeof(frame::module) - 1);
/// Puts a name into a question, cut where there is no room.
void put_name(const char* name, place& out) noexcept;

/// A question that nobody answers is given up when the launcher has not looked for so long.
inline constexpr std::uint64_t launcher_patience_ns = 3'000'000'000;

}  // namespace txsync::inline TXSYNC_BACKEND::channel
