// SPDX-License-Identifier: Apache-2.0
// The order in which threads take CPUs: the rule on made-up machines, hwloc on this one.
#include <gtest/gtest.h>

#include <sched.h>

#include <machine/placement_order.hpp>
#include <set>

namespace {

namespace machine = txsync::machine;
using machine::placement;
using machine::detail::cpu_place;
using machine::detail::placement_order;
using order = std::vector<unsigned>;

/// Two sockets of two cores of two threads, numbered as Linux does: first threads of all cores, then siblings.
const std::vector<cpu_place> two_sockets = {{0, 0, 0}, {1, 1, 0}, {2, 2, 1}, {3, 3, 1},
                                            {4, 0, 0}, {5, 1, 0}, {6, 2, 1}, {7, 3, 1}};

TEST(PlacementOrder, CoresFirst) {
  EXPECT_EQ(placement_order(two_sockets, placement::cores_first, 0), (order{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(PlacementOrder, SmtFirst) {
  EXPECT_EQ(placement_order(two_sockets, placement::smt_first, 0), (order{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(PlacementOrder, OneSocket) {
  EXPECT_EQ(placement_order(two_sockets, placement::socket, 1), (order{2, 3, 6, 7}));
  EXPECT_EQ(placement_order(two_sockets, placement::socket, 2), order{});
  EXPECT_EQ(machine::detail::sockets_of(two_sockets), 2u);
}

TEST(PlacementOrder, HolesInTheMask) {
  // Of core 0 only the second thread, of socket 0 only that: it counts as a first thread.
  const std::vector<cpu_place> some = {{7, 3, 1}, {4, 0, 0}, {3, 3, 1}};
  EXPECT_EQ(placement_order(some, placement::cores_first, 0), (order{4, 3, 7}));
  EXPECT_EQ(placement_order(some, placement::none, 0), (order{3, 4, 7}));
  EXPECT_EQ(placement_order({}, placement::smt_first, 0), order{});
}

TEST(NativePlacement, AnswersAllowedCpusAndWrapsAround) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const unsigned count = machine::cpu_count();
  for (const placement how : {placement::none, placement::cores_first, placement::smt_first}) {
    std::set<unsigned> seen;
    for (unsigned i = 0; i < count; ++i) seen.insert(machine::cpu_for(how, i));
    EXPECT_EQ(seen.size(), count);
    for (const unsigned cpu : seen) EXPECT_TRUE(CPU_ISSET(cpu, &allowed));
    EXPECT_EQ(machine::cpu_for(how, count), machine::cpu_for(how, 0));
  }
  EXPECT_GE(machine::socket_count(), 1u);
  EXPECT_TRUE(CPU_ISSET(machine::cpu_for(placement::socket, 0, machine::socket_count() - 1), &allowed));
}

}  // namespace
