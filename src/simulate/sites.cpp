// SPDX-License-Identifier: Apache-2.0
// What the sites of a simulated run counted of their attempts: the program's own counts, beside the machine's
// (sim_attempts.cpp).
#include <algorithm>

#include "observe/document/recorded_sites.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

void add_sites(observe::point& point, const sim::image_result& seen) {
  std::vector<observe::site_record> sites = observe::recorded_sites(seen.records);
  std::copy_if(std::make_move_iterator(sites.begin()), std::make_move_iterator(sites.end()),
               std::back_inserter(point.sites),
               [](const observe::site_record& one) { return one.speculation || one.transactions; });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
