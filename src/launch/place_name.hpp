// SPDX-License-Identifier: Apache-2.0
// The names of sites: which of the frames of a call chain says best where a lock belongs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "channel/channel.hpp"
#include "launch/blame.hpp"
#include "launch/symbols.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {

/// Whether a function (a name of readable_name()) only wraps locks, so that all locks of a program would seem to be its
/// own: methods of classes whose names end in Mutex, Lock, Latch, Guard, CondVar, ... (one rule for all libraries), and
/// C functions such as mtx_lock, my_mutex_lock, g_mutex_init, tchdblockmethod.
bool is_lock_wrapper(std::string_view function);

/// Whether a function is the C++ library's, or internal to one.
bool is_library_code(std::string_view function);

struct place_name {
  /// "kyotocabinet::HashDB::set@kchashdb.h:812" where there is debug information, "kyotocabinet::HashDB::set+0x1f" with
  /// a symbol only, "libkyotocabinet.so.16+0x3fe20" with neither. The same from run to run of the same files.
  std::string name;
  std::string where;         ///< "FILE:LINE", the file as the compiler had it; empty without debug information
  std::string module;        ///< the file that the code is from; empty where unknown
  std::uint32_t frames = 0;  ///< so many of the innermost frames decided it; 0: all of them
};

/// A lock in the static storage of a file.
struct object_name {
  place_name name;              ///< "queue_lock in program", "engine+0x48 in program", or "program+0x4060"
  channel::object_places same;  ///< the places that have the same name, where they are more than one
};

/// Names places, and remembers what it found: a module is opened once (up to a second with its debug information), an
/// address looked for once (up to 1 ms); a known chain costs some us. One thread at a time.
class place_names {
 public:
  /// What the frames of processes that have ended, and called their own program by no name, belong to.
  void set_program(const std::string& path) { program_ = path; }

  place_name name(const channel::place& where, std::uint32_t process);

  /// The functions that a call stands in, the innermost first; one that says where the place is if none is known.
  std::vector<named_call> calls(const channel::frame& one, std::uint32_t process);

  /// The file that the process runs.
  std::string program_of(std::uint32_t process) const;

  /// Of the lock whose place is the one frame. The name is that of its symbol, with or without debug information. An
  /// array of locks has one name, and so has an object of more than 4 KB: it may be an array of anything.
  object_name name_object(const channel::place& where, std::uint32_t process, channel::object_kind kind);

  /// Forgets files that have been replaced meanwhile. Between two programs.
  void forget_changed_files();

 private:
  struct module {
    std::unique_ptr<module_symbols> symbols;
    std::map<std::uint64_t, std::vector<function_at>> known;
    std::set<std::uint64_t> nameless;  // places of locks in static storage without a symbol
  };

  std::string path_of(const channel::frame& one, std::uint32_t process) const;
  module& module_of(const std::string& path);
  const std::vector<function_at>& around(module& in, std::uint64_t offset);

  std::string program_;
  std::map<std::string, module> modules_;  // by path
};

}  // namespace txsync::inline TXSYNC_BACKEND::launch
