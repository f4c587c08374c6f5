// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <txsync/observe/counters.hpp>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {

/// What happened at the lock sites of this process during several stretches of time, added up.
class site_watch {
 public:
  /// A stretch begins. Requires: none is open.
  void begin();
  /// It ends. Requires: begin().
  void end();

  /// The sites at which something happened, in the order of their ids.
  std::vector<observe::site_record> records() const;

 private:
  // Both by id - 1.
  std::vector<observe::site_totals> before_;
  std::vector<observe::site_totals> totals_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
