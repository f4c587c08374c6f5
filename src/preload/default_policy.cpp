// SPDX-License-Identifier: Apache-2.0
// What the preloaded library does when it opens the launcher's file, and without one.
#include <txsync/machine/environment.hpp>

#include "contention.hpp"
#include "found_once.hpp"
#include "order.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

const counting_library this_library = counting_library::preloaded;
const char* const without_file = "its locks get the default policy and are not counted";

void begin_in(head& file) noexcept {
  // relaxed: read by threads that have found the file open
  preload::order_watched.store(file.check_order != 0, std::memory_order_relaxed);
  preload::watch_contention(file);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

constexpr policy::packed built_in_policy = {policy::lock_kind::mutex,     policy::rwlock_kind::rwlock,
                                            policy::spinlock_kind::tatas, true,
                                            policy::elision_kind::off,    policy::warm_up_kind::off};

struct known_policy {
  policy::packed everywhere{};
};

void find_policy(known_policy& out) noexcept {
  out.everywhere = built_in_policy;
  const char* const text = machine::environment(channel::policy_variable);
  if (machine::environment(channel::file_variable) == nullptr || text == nullptr) return;
  std::uint32_t word = 0;
  for (const char* digit = text; *digit != '\0'; ++digit) word = word * 10 + static_cast<std::uint32_t>(*digit - '0');
  out.everywhere = policy::packed::of(word);
}

}  // namespace

policy::packed default_policy() noexcept { return found_once<known_policy, find_policy>().everywhere; }
std::uint32_t site_without_channel() noexcept { return 0; }

void log(const char* text, std::size_t length) noexcept { machine::complain(text, length); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
