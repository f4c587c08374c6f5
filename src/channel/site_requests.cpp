// SPDX-License-Identifier: Apache-2.0
#include "channel/site_requests.hpp"

#include <cstring>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

#include "channel/processes.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

bool launcher_lives(const head& file) noexcept {
  // relaxed: a clock
  const std::uint64_t last = file.launcher_alive.load(std::memory_order_relaxed);
  return last != 0 && machine::clock_ns() < last + launcher_timeout_ns;
}

bool launcher_has_ended(head& file) noexcept {
  // relaxed, here and below: signs of life
  if (file.launcher_alive.load(std::memory_order_relaxed) == 0) return true;
  // In another PID namespace its number is another process', or nobody's.
  if (file.launcher == 0 || !has_ended(file.launcher) || launchers_number(file) == 0) return false;
  file.launcher_alive.store(0, std::memory_order_relaxed);
  return true;
}

claim claim_site_request(head& file) noexcept {
  const std::uint64_t give_up_at_ns = machine::clock_ns() + launcher_timeout_ns;
  while (launcher_lives(file) && machine::clock_ns() < give_up_at_ns) {
    for (site_request& request : file.site_requests) {
      std::uint32_t expected = request.state.load(std::memory_order_relaxed);  // relaxed: the exchange decides
      if ((expected & site_request::turn_bits) != site_request::free) continue;
      const std::uint32_t number = expected + site_request::number;
      // acquire pairs with the release of the process that used the slot before
      if (!request.state.compare_exchange_strong(expected, number | site_request::claimed, std::memory_order_acquire))
        continue;
      request.process.store(launchers_number(file), std::memory_order_relaxed);  // relaxed: a hint
      return {&request, number};
    }
    machine::sleep_ns(100'000);
  }
  return {};
}

namespace {

/// False if the launcher is gone, or too slow. Then the slot is free again.
bool await_answer(head& file, const claim& claimed) noexcept {
  std::atomic<std::uint32_t>& state = claimed.slot->state;
  const std::uint32_t asked = claimed.number | site_request::asked;
  bool has_waited = false;
  // acquire pairs with the launcher's release
  while (state.load(std::memory_order_acquire) == asked) {
    if (!launcher_lives(file) || (has_waited && launcher_has_ended(file))) {
      std::uint32_t expected = asked;
      // relaxed: what is in the slot belongs to nobody any more
      if (state.compare_exchange_strong(expected, claimed.number | site_request::free, std::memory_order_relaxed))
        return false;
    } else {
      machine::park_shared(state, asked, machine::clock_ns() + launcher_timeout_ns / 8);
      has_waited = true;
    }
  }
  return state.load(std::memory_order_acquire) == (claimed.number | site_request::answered);
}

}  // namespace

bool ask(head& file, const claim& claimed) noexcept {
  // release pairs with the launcher's acquire
  claimed.slot->state.store(claimed.number | site_request::asked, std::memory_order_release);
  file.doorbell.fetch_add(1, std::memory_order_seq_cst);
  machine::unpark_shared(file.doorbell, 1);
  return await_answer(file, claimed);
}

void give_back(const claim& claimed) noexcept {
  // release pairs with claim_site_request()
  claimed.slot->state.store(claimed.number | site_request::free, std::memory_order_release);
}

void put_name(const char* name, frame_list& out) noexcept {
  constexpr std::size_t room = sizeof(frame::module) - 1;
  std::size_t left = strnlen(name, max_name_bytes);
  for (out.count = 0; left != 0; ++out.count) {
    frame& part = out.frames[out.count];
    const std::size_t bytes = left < room ? left : room;
    part.offset = 0;
    std::memcpy(part.module, name, bytes);
    part.module[bytes] = '\0';
    name += bytes;
    left -= bytes;
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel
