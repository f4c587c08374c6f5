// SPDX-License-Identifier: Apache-2.0
#include "policy/policy.hpp"

#include <algorithm>

#include "policy/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::policy {
namespace {

template <class Kind>
const char* word_of(Kind kind) noexcept {
  for (const auto& [word, meaning] : words_of<Kind>::all) {
    if (meaning == kind) return word;
  }
  return nullptr;
}

constexpr packed with_lock(lock_kind kind) {
  packed made = built_in;
  made.lock = kind;
  return made;
}

constexpr named_policy by_name[] = {
    {"libc",
     "the program's own locks, counted",
     {lock_kind::libc, rwlock_kind::libc, spinlock_kind::libc, true, elision_kind::off, warm_up_kind::off}},
    {"mutex", "a mutex that parks; the built-in default", built_in},
    {"spin", "a spin lock that starves no thread: waiters spin long, then queue", with_lock(lock_kind::spin)},
    {"tatas", "the papers' spin lock, test and test-and-set with backoff: a waiter may starve",
     with_lock(lock_kind::tatas)},
    {"ticket", "a fair ticket lock that parks the waiters that exceed the cores", with_lock(lock_kind::ticket)},
    {"fifo-ticket", "a strict first-come, first-served ticket lock; for at most as many threads as cores",
     with_lock(lock_kind::fifo_ticket)},
    {"as-mutex",
     "reader-writer locks as mutexes; a program whose readers wait for each other inside one hangs",
     {lock_kind::mutex, rwlock_kind::as_mutex, spinlock_kind::tatas, true, elision_kind::off, warm_up_kind::off}},
    {"warm",
     "ticket locks with warm-up: waiters run ahead in always-abort attempts, where the machine has them and it pays",
     {lock_kind::ticket, rwlock_kind::rwlock, spinlock_kind::tatas, true, elision_kind::off, warm_up_kind::standard}},
    {"elide",
     "mutexes and reader-writer locks that run as hardware transactions where the machine has them and it pays",
     {lock_kind::mutex, rwlock_kind::rwlock, spinlock_kind::tatas, true, elision_kind::standard, warm_up_kind::off}},
};

}  // namespace

const char* to_string(lock_kind kind) noexcept { return word_of(kind); }
const char* to_string(rwlock_kind kind) noexcept { return word_of(kind); }
const char* to_string(spinlock_kind kind) noexcept { return word_of(kind); }
const char* to_string(elision_kind kind) noexcept { return word_of(kind); }
const char* to_string(warm_up_kind kind) noexcept { return word_of(kind); }
const char* to_string(openmp_kind kind) noexcept { return word_of(kind); }

std::string to_string(packed choices) {
  std::string text;
  const auto add = [&text](const char* key, const char* word) {
    if (word != nullptr) text += std::string(text.empty() ? "" : " ") + key + "=" + word;
  };
  add("lock", to_string(choices.lock));
  add("elision", to_string(choices.elision));
  add("warm_up", to_string(choices.warm_up));
  add("rwlock", to_string(choices.rwlock));
  add("spinlock", to_string(choices.spinlock));
  add("counting", choices.counting ? "true" : "false");
  return text;
}

std::uint32_t followed_parts(std::string_view kind, std::uint32_t heeded) noexcept {
  using parts = packed::parts;
  if (kind == "named") return heeded;
  if (kind == "mutex") return parts::lock | parts::elision | parts::warm_up;
  if (kind == "rwlock") return parts::rwlock | parts::elision;
  return kind == "spinlock" ? parts::spinlock : 0;
}

packed policy_set::find(std::string_view site) const {
  const auto or_else = [](packed first, packed second) {
    if (first.lock == lock_kind::unset) first.lock = second.lock;
    if (first.rwlock == rwlock_kind::unset) first.rwlock = second.rwlock;
    if (first.spinlock == spinlock_kind::unset) first.spinlock = second.spinlock;
    if (first.elision == elision_kind::unset) first.elision = second.elision;
    if (first.warm_up == warm_up_kind::unset) first.warm_up = second.warm_up;
    return first;
  };
  const packed base = or_else(defaults, built_in);
  const auto at = std::find_if(sites.begin(), sites.end(), [site](const auto& one) { return one.first == site; });
  return at == sites.end() ? base : or_else(at->second, base);
}

namespace {

/// Without the fields that say "libc": the program's own locks of named sites have no such kind.
observe::partial_policy without_libc(packed choices, std::uint32_t mask) {
  using parts = packed::parts;
  if (choices.lock == lock_kind::libc) mask &= ~parts::lock;
  if (choices.rwlock == rwlock_kind::libc) mask &= ~parts::rwlock;
  if (choices.spinlock == spinlock_kind::libc) mask &= ~parts::spinlock;
  return {choices.word() & mask, mask};
}

}  // namespace

observe::partial_policy policy_set::set_by_default() const { return without_libc(defaults, default_mask); }

observe::partial_policy policy_set::set_for(std::string_view site) const {
  const auto at = std::find_if(sites.begin(), sites.end(), [site](const auto& one) { return one.first == site; });
  if (at == sites.end()) return set_by_default();
  const packed choices = at->second;
  const bool sets_counting = choices.counting != defaults.counting || (default_mask & policy_word::counting_off) != 0;
  const std::uint32_t own = choices.set_bits() | (sets_counting ? policy_word::counting_off : 0);
  // Where the site says "libc", the default's choice does not apply, either.
  const observe::partial_policy before{set_by_default().word & ~own, set_by_default().mask & ~own};
  return without_libc(choices, own).over(before);
}

std::span<const named_policy> named_policies() noexcept { return by_name; }

std::string warning_of(const policy_set& set) {
  const auto excludes_readers = [](packed choices) { return choices.rwlock == rwlock_kind::as_mutex; };
  if (!set.any(excludes_readers)) return {};
  return "rwlock = \"as-mutex\" admits one reader at a time: a program whose readers wait for each other inside a lock "
         "hangs";
}

std::optional<policy_set> find_named(std::string_view name) {
  for (const named_policy& one : by_name) {
    if (!is_word(name, one.name)) continue;
    // "libc" leaves the program's own locks as they are, so it sets nothing for named sites.
    const bool says = one.defaults.lock != lock_kind::libc;
    policy_set made;
    made.defaults = one.defaults;
    made.default_mask = says ? one.defaults.set_bits() | policy_word::counting_off : 0;
    return made;
  }
  return std::nullopt;
}

policy_set load_policy(const std::string& name_or_file) {
  if (std::optional<policy_set> named = find_named(name_or_file)) return *named;
  // A name without a dot or a slash cannot be a file.
  if (name_or_file.find_first_of("./") != std::string::npos) return read_policy_file(name_or_file);
  std::string names;
  for (const named_policy& one : by_name) names += std::string(one.name) + ", ";
  throw policy_error("unknown policy '" + name_or_file + "'; allowed: " + names +
                     "or a policy file (./FILE, FILE.toml)");
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::policy
