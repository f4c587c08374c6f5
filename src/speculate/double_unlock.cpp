// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/speculate/elision.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

namespace {

constexpr std::uint64_t pause_ns = 1'000'000'000;
constinit std::atomic<std::uint64_t> next_time{0};

}  // namespace

void report_double_unlock(const void* lock) noexcept {
  const std::uint64_t now = machine::clock_ns();
  std::uint64_t due = next_time.load(std::memory_order_relaxed);  // relaxed: only decides which thread reports
  if (now < due) return;
  if (!next_time.compare_exchange_strong(due, now + pause_ns, std::memory_order_relaxed)) return;
  constexpr char before[] = "txsync: unlock of a lock that the thread does not hold, at 0x";
  constexpr unsigned digits = 2 * sizeof(void*);
  char text[sizeof before - 1 + digits + 1];
  char* end = text;
  for (const char* from = before; *from != '\0';) *end++ = *from++;
  const auto address = reinterpret_cast<std::uintptr_t>(lock);
  for (unsigned i = digits; i-- != 0;) *end++ = "0123456789abcdef"[address >> (4 * i) & 15];
  *end++ = '\n';
  machine::complain(text, static_cast<std::size_t>(end - text));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
