// SPDX-License-Identifier: Apache-2.0
// Tests of atomic blocks on the scripted machine, whose attempts commit; some abort first, at their end or before.
#include <gtest/gtest.h>

#include <optional>

#include "../sanitizers.hpp"
#include "machine/scripted/script.hpp"

namespace {

namespace script = txsync::script;
using script::plan;

class committing_attempts : public testing::Environment {
  void SetUp() override {
    constexpr std::uint32_t conflict = script::attempt_status::conflict_bit | script::attempt_status::retry_bit;
    machine_.emplace();
    machine_->have_rtm();
    machine_->attempts_exclude_each_other();
    // ThreadSanitizer sees what an attempt has read before its abort, which no thread sees on a CPU. At its end the
    // attempt has already announced that it is ordered before others.
    const plan hopeless = under_tsan ? plan::aborts_at_end(0) : plan::aborts_at_step(3, 0);
    machine_->on_begins_in_turn({plan::commits(), plan::commits(), plan::aborts_at_end(conflict), plan::commits(),
                                 plan::commits(), plan::commits(), hopeless});
  }
  void TearDown() override {
    const script::counts seen = machine_->counted();
    if (seen.begins > 1'000) {
      EXPECT_GT(seen.commits, seen.begins / 3);
    }
    machine_.reset();
  }

  std::optional<script::machine_script> machine_;
};

[[maybe_unused]] const auto* const environment = testing::AddGlobalTestEnvironment(new committing_attempts);

}  // namespace
