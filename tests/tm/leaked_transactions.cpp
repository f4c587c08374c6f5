// SPDX-License-Identifier: Apache-2.0
// Transactions that were kept and are used when their block has ended: docs/tm/misbehaviour.md, "A transaction outside
// of its block". There are two kinds; attempts of the machine use the one that software does not.
#include <gtest/gtest.h>

#include <type_traits>

#include "every_algorithm.hpp"

namespace {

using stm::atomically;
using stm::var;

constinit stm::block leaking{"test.leaked.plain"};
constinit stm::block leaking_alone{"test.leaked.irrevocable", {.irrevocable = true}};

constexpr const char* outside_message = "a transaction was used outside of its block";

class LeakedTransactions : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(LeakedTransactions);

#ifdef NDEBUG
constexpr bool direct_accesses_are_checked = false;
#else
constexpr bool direct_accesses_are_checked = true;
#endif

/// Keeps tx if it is of the wanted kind. Every attempt of the machine can fall back to software, and an irrevocable
/// block has the other kind everywhere.
template <class Transaction>
Transaction& kept_from(stm::block& where) {
  Transaction* kept = nullptr;
  atomically(where, [&](auto& tx) {
    if constexpr (std::is_same_v<decltype(tx), Transaction&>) {
      kept = &tx;
    } else {
      tx.retry();
    }
  });
  return *kept;
}
/// The transaction of a block that has ended.
stm::transaction& leaked() { return kept_from<stm::transaction>(leaking); }
stm::direct_transaction& leaked_directly() { return kept_from<stm::direct_transaction>(leaking_alone); }

template <class Transaction>
void all_but_accesses_end_the_program(Transaction& tx) {
  static int object = 0;
  EXPECT_DEATH(static_cast<void>(tx.template make<int>(1)), outside_message);
  EXPECT_DEATH(static_cast<void>(tx.template make_array<int>(1)), outside_message);
  EXPECT_DEATH(tx.destroy(&object), outside_message);
  EXPECT_DEATH(tx.on_commit([]() noexcept {}), outside_message);
  EXPECT_DEATH(tx.on_abort([]() noexcept {}), outside_message);
  EXPECT_DEATH(tx.privatize(), outside_message);
  EXPECT_DEATH(tx.retry(), outside_message);
  EXPECT_DEATH(tx.or_else([](auto&) {}, [](auto&) {}), outside_message);
  EXPECT_DEATH(tx.irrevocable(), outside_message);
}

TEST_P(LeakedTransactions, ATransactionUsedAfterItsBlockEndsTheProgram) {
  static var<int> number{0};
  stm::transaction& tx = leaked();
  EXPECT_DEATH(static_cast<void>(tx.read(number)), outside_message);
  EXPECT_DEATH(tx.write(number, 1), outside_message);
  all_but_accesses_end_the_program(tx);
}

TEST_P(LeakedTransactions, ADirectTransactionUsedAfterItsBlockEndsTheProgram) {
  static var<int> number{0};
  stm::direct_transaction& tx = leaked_directly();
  if (direct_accesses_are_checked) {
    EXPECT_DEATH(static_cast<void>(tx.read(number)), outside_message);
    EXPECT_DEATH(tx.write(number, 1), outside_message);
  }
  all_but_accesses_end_the_program(tx);
}

TEST_P(LeakedTransactions, ATransactionUsedByAnActionEndsTheProgram) {
  static var<int> number{0};
  static stm::transaction* kept = nullptr;
  EXPECT_DEATH(atomically(leaking,
                          [](auto& tx) {
                            if constexpr (std::is_same_v<decltype(tx), stm::transaction&>) {
                              kept = &tx;
                            } else {
                              tx.retry();
                            }
                            tx.on_commit([]() noexcept { kept->write(number, 1); });
                          }),
               outside_message);
}

template <class Transaction>
void used_within_later_blocks(Transaction& tx) {
  var<int> number{1};
  const auto body = [&](auto&) {
    tx.write(number, tx.read(number) + 1);
    throw 7;
  };
  EXPECT_THROW(atomically(leaking, body), int);
  EXPECT_EQ(number.load(), 1);
  atomically(leaking, [&](auto&) { tx.write(number, tx.read(number) + 1); });
  EXPECT_EQ(number.load(), 2);
  atomically(leaking_alone, [&](auto&) { tx.write(number, tx.read(number) + 1); });
  EXPECT_EQ(number.load(), 3);
}

TEST_P(LeakedTransactions, ATransactionUsedWithinALaterBlockIsPartOfThat) { used_within_later_blocks(leaked()); }

TEST_P(LeakedTransactions, ADirectTransactionUsedWithinALaterBlockIsPartOfThat) {
  stm::direct_transaction& tx = leaked_directly();
  if (direct_accesses_are_checked) used_within_later_blocks(tx);
  int* const object = atomically(leaking, [&](auto&) { return tx.make<int>(7); });
  const auto destroy_and_throw = [&](auto&) {
    tx.destroy(object);
    throw 7;
  };
  EXPECT_THROW(atomically(leaking, destroy_and_throw), int);
  EXPECT_EQ(*object, 7);
  atomically(leaking, [&](auto&) { tx.destroy(object); });
}

}  // namespace
