// SPDX-License-Identifier: Apache-2.0
// A core's stream prefetcher: it sees the lines that miss the L1, and says which further ones to bring into the L2. It
// follows a limited number of streams, one in each page of 4 KiB, in either direction, and never beyond the page.
// Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, data prefetching to the L2. What it asks for
// is there at once and costs nothing. The model leaves out that it may be late, and that it takes bandwidth from
// others.
#pragma once

#include "../model.hpp"
#include "shadow.hpp"

namespace txsync::sim {

class prefetcher {
 public:
  struct lines {
    line_number first = 0;
    int step = 1;
    unsigned count = 0;
  };

  void set_up(const machine_model& model) noexcept;
  bool exists() const noexcept { return count_ != 0; }
  /// Takes a line that missed, and returns what to bring. A stream exists from its third line on. It brings two lines
  /// for each miss until it is as far ahead as it may be.
  lines follow(line_number line) noexcept {
    const line_number page = line >> page_shift_;
    stream& one = streams_[mask_ != 0 ? page & mask_ : page % count_];
    if (one.page == page + 1) return go_on(one, line);
    one = {.page = page + 1, .last = line, .ahead = line, .step = 0, .length = 1};
    return {};
  }

 private:
  struct stream {
    line_number page = 0;  ///< the page plus one; 0: free
    line_number last = 0;
    line_number ahead = 0;  ///< the furthest line that was requested
    int step = 0;
    unsigned length = 0;
  };

  lines go_on(stream& one, line_number line) const noexcept;

  stream* streams_ = nullptr;
  unsigned count_ = 0;
  unsigned mask_ = 0;  ///< count_ - 1 if count_ is a power of two
  unsigned distance_ = 0;
  unsigned page_shift_ = 0;  ///< from the number of a line to that of its page
};

}  // namespace txsync::sim
