// SPDX-License-Identifier: Apache-2.0
// The names of sites: which frame of a call chain says best where a lock belongs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "channel/channel.hpp"
#include "launch/blame.hpp"
#include "symbols/symbols.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// Whether a function (a name of readable_name()) only wraps locks. All locks of a program would seem to be that
/// function's own. Such functions are methods of classes whose names end in Mutex, Lock, Latch, Guard, CondVar, ...
/// (one rule for all libraries). Others are C functions such as mtx_lock, my_mutex_lock, g_mutex_init, tchdblockmethod.
bool is_lock_wrapper(std::string_view function);

struct place_name {
  /// "kyotocabinet::HashDB::set@kchashdb.h:812" with debug information, "kyotocabinet::HashDB::set+0x1f" with only a
  /// symbol, "libkyotocabinet.so.16+0x3fe20" with neither. The same in all runs of the same files.
  std::string name;
  std::string where;         ///< "FILE:LINE", the file as the compiler had it; empty without debug information
  std::string module;        ///< the file with the code; empty if unknown
  std::uint32_t frames = 0;  ///< so many of the innermost frames decided it; 0: all of them
};

/// A lock in the static storage of a file.
struct object_name {
  place_name name;               ///< "queue_lock in program", "engine+0x48 in program", or "program+0x4060"
  channel::object_offsets same;  ///< the offsets with the same name, if there are several
};

/// Names places, and remembers what it found. It opens a module once (up to a second with its debug information), and
/// looks up an address once (up to 1 ms). A known chain costs some us. One thread at a time.
class place_names {
 public:
  /// Sets the program of frames without a file name whose processes have ended.
  void set_program(const std::string& path) { program_ = path; }

  place_name name(const channel::frame_list& where, std::uint32_t process);

  /// The functions that contain a call, the innermost first. If none is known, one entry that says where the place is.
  std::vector<named_call> calls(const channel::frame& frame, std::uint32_t process);

  /// The file that the process runs.
  std::string program_of(std::uint32_t process) const;

  /// Names the lock whose place is the one frame. The name is that of its symbol, with or without debug information. An
  /// array of locks has one name. So has an object of more than 4 KB: it may be an array of anything.
  object_name name_object(const channel::frame_list& where, std::uint32_t process, channel::object_kind kind);

  /// Forgets files that have been replaced since then. To be called between two programs.
  void forget_changed_files();

 private:
  struct module {
    std::unique_ptr<symbols::module_symbols> file_symbols;
    std::map<std::uint64_t, std::vector<symbols::function_at>> known;
    std::set<std::uint64_t> nameless;  // places of locks in static storage without a symbol
  };

  std::string path_of(const channel::frame& frame, std::uint32_t process) const;
  module& module_of(const std::string& path);
  const std::vector<symbols::function_at>& around(module& in, std::uint64_t offset);

  std::string program_;
  std::map<std::string, module> modules_;  // by path
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
