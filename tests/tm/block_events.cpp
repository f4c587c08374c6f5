// SPDX-License-Identifier: Apache-2.0
// What a listener is told of atomic blocks, on the scripted machine.
#include <gtest/gtest.h>

#include <vector>

#include "machine/scripted/script.hpp"
#include "txsync/observe/events.hpp"
#include "txsync/tm.hpp"

namespace {

namespace observe = txsync::observe;
namespace tm = txsync::tm;
using observe::event_kind;
using txsync::abort_cause;
using txsync::script::attempt_status;
using txsync::script::machine_script;
using txsync::script::plan;

std::vector<observe::event> told;
void keep(const observe::event& what) noexcept { told.push_back(what); }

constinit tm::block counting{"block_events.counting"};
tm::var<int> counter{0};

class BlockEvents : public testing::Test {
 protected:
  BlockEvents() {
    script.have_rtm();
    script.attempts_exclude_each_other();
    told.clear();
    observe::set_listener(keep);
  }
  ~BlockEvents() override {
    observe::set_listener(nullptr);
    EXPECT_TRUE(tm::use_algorithm("dctl"));
  }
  static void count() {
    tm::atomically(counting, [](auto& tx) { tx.write(counter, tx.read(counter) + 1); });
  }

  machine_script script;
};

TEST_F(BlockEvents, AttemptsInHardwareAreToldWithTheirCause) {
  ASSERT_TRUE(tm::use_algorithm("htm_sgl_adaptive"));
  script.on_begin(plan::aborts(attempt_status::capacity_bit));
  count();  // so that a block of this name does not nearly always commit in hardware
  told.clear();
  count();
  EXPECT_TRUE(told.empty()) << "it commits";
  script.on_begin(plan::aborts(attempt_status::conflict_bit | attempt_status::retry_bit));
  script.on_begin(plan::aborts(attempt_status::capacity_bit));
  count();
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].kind, event_kind::abort);
  EXPECT_EQ(told[0].cause, abort_cause::conflict);
  EXPECT_EQ(told[1].kind, event_kind::abort);
  EXPECT_EQ(told[1].cause, abort_cause::capacity);
  EXPECT_EQ(told[2].kind, event_kind::fallback);
  EXPECT_EQ(told[2].cause, abort_cause::capacity);
  for (const observe::event& one : told) {
    EXPECT_EQ(one.site_id, counting.id());
    EXPECT_STREQ(one.site_name, "block_events.counting");
    EXPECT_EQ(one.lock, &counting);
  }
}

TEST_F(BlockEvents, ABodyThatThrowsAbortsForTheUser) {
  ASSERT_TRUE(tm::use_algorithm("dctl"));
  EXPECT_THROW(tm::atomically(counting,
                              [](auto& tx) {
                                tx.write(counter, 7);
                                throw 1;
                              }),
               int);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, event_kind::abort);
  EXPECT_EQ(told[0].cause, abort_cause::user);
}

}  // namespace
