// SPDX-License-Identifier: Apache-2.0
// What the machines say about an abort, in the words of txsync.
#include <gtest/gtest.h>

#include <txsync_backend/ppc64/texasr.hpp>
#include <txsync_backend/s390x/diagnostic_block.hpp>

namespace {

using txsync::abort_cause;
using txsync::machine::attempt_status;
namespace detail = txsync::machine::detail;

TEST(AbortStatus, StartedIsNoAbort) {
  constexpr attempt_status started{attempt_status::started_value};
  EXPECT_TRUE(started.started());
  EXPECT_FALSE(started.may_retry());
  EXPECT_FALSE(started.is_explicit());
}

TEST(AbortStatus, ZeroIsUnknown) {
  EXPECT_EQ(attempt_status{0}.cause(), abort_cause::unknown);
  EXPECT_TRUE(attempt_status{0}.signals(abort_cause::unknown));
  EXPECT_EQ(attempt_status{attempt_status::retry_bit}.cause(), abort_cause::unknown);
  EXPECT_TRUE(attempt_status{attempt_status::retry_bit}.signals(abort_cause::unknown));
  EXPECT_TRUE(attempt_status{attempt_status::retry_bit}.may_retry());
}

TEST(AbortStatus, ExplicitCarriesItsCode) {
  const attempt_status busy{attempt_status::explicit_bit | 0xFFu << 24};
  EXPECT_EQ(busy.code(), attempt_status::code_lock_busy);
  EXPECT_EQ(busy.cause(), abort_cause::lock_busy);
  EXPECT_TRUE(busy.signals(abort_cause::lock_busy));
  EXPECT_FALSE(busy.signals(abort_cause::explicit_abort));
  const attempt_status other{attempt_status::explicit_bit | attempt_status::nested_bit | 7u << 24};
  EXPECT_EQ(other.cause(), abort_cause::explicit_abort);
  EXPECT_TRUE(other.signals(abort_cause::nested));
  EXPECT_FALSE(other.signals(abort_cause::unknown));
}

TEST(AbortStatus, EachBitIsOneCause) {
  constexpr std::pair<std::uint32_t, abort_cause> each[] = {
      {attempt_status::conflict_bit, abort_cause::conflict},
      {attempt_status::capacity_bit, abort_cause::capacity},
      {attempt_status::capacity_read_bit, abort_cause::capacity_read},
      {attempt_status::capacity_write_bit, abort_cause::capacity_write},
      {attempt_status::nested_bit, abort_cause::nested},
      {attempt_status::debug_bit, abort_cause::debug},
      {attempt_status::interrupt_bit, abort_cause::interrupt},
      {attempt_status::syscall_bit, abort_cause::syscall},
      {attempt_status::fault_bit, abort_cause::fault},
      {attempt_status::unfriendly_bit, abort_cause::unfriendly_instruction},
      {attempt_status::spurious_bit, abort_cause::spurious},
  };
  for (const auto& [bit, cause] : each) {
    EXPECT_EQ(attempt_status{bit}.cause(), cause);
    EXPECT_TRUE(attempt_status{bit}.signals(cause));
    EXPECT_FALSE(attempt_status{bit}.signals(abort_cause::unknown));
    if (cause != abort_cause::conflict) {
      EXPECT_EQ((attempt_status{bit | attempt_status::conflict_bit}.cause()), abort_cause::conflict)
          << "the first cause";
    }
  }
  const attempt_status precise{attempt_status::capacity_bit | attempt_status::capacity_write_bit};
  EXPECT_EQ(precise.cause(), abort_cause::capacity_write);
  EXPECT_TRUE(precise.signals(abort_cause::capacity));
}

constexpr std::uint64_t ibm_bit(unsigned n) { return std::uint64_t{1} << (63 - n); }
constexpr std::uint64_t power_code(unsigned code) { return std::uint64_t{code} << 56; }

TEST(PowerAborts, HardwareReasons) {
  const std::uint64_t persistent = ibm_bit(7);
  EXPECT_EQ(detail::status_from_texasr(ibm_bit(13)).raw, attempt_status::conflict_bit | attempt_status::retry_bit);
  EXPECT_EQ(detail::status_from_texasr(ibm_bit(12)).cause(), abort_cause::conflict);
  EXPECT_EQ(detail::status_from_texasr(ibm_bit(10) | persistent).raw, attempt_status::capacity_bit);
  EXPECT_EQ(detail::status_from_texasr(ibm_bit(9) | persistent).raw, attempt_status::nested_bit);
  EXPECT_EQ(detail::status_from_texasr(ibm_bit(8) | persistent).cause(), abort_cause::unfriendly_instruction);
  EXPECT_EQ(detail::status_from_texasr(persistent).cause(), abort_cause::unknown);
}

TEST(PowerAborts, ProgramAndKernelCodes) {
  const std::uint64_t by_abort = ibm_bit(31);
  const attempt_status own = detail::status_from_texasr(by_abort | power_code(0xFF));
  EXPECT_TRUE(own.is_explicit());
  EXPECT_EQ(own.cause(), abort_cause::lock_busy);
  EXPECT_EQ(detail::status_from_texasr(by_abort | power_code(0x21)).code(), 0x21);
  EXPECT_EQ(detail::status_from_texasr(by_abort | power_code(0xD9)).raw, attempt_status::syscall_bit) << "persistent";
  EXPECT_EQ(detail::status_from_texasr(by_abort | power_code(0xDE)).raw,
            attempt_status::interrupt_bit | attempt_status::retry_bit);
  EXPECT_EQ(detail::status_from_texasr(by_abort | power_code(0xD2)).cause(), abort_cause::fault);
}

TEST(S390Aborts, MachineAndProgramCodes) {
  detail::diagnostic_block block{};
  const auto told = [&](std::uint64_t code, unsigned condition) {
    block.abort_code = code;
    return detail::status_from_block(block, condition);
  };
  EXPECT_EQ(told(9, 2).raw, attempt_status::retry_bit) << "without a valid block only the condition code counts";
  block.format = 1;
  EXPECT_EQ(told(9, 2).raw, attempt_status::conflict_bit | attempt_status::retry_bit);
  EXPECT_EQ(told(10, 3).raw, attempt_status::conflict_bit);
  EXPECT_EQ(told(7, 3).cause(), abort_cause::capacity_read);
  EXPECT_EQ(told(8, 3).cause(), abort_cause::capacity_write);
  EXPECT_EQ(told(11, 3).cause(), abort_cause::unfriendly_instruction);
  EXPECT_EQ(told(13, 3).cause(), abort_cause::nested);
  EXPECT_EQ(told(2, 2).cause(), abort_cause::interrupt);
  EXPECT_EQ(told(255, 2).cause(), abort_cause::unknown);
  EXPECT_EQ(told(256 + 0xFF, 3).cause(), abort_cause::lock_busy);
  EXPECT_EQ(told(256 + 5, 3).code(), 5);
}

}  // namespace
