// SPDX-License-Identifier: Apache-2.0
// Which CPU comes when: the rule of machine::placement, over a list of CPUs from hwloc or from a script.
#pragma once

#include <vector>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine::detail {

/// Where one usable hardware thread is. Numbers of cores are unique in the machine, not only in their socket.
struct cpu_place {
  unsigned cpu = 0;  ///< the system's number
  unsigned core = 0;
  unsigned socket = 0;
};

/// The CPUs in the order in which threads take them. `socket` is the socket's position among those of `places`, and is
/// used by placement::socket only; empty when there is no such socket.
std::vector<unsigned> placement_order(std::vector<cpu_place> places, placement how, unsigned socket);

/// How many different sockets `places` names.
unsigned sockets_of(const std::vector<cpu_place>& places);

}  // namespace txsync::inline TXSYNC_BACKEND::machine::detail
