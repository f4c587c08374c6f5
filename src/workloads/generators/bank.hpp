// SPDX-License-Identifier: Apache-2.0
// bank: transfers between accounts and readings of accounts. Money neither enters nor leaves the bank (thesis on TSX in
// InnoDB, 3.3.1).
#pragma once

#include <atomic>
#include <cstdint>

#include "workloads/generators/structure.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// The one generator of random numbers that all threads of the thesis share, without a lock (its Listing 3.11). Threads
/// that draw at the same time get the same number.
class thesis_generator {
 public:
  static constexpr std::uint64_t period = 32'749;  ///< numbers are below this
  explicit thesis_generator(std::uint64_t seed) noexcept : state_(1 + seed % (period - 1)) {}

  std::uint64_t next() noexcept {
    // relaxed, and not one atomic step: this race is a property of the generator; it guards nothing
    const std::uint64_t drawn = (state_.load(std::memory_order_relaxed) * 32'719 + 3) % period;
    state_.store(drawn, std::memory_order_relaxed);  // as above
    return drawn;
  }

 private:
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> state_;
};

/// Where a thread's numbers come from: its own stream, or the shared generator.
class number_source {
 public:
  number_source() noexcept = default;
  number_source(std::uint64_t seed, unsigned thread, thesis_generator* shared) noexcept
      : own_(seed, thread), shared_(shared) {}

  std::uint64_t below(std::uint64_t bound) noexcept {
    return shared_ != nullptr ? shared_->next() % bound : own_.below(bound);
  }

 private:
  random_stream own_{0, 0};
  thesis_generator* shared_ = nullptr;
};

class bank;

/// A thread that moves money. Between the two sections of a transfer, the money is here.
class alignas(machine::pad_bytes) bank_visitor final : public visitor {
 public:
  void start(bank& shared, unsigned thread, const plan& how) noexcept;

  section_list draw() override;
  void apply(unsigned section) override;
  void settle() override {}

 private:
  std::uint64_t account() noexcept;
  std::uint64_t account_besides(std::uint64_t other) noexcept;

  bank* bank_ = nullptr;
  number_source random_;
  std::uint64_t first_ = 0;  ///< the first of the accounts that the thread uses
  std::uint64_t count_ = 0;
  std::uint64_t turn_ = 0;
  bool transfers_ = false;
  std::uint64_t from_ = 0;
  std::uint64_t to_ = 0;
  std::int64_t amount_ = 0;
  std::int64_t seen_ = 0;
};

class bank final : public structure {
 public:
  enum class drawing : std::uint8_t { own, shared, partitioned };
  static constexpr std::int64_t start_balance = 1'000;

  bank(const parameters& values, const plan& how) noexcept;

  bool ok() const noexcept { return accounts_.ok() && visitors_.ok(); }
  std::uint64_t locks() const noexcept override { return one_lock_ ? 1 : accounts_.size(); }
  visitor& visitor_of(unsigned thread) noexcept override { return visitors_[thread]; }
  const char* complaint() const override;
  std::uint64_t hash() const override;

  std::uint64_t accounts() const noexcept { return accounts_.size(); }
  std::uint64_t lock_of(std::uint64_t account) const noexcept { return one_lock_ ? 0 : account; }
  std::int64_t& balance(std::uint64_t account) noexcept { return accounts_[account].balance; }
  std::uint64_t reads() const noexcept { return reads_; }
  drawing draws() const noexcept { return draws_; }
  thesis_generator* generator() noexcept { return draws_ == drawing::shared ? &generator_ : nullptr; }

 private:
  /// In the thesis, an account is an object with its own locks, so it is alone on its line.
  struct alignas(64) entry {
    std::int64_t balance = start_balance;
  };

  bool one_lock_;
  std::uint64_t reads_;
  drawing draws_;
  page_array<entry> accounts_;
  page_array<bank_visitor> visitors_;
  thesis_generator generator_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
