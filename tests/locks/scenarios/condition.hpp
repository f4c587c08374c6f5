// SPDX-License-Identifier: Apache-2.0
// Waiting for a condition, on any_mutex and any_condition. Spurious returns are allowed everywhere; a notification that
// is lost stops these for ever.
#pragma once

#include "harness/any_condition.hpp"
#include "harness/team.hpp"

namespace conformance {

/// Whether the notifier still holds the mutex.
enum class notifies { inside, outside };

/// A ring of threads, each with a condition of its own: the turn goes round by notify_one().
violation turns(unsigned threads, unsigned rounds_, notifies where,
                std::chrono::milliseconds patience = usual_patience);

/// Producers and consumers at a buffer of two places, a condition for each side. Every item comes out once.
violation bounded_buffer(unsigned producers, unsigned consumers, unsigned items, notifies where,
                         std::chrono::milliseconds patience = usual_patience);

/// All wait; one token and one notify_one() at a time: one of them takes it, and the next token finds all waiting
/// again.
violation one_feeds_one(unsigned waiters, unsigned tokens, notifies where,
                        std::chrono::milliseconds patience = usual_patience);

/// Many wait for the same thing, one notify_all() lets all of them go, round after round.
violation all_are_told(unsigned threads, unsigned rounds_, notifies where,
                       std::chrono::milliseconds patience = usual_patience);

/// Waits that end early mixed with waits that do not, and notify_one(): every token is taken once, nobody hangs.
violation timed_storm(unsigned threads, unsigned tokens, std::chrono::milliseconds patience = usual_patience);

/// The log of LevelDB's writers: each waits on a condition on its own stack. The first one does the work of those
/// behind it and notifies them. They return at once, and their conditions with them.
violation conditions_on_stacks(unsigned threads, unsigned writes, std::chrono::milliseconds patience = usual_patience);

/// Once all waiters have been notified a condition may be destroyed, though they have not returned yet (the standard on
/// ~condition_variable()). The next one often gets the same memory.
violation notified_then_destroyed(unsigned waiters, unsigned times,
                                  std::chrono::milliseconds patience = usual_patience);

/// The same with a past: a notification has reached two waiters at once, as a spurious return allows. The variable must
/// not conclude later that a waiter has left which has not.
violation destroyed_after_a_past(unsigned times, std::chrono::milliseconds patience = usual_patience);

}  // namespace conformance
