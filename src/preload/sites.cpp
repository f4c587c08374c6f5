// SPDX-License-Identifier: Apache-2.0
#include "sites.hpp"

#include <unistd.h>

#include <cstdio>

#include "acquisition.hpp"
#include "call_chain.hpp"
#include "channel/site_requests.hpp"
#include "known_answers.hpp"
#include "loaded_code.hpp"
#include "main_heap.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

#ifndef TXSYNC_PRELOAD_ANSWERS
#define TXSYNC_PRELOAD_ANSWERS 32'768  // in a macro, for a test that fills the table
#endif
constinit known_answers<TXSYNC_PRELOAD_ANSWERS> answers;

std::uint64_t word_of(const site_answer& answer) noexcept {
  return std::uint64_t{answer.policy.word()} << 32 | answer.site << 1 | 1;
}
site_answer answer_of(std::uint64_t word, std::uintptr_t call = 0) noexcept {
  return {static_cast<std::uint32_t>(word) >> 1, policy::packed::of(static_cast<std::uint32_t>(word >> 32)), call};
}

/// What the launcher answered to a site request.
struct told_answer {
  site_answer answer;
  bool is_told = false;
  std::uint32_t frames = 0;  // as in site_request
  object_offsets same;
};

template <class Place>
told_answer ask_site(channel::head& file, const Place& where, channel::asked_by by, object_kind kind) noexcept {
  told_answer told{{0, policy::packed::of(file.default_policy), 0}, false, 0, {}};
  const channel::claim claimed = channel::claim_site_request(file);
  if (claimed.slot == nullptr) return told;
  channel::site_request& request = *claimed.slot;
  request.kind = kind;
  request.by = by;
  describe(where, request.where);
  if (!channel::ask(file, claimed)) return told;
  const std::uint32_t site = request.site <= channel::max_sites ? request.site : 0;
  told = {{site, policy::packed::of(request.policy), 0}, true, request.frames, request.same};
  channel::give_back(claimed);
  return told;
}

/// There is no room to remember another answer, and a request for each lock would cost 0.1 ms.
site_answer without_room(channel::head& file) noexcept {
  file.locks_without_room.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  return {0, policy::packed::of(file.default_policy), 0};
}

// ---- locks in static storage

/// Objects that share one site as a whole, or at each step: an array of locks costs one request. It grows up to its
/// size.
struct known_object {
  std::uint64_t file = 0;
  object_offsets offsets;
  std::uint64_t answer = 0;
  std::atomic<bool> is_written{false};  // release by its writer; pairs with the acquire of readers
};
constexpr std::uint32_t max_objects = 128;
constinit known_object objects[max_objects] = {};
constinit std::atomic<std::uint32_t> objects_given{0};

void remember_object(std::uint64_t file, const told_answer& told) noexcept {
  if (told.same.end <= told.same.begin) return;
  // relaxed, here and below: a ticket. None is drawn if none is left, since the number must not wrap around.
  if (objects_given.load(std::memory_order_relaxed) >= max_objects) return;
  const std::uint32_t number = objects_given.fetch_add(1, std::memory_order_relaxed);
  if (number >= max_objects) return;
  known_object& known = objects[number];
  known.file = file;
  known.offsets = told.same;
  known.answer = word_of(told.answer);
  known.is_written.store(true, std::memory_order_release);
}

/// 0: not known.
std::uint64_t find_object(std::uint64_t file, std::uint64_t offset) noexcept {
  for (const known_object& known : objects) {
    if (!known.is_written.load(std::memory_order_acquire)) continue;
    if (known.file == file && known.offsets.has(offset)) return known.answer;
  }
  return 0;
}

site_answer site_of_object(channel::head& file, const static_location& object, object_kind kind) noexcept {
  const std::uint64_t in = mixed(object.file_hash(), static_cast<std::uint64_t>(kind));
  const std::uint64_t hash = mixed(in, object.offset) | 1;
  if (const std::uint64_t known = answers.find(hash); known != 0) return answer_of(known);
  if (const std::uint64_t known = find_object(in, object.offset); known != 0) return answer_of(known);
  if (answers.is_full()) return without_room(file);
  const told_answer told = ask_site(file, object, channel::asked_by::object, kind);
  if (!told.is_told) return told.answer;  // asked again, if the launcher comes back
  remember_object(in, told);
  (void)answers.remember(hash, word_of(told.answer));
  return told.answer;
}

// ---- others

/// The hash with which a search for the frames of a chain begins, from the innermost frame outwards.
std::uint64_t hash_of_no_frames(object_kind kind) noexcept {
  return mixed(code_epoch(), static_cast<std::uint64_t>(kind));
}

/// The hash if the whole chain decides, and no single frame.
std::uint64_t hash_of_whole(std::uint64_t frames) noexcept { return mixed(frames, ~std::uint64_t{0}); }

/// What is known about a chain, and about its innermost frames.
class chain_search {
 public:
  explicit chain_search(object_kind kind) noexcept : hash_(hash_of_no_frames(kind)) {}

  /// With one more frame; 0: not known.
  std::uint64_t find_with(std::uintptr_t address) noexcept {
    hash_ = mixed(hash_, address);
    return answers.find(hash_);
  }
  std::uint64_t find_whole() const noexcept { return answers.find(hash_of_whole(hash_)); }

 private:
  std::uint64_t hash_;
};

void remember_chain(const call_chain& chain, object_kind kind, const told_answer& told) noexcept {
  remember_code(chain.addresses, chain.count);
  const bool whole = told.frames == 0 || told.frames > chain.count;
  std::uint64_t hash = hash_of_no_frames(kind);
  for (std::uint32_t i = 0; i < (whole ? chain.count : told.frames); ++i) hash = mixed(hash, chain.addresses[i]);
  (void)answers.remember(whole ? hash_of_whole(hash) : hash, word_of(told.answer));
}

[[gnu::noinline]] site_answer site_by_unwinding(channel::head& file, object_kind kind) noexcept {
  const call_chain chain = chain_of_caller();
  chain_search search(kind);
  for (std::uint32_t i = 0; i < chain.count; ++i) {
    if (const std::uint64_t known = search.find_with(chain.addresses[i]); known != 0)
      return answer_of(known, i == 0 ? chain.addresses[0] : 0);
  }
  if (const std::uint64_t known = search.find_whole(); known != 0) return answer_of(known);
  if (answers.is_full()) return without_room(file);
  const told_answer told = ask_site(file, chain, channel::asked_by::calls, kind);
  if (told.is_told) remember_chain(chain, kind, told);  // else asked again, if the launcher comes back
  return told.answer;
}

constexpr const char* words_of(diagnostic_kind kind) noexcept {
  switch (kind) {
    case diagnostic_kind::double_unlock:
      return "a lock was unlocked while no thread held it";
    case diagnostic_kind::unlock_by_non_owner:
      return "a lock was unlocked by a thread that did not hold it";
    case diagnostic_kind::destroyed_locked:
      return "a lock was destroyed while a thread held it";
    case diagnostic_kind::order_inversion:
      return "two locks are taken in both orders";
    case diagnostic_kind::wait_without_mutex:
      return "a thread waits for a condition without holding its mutex";
    case diagnostic_kind::relock_by_owner:
      return "a thread locks a mutex that it holds; it waits until another thread unlocks it or its deadline comes";
    case diagnostic_kind::condition_of_two_processes:
      return "two processes use a condition whose attributes say that it belongs to one";
    case diagnostic_kind::priority_ignored:
      return "a thread with a real-time priority waits for a lock that ignores priorities";
  }
  return "";
}

/// True the first time for this call chain and kind.
bool first_time(std::uint64_t hash) noexcept {
  constexpr std::size_t size = 256;
  static constinit std::atomic<std::uint64_t> reported[size] = {};
  for (std::size_t step = 0; step < size; ++step) {
    std::atomic<std::uint64_t>& slot = reported[(hash + step) % size];
    std::uint64_t expected = 0;
    // relaxed: a set of numbers
    if (slot.compare_exchange_strong(expected, hash, std::memory_order_relaxed)) return true;
    if (expected == hash) return false;
  }
  return false;
}

void report_on_standard_error(diagnostic_kind kind, const call_chain& chain) noexcept {
  char line[512];
  frame_list where;
  describe(chain, where);
  const int length =
      where.count == 0 ? std::snprintf(line, sizeof line, "txsync: %s\n", words_of(kind))
                       : std::snprintf(line, sizeof line, "txsync: %s, by %s+0x%llx (process %d)\n", words_of(kind),
                                       where.frames[0].module, static_cast<unsigned long long>(where.frames[0].offset),
                                       static_cast<int>(getpid()));
  if (length > 0) log(line, static_cast<std::size_t>(length));
}

}  // namespace

policy::packed policy_of_site(std::uint32_t number) noexcept {
  const channel::head* const file = open_file();
  if (file == nullptr) return default_policy();
  // relaxed: the process that asked has the answer before others find the site's number
  const std::uint32_t told = number <= max_sites ? file->site_policies[number].load(std::memory_order_relaxed) : 0;
  return policy::packed::of(told != 0 ? told : file->default_policy);
}

[[gnu::noinline]] site_answer find_site(object_kind kind, const void* object) noexcept {
  channel::head* const file = open_file();
  if (file == nullptr) return {site_without_channel(), default_policy(), 0, true};
  if (const policy::packed everywhere = policy::packed::of(file->default_policy);
      file->is_one_policy != 0 && !needs_site(everywhere))
    return {0, everywhere, 0, true};
  if (!is_on_stack(object) && !is_on_main_heap(object)) {
    const static_location location = find_static(object);
    if (location.path != nullptr) return site_of_object(*file, location, kind);
  }
  quick_walk up(__builtin_frame_address(0));
  chain_search search(kind);
  for (unsigned i = 0; i < frame_list::max_frames; ++i) {
    const std::uintptr_t address = up.next();
    if (address == 0) break;
    if (const std::uint64_t known = search.find_with(address); known != 0)
      return answer_of(known, i == 0 ? address : 0);
  }
  return site_by_unwinding(*file, kind);
}

void report(diagnostic_kind kind, std::uint32_t site, std::uint32_t other_site) noexcept {
  const call_chain chain = chain_of_caller();
  if (!first_time((chain.hash() ^ (std::uint64_t{site} << 32) ^ (std::uint64_t{other_site} << 48)) * 31 +
                  static_cast<std::uint64_t>(kind)))
    return;
  channel::head* const file = open_file();
  if (file == nullptr) return report_on_standard_error(kind, chain);
  const std::uint32_t number = file->diagnostics_given.fetch_add(1, std::memory_order_relaxed);  // relaxed: a ticket
  if (number >= channel::head::max_diagnostics) return;
  diagnostic& record = file->diagnostics[number];
  record.process = launchers_number(*file);
  record.site = site;
  record.other_site = other_site;
  describe(chain, record.where);
  record.kind.store(static_cast<std::uint32_t>(kind), std::memory_order_release);  // pairs with the launcher's acquire
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
