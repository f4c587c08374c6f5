// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/bank.hpp"

#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum bank_key : unsigned { accounts, reads, locking, draws };
enum : std::uint64_t { lock_an_account, lock_for_all };
constexpr const char* bank_lockings[] = {"account", "global"};
constexpr const char* bank_drawings[] = {"own", "shared", "partitioned"};
constexpr std::uint64_t shared_drawing = 1;

constexpr std::int64_t max_moved = 100;

constexpr parameter bank_keys[] = {
    {"accounts", 10'000, 2, 10'000'000, "accounts of the bank"},
    {"reads", 50, 0, 100,
     "percent of operations that read an account; the others withdraw from one, then deposit in "
     "another"},
    {"locking", lock_an_account, lock_an_account, lock_for_all, "account: a lock each; global: one for all",
     bank_lockings},
    {"draws", 0, 0, 2,
     "own: a random generator per thread; shared: one generator for all threads, without a lock; partitioned: each "
     "thread uses a part of the accounts",
     bank_drawings},
};

constexpr setting fig_3_12[] = {{"accounts", 10'000}, {"reads", 50}, {"locking", lock_an_account}, {"draws", 1}};
constexpr setting fig_c_8[] = {{"accounts", 100}, {"reads", 50}, {"locking", lock_an_account}, {"draws", 1}};
constexpr setting fig_c_9[] = {{"accounts", 100}, {"reads", 50}, {"locking", lock_for_all}, {"draws", 1}};

constexpr preset bank_presets[] = {
    {"thesis", "thesis on TSX in InnoDB, Fig 3.12", fig_3_12, 4},
    {"hundred", "thesis on TSX in InnoDB, Fig C.8", fig_c_8, 4},
    {"hundred-global", "thesis on TSX in InnoDB, Fig C.9", fig_c_9, 4},
};

const char* bank_contradiction(const parameters& values) noexcept {
  const bool too_many =
      values[bank_key::draws] == shared_drawing && values[bank_key::accounts] > thesis_generator::period;
  return too_many ? "draws=shared has 32749 different numbers: there cannot be more accounts" : nullptr;
}

}  // namespace

constinit const workload bank_workload{
    .name = "bank",
    .summary = "transfers between two of many accounts, and readings of one; no money comes or goes",
    .operation = "operations",
    .keys = bank_keys,
    .presets = bank_presets,
    .contradiction = bank_contradiction,
};

std::unique_ptr<structure> make_bank(const parameters& values, const plan& how) {
  auto made = std::make_unique<bank>(values, how);
  return made->ok() ? std::move(made) : nullptr;
}

bank::bank(const parameters& values, const plan& how) noexcept
    : one_lock_(values[bank_key::locking] == lock_for_all),
      reads_(values[bank_key::reads]),
      draws_(static_cast<drawing>(values[bank_key::draws])),
      accounts_(values[bank_key::accounts]),
      visitors_(how.threads),
      generator_(how.seed) {
  if (!ok()) return;
  for (unsigned thread = 0; thread < how.threads; ++thread) visitors_[thread].start(*this, thread, how);
}

const char* bank::complaint() const {
  std::int64_t sum = 0;
  for (const entry& one : accounts_) sum += one.balance;
  const auto expected = static_cast<std::int64_t>(accounts_.size()) * start_balance;
  return sum == expected ? nullptr : "the balances do not add up to the money that was in the bank";
}

std::uint64_t bank::hash() const {
  running_hash all;
  for (const entry& one : accounts_) all.add(static_cast<std::uint64_t>(one.balance));
  return all.value();
}

void bank_visitor::start(bank& shared, unsigned thread, const plan& how) noexcept {
  bank_ = &shared;
  random_ = number_source(how.seed, thread, shared.generator());
  count_ = shared.accounts();
  const std::uint64_t part = count_ / how.threads;
  if (shared.draws() != bank::drawing::partitioned || part < 2) return;
  first_ = thread * part;
  count_ = part;
}

std::uint64_t bank_visitor::account() noexcept {
  const bool in_turn = bank_->draws() == bank::drawing::partitioned;
  return first_ + (in_turn ? turn_++ % count_ : random_.below(count_));
}

std::uint64_t bank_visitor::account_besides(std::uint64_t other) noexcept {
  const std::uint64_t drawn = account();
  return drawn != other ? drawn : first_ + (drawn - first_ + 1) % count_;
}

section_list bank_visitor::draw() {
  transfers_ = random_.below(100) >= bank_->reads();
  from_ = account();
  if (!transfers_) return {1, {bank_->lock_of(from_)}};
  to_ = account_besides(from_);
  amount_ = 1 + static_cast<std::int64_t>(random_.below(max_moved));
  return {2, {bank_->lock_of(from_), bank_->lock_of(to_)}};
}

void bank_visitor::apply(unsigned section) {
  if (!transfers_) {
    seen_ = bank_->balance(from_);
  } else if (section == 0) {
    bank_->balance(from_) -= amount_;
  } else {
    bank_->balance(to_) += amount_;
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
