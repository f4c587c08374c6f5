// SPDX-License-Identifier: Apache-2.0
// Names of the code and of the locks of a running process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attach/perf_map.hpp"
#include "attach/unwinder.hpp"
#include "launch/place_name.hpp"
#include "symbols/symbols.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

/// A call, or one that was inlined into the next. All texts are printable.
struct named_frame {
  std::string function;      ///< empty where unknown
  std::string where;         ///< "FILE:LINE"; empty without debug information
  std::string module;        ///< "libfoo.so.1"; empty for code that the program made
  std::uint64_t offset = 0;  ///< behind the function's begin, else in the module, else the address
  bool operator==(const named_frame&) const = default;
};

/// "function (file.c:12)", "function+0x1f in libfoo.so.1", "libfoo.so.1+0x3fe20" or "0x7f0012345678".
std::string text_of(const named_frame& frame);

/// Remembers what it found. Opening a file takes up to a second with its debug information, a new address up to 1 ms.
class code_names {
 public:
  /// Before each look at the process: it may have made code, and replaced files.
  void refresh(const target& of);

  /// The innermost first. One frame may give several: calls that were inlined.
  std::vector<named_frame> names(const memory_map& map, const call_chain& chain);

  /// Likewise of a frame that is in the file. At least one; good until refresh().
  const std::vector<named_frame>& names(const loaded_file& file, const code_frame& frame);

  /// "queue_lock in program" for a lock in static storage; empty for others.
  std::string object_name(const memory_map& map, std::uint64_t address, int process);

 private:
  const std::vector<named_frame>& in_file(const loaded_file& file, std::uint64_t offset);

  struct module {
    std::unique_ptr<symbols::module_symbols> file_symbols;
    std::map<std::uint64_t, std::vector<named_frame>> known;
  };
  std::map<std::string, module> modules_;  // by path
  launch::place_names objects_;
  perf_map made_code_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
