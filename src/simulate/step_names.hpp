// SPDX-License-Identifier: Apache-2.0
// What people read of a step of a schedule: what the thread does, to which data, and where in the source.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "sim/host/image.hpp"
#include "symbols/code_place.hpp"
#include "symbols/source_text.hpp"

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

bool is_access(const sim::trace_step& step);
/// A call of pthread with a lock or a condition.
bool is_lock_call(const sim::trace_step& step);

/// Names of what is in an image. Each place in the code is looked up once.
class step_names {
 public:
  step_names(const std::string& image, const sim::image_result& seen);

  /// The function of the library that is outermost at a place; null if the place is in the program's code, or unknown.
  const std::string* library_function(std::uint64_t code);
  /// Whether a place is in the program's code, and not between the begin of a thread and the program.
  bool is_own_code(std::uint64_t code);
  /// "  function (file:line)", with the text of the line if that is known.
  std::string place(std::uint64_t code);
  /// "  function (file:line) in a function of the library".
  std::string short_place(std::uint64_t code) const;
  /// "reads x = 1", "takes the lock m".
  std::string action(const sim::traced_step& step) const;
  /// "x = 1", "m".
  std::string object(const sim::traced_step& step) const;

 private:
  struct known_code {
    symbols::code_place place;
    std::string function;
  };

  const known_code& look_up(std::uint64_t code);

  symbols::module_symbols symbols_;
  symbols::source_text source_;
  std::string library_;
  std::unordered_map<std::uint64_t, known_code> codes_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
