// SPDX-License-Identifier: Apache-2.0
#include "sites.hpp"

#include <unistd.h>

#include <cstdio>

#include "acquisition.hpp"
#include "call_chain.hpp"
#include "channel/questions.hpp"
#include "known_places.hpp"
#include "loaded_code.hpp"
#include "main_heap.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

#ifndef TXSYNC_PRELOAD_PLACES
#define TXSYNC_PRELOAD_PLACES 32'768  // in a macro, for a test that fills the table
#endif
constinit known_places<TXSYNC_PRELOAD_PLACES> places;

std::uint64_t word_of(const site_answer& answer) noexcept {
  return std::uint64_t{answer.policy.word()} << 32 | answer.site << 1 | 1;
}
site_answer answer_of(std::uint64_t word, std::uintptr_t call = 0) noexcept {
  return {static_cast<std::uint32_t>(word) >> 1, policy::packed::of(static_cast<std::uint32_t>(word >> 32)), call};
}

/// What the launcher answered about a place.
struct told_answer {
  site_answer answer;
  bool is_told = false;
  std::uint32_t frames = 0;  // as in question
  object_places same;
};

template <class Place>
told_answer ask_site(channel::head& file, const Place& where, channel::asked_by by, object_kind kind) noexcept {
  told_answer made{{0, policy::packed::of(file.default_policy), 0}, false, 0, {}};
  const channel::claim mine = channel::claim_question(file);
  if (mine.slot == nullptr) return made;
  channel::question& asked = *mine.slot;
  asked.kind = kind;
  asked.by = by;
  describe(where, asked.where);
  if (!channel::ask(file, mine)) return made;
  const std::uint32_t site = asked.site <= channel::max_sites ? asked.site : 0;
  made = {{site, policy::packed::of(asked.policy), 0}, true, asked.frames, asked.same};
  channel::give_back(mine);
  return made;
}

/// There is no room to remember another place, and a question for each lock would cost 0.1 ms.
site_answer without_place(channel::head& file) noexcept {
  file.locks_without_place.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  return {0, policy::packed::of(file.default_policy), 0};
}

// ---- locks in static storage

/// Objects that share one site as a whole, or at each step: an array of locks costs one question. It grows up to its
/// size.
struct known_object {
  std::uint64_t file = 0;
  object_places places;
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
  known_object& one = objects[number];
  one.file = file;
  one.places = told.same;
  one.answer = word_of(told.answer);
  one.is_written.store(true, std::memory_order_release);
}

/// 0: not known.
std::uint64_t find_object(std::uint64_t file, std::uint64_t offset) noexcept {
  for (const known_object& one : objects) {
    if (!one.is_written.load(std::memory_order_acquire)) continue;
    if (one.file == file && one.places.has(offset)) return one.answer;
  }
  return 0;
}

site_answer site_of_object(channel::head& file, const static_place& object, object_kind kind) noexcept {
  const std::uint64_t in = mixed(object.file_hash(), static_cast<std::uint64_t>(kind));
  const std::uint64_t hash = mixed(in, object.offset) | 1;
  if (const std::uint64_t known = places.find(hash); known != 0) return answer_of(known);
  if (const std::uint64_t known = find_object(in, object.offset); known != 0) return answer_of(known);
  if (places.is_full()) return without_place(file);
  const told_answer told = ask_site(file, object, channel::asked_by::object, kind);
  if (!told.is_told) return told.answer;  // asked again, if the launcher comes back
  remember_object(in, told);
  (void)places.remember(hash, word_of(told.answer));
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
    return places.find(hash_);
  }
  std::uint64_t find_whole() const noexcept { return places.find(hash_of_whole(hash_)); }

 private:
  std::uint64_t hash_;
};

void remember_chain(const call_chain& chain, object_kind kind, const told_answer& told) noexcept {
  remember_code(chain.addresses, chain.count);
  const bool whole = told.frames == 0 || told.frames > chain.count;
  std::uint64_t hash = hash_of_no_frames(kind);
  for (std::uint32_t i = 0; i < (whole ? chain.count : told.frames); ++i) hash = mixed(hash, chain.addresses[i]);
  (void)places.remember(whole ? hash_of_whole(hash) : hash, word_of(told.answer));
}

[[gnu::noinline]] site_answer site_by_unwinding(channel::head& file, object_kind kind) noexcept {
  const call_chain chain = chain_of_caller();
  chain_search search(kind);
  for (std::uint32_t i = 0; i < chain.count; ++i) {
    if (const std::uint64_t known = search.find_with(chain.addresses[i]); known != 0)
      return answer_of(known, i == 0 ? chain.addresses[0] : 0);
  }
  if (const std::uint64_t known = search.find_whole(); known != 0) return answer_of(known);
  if (places.is_full()) return without_place(file);
  const told_answer told = ask_site(file, chain, channel::asked_by::calls, kind);
  if (told.is_told) remember_chain(chain, kind, told);  // else asked again, if the launcher comes back
  return told.answer;
}

constexpr const char* words_of(notice_kind kind) noexcept {
  switch (kind) {
    case notice_kind::double_unlock:
      return "a lock was unlocked while no thread held it";
    case notice_kind::unlock_by_stranger:
      return "a lock was unlocked by a thread that did not hold it";
    case notice_kind::destroyed_locked:
      return "a lock was destroyed while a thread held it";
    case notice_kind::order_inversion:
      return "two locks are taken in both orders";
    case notice_kind::wait_without_mutex:
      return "a thread waits for a condition without holding its mutex";
    case notice_kind::relock_by_owner:
      return "a thread locks a mutex that it holds; it waits until another thread unlocks it or its deadline comes";
    case notice_kind::condition_of_two_processes:
      return "two processes use a condition whose attributes say that it belongs to one";
    case notice_kind::priority_ignored:
      return "a thread with a real-time priority waits for a lock that ignores priorities";
  }
  return "";
}

/// True the first time for this place and kind.
bool is_news(std::uint64_t hash) noexcept {
  constexpr std::size_t size = 256;
  static constinit std::atomic<std::uint64_t> told[size] = {};
  for (std::size_t step = 0; step < size; ++step) {
    std::atomic<std::uint64_t>& one = told[(hash + step) % size];
    std::uint64_t seen = 0;
    if (one.compare_exchange_strong(seen, hash, std::memory_order_relaxed)) return true;  // relaxed: a set of numbers
    if (seen == hash) return false;
  }
  return false;
}

void tell_standard_error(notice_kind kind, const call_chain& chain) noexcept {
  char line[512];
  place where;
  describe(chain, where);
  const int length =
      where.count == 0 ? std::snprintf(line, sizeof line, "txsync: %s\n", words_of(kind))
                       : std::snprintf(line, sizeof line, "txsync: %s, by %s+0x%llx (process %d)\n", words_of(kind),
                                       where.frames[0].module, static_cast<unsigned long long>(where.frames[0].offset),
                                       static_cast<int>(getpid()));
  if (length > 0) say(line, static_cast<std::size_t>(length));
}

}  // namespace

[[gnu::noinline]] site_answer find_site(object_kind kind, const void* object) noexcept {
  channel::head* const file = open_file();
  if (file == nullptr) return {site_without_channel(), default_policy(), 0, true};
  if (const policy::packed everywhere = policy::packed::of(file->default_policy);
      file->is_one_policy != 0 && !needs_site(everywhere))
    return {0, everywhere, 0, true};
  if (!is_on_stack(object) && !is_on_main_heap(object)) {
    const static_place place = find_static(object);
    if (place.path != nullptr) return site_of_object(*file, place, kind);
  }
  quick_walk up(__builtin_frame_address(0));
  chain_search search(kind);
  for (unsigned i = 0; i < place::most; ++i) {
    const std::uintptr_t address = up.next();
    if (address == 0) break;
    if (const std::uint64_t known = search.find_with(address); known != 0)
      return answer_of(known, i == 0 ? address : 0);
  }
  return site_by_unwinding(*file, kind);
}

void tell(notice_kind kind, std::uint32_t site, std::uint32_t other_site) noexcept {
  const call_chain chain = chain_of_caller();
  if (!is_news((chain.hash() ^ (std::uint64_t{site} << 32) ^ (std::uint64_t{other_site} << 48)) * 31 +
               static_cast<std::uint64_t>(kind)))
    return;
  channel::head* const file = open_file();
  if (file == nullptr) return tell_standard_error(kind, chain);
  const std::uint32_t number = file->notices_given.fetch_add(1, std::memory_order_relaxed);  // relaxed: a ticket
  if (number >= channel::head::max_notices) return;
  notice& one = file->notices[number];
  one.process = launchers_number(*file);
  one.site = site;
  one.other_site = other_site;
  describe(chain, one.where);
  one.kind.store(static_cast<std::uint32_t>(kind), std::memory_order_release);  // pairs with the launcher's acquire
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload
