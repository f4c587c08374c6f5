// SPDX-License-Identifier: Apache-2.0
// Placement by hwloc. It has its own target (txsync_placement), so that the library itself does not link hwloc.
#include <hwloc.h>
#include <sched.h>

#include "../placement_order.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

using detail::cpu_place;

bool may_run_on(unsigned cpu) noexcept {
  static const cpu_set_t allowed = [] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) {
      for (unsigned i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &mask);
    }
    return mask;
  }();
  return cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed);
}

/// The logical number of the enclosing object of that kind; 0 if hwloc does not report one.
unsigned enclosing(hwloc_topology_t topology, hwloc_obj_type_t kind, hwloc_obj_t unit, unsigned otherwise) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, kind, unit);
  return found == nullptr ? otherwise : found->logical_index;
}

std::vector<cpu_place> read_places() {
  std::vector<cpu_place> places;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return places;
  if (hwloc_topology_load(topology) == 0) {
    for (hwloc_obj_t unit = nullptr; (unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr;) {
      if (!may_run_on(unit->os_index)) continue;
      places.push_back({unit->os_index, enclosing(topology, HWLOC_OBJ_CORE, unit, unit->logical_index),
                        enclosing(topology, HWLOC_OBJ_PACKAGE, unit, 0)});
    }
  }
  hwloc_topology_destroy(topology);
  return places;
}

const std::vector<cpu_place>& places() {
  static const std::vector<cpu_place> found = [] {
    std::vector<cpu_place> read = read_places();
    for (unsigned cpu = 0; read.empty() && cpu < CPU_SETSIZE; ++cpu) {
      if (may_run_on(cpu)) read.push_back({cpu, cpu, 0});
    }
    return read;
  }();
  return found;
}

}  // namespace

unsigned cpu_for(placement how, unsigned index, unsigned socket) noexcept {
  const std::vector<unsigned> order = detail::placement_order(places(), how, socket);
  return order.empty() ? places().front().cpu : order[index % order.size()];
}

unsigned socket_count() noexcept { return detail::sockets_of(places()); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
