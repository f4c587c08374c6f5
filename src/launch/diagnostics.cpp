// SPDX-License-Identifier: Apache-2.0
#include "launch/diagnostics.hpp"

#include <algorithm>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

using channel::diagnostic_kind;

std::string site_name(const site_resolver& from, std::uint32_t number) {
  const bool known = number != 0 && number <= from.sites().size();
  return known ? from.sites()[number - 1].place.name : "(unknown)";
}

void put_once(std::vector<std::string>& list, std::string sentence) {
  if (std::find(list.begin(), list.end(), sentence) == list.end()) list.push_back(std::move(sentence));
}

/// A second lock by the owner is a mistake only if nobody gives the lock up. That is known at the end of the run.
std::string end_of_relock(const std::vector<bool>& waited_at_end, std::uint32_t site) {
  const bool waited = site != 0 && site <= waited_at_end.size() && waited_at_end[site - 1];
  return waited ? "; when the run ended, a thread still waited there" : "";
}

std::string sentence_of(const site_resolver& from, const site_resolver::diagnostic& diagnostic,
                        const std::vector<bool>& waited_at_end) {
  const std::string lock = "a lock of site " + site_name(from, diagnostic.site);
  const std::string where =
      diagnostic.place.name + (diagnostic.place.where.empty() ? std::string() : " (" + diagnostic.place.where + ")");
  switch (diagnostic.kind) {
    case diagnostic_kind::double_unlock:
      return lock + " was unlocked while no thread held it, by " + where;
    case diagnostic_kind::unlock_by_non_owner:
      return lock + " was unlocked by a thread that did not hold it, by " + where;
    case diagnostic_kind::destroyed_locked:
      return lock + " was destroyed or initialised again while a thread held it, by " + where;
    case diagnostic_kind::order_inversion:
      return lock + " was taken while one of site " + site_name(from, diagnostic.other_site) +
             " was held, and elsewhere in the other order: threads can deadlock; by " + where;
    case diagnostic_kind::wait_without_mutex:
      return "a thread waited for a condition without holding its mutex, " + lock + ", by " + where;
    case diagnostic_kind::relock_by_owner:
      return lock +
             " was locked by the thread that held it; this thread waits until another thread unlocks it or its "
             "deadline comes, by " +
             where + end_of_relock(waited_at_end, diagnostic.site);
    case diagnostic_kind::condition_of_two_processes:
      return "threads of two processes waited for a condition whose attributes say that it belongs to one "
             "(pthread_condattr_setpshared), with " +
             lock + ", by " + where;
    case diagnostic_kind::priority_ignored:
      return "a thread with a real-time priority waited for " + lock +
             ", which ignores priorities under its policy, "
             "by " +
             where + "; policies mutex, spin and libc respect them";
  }
  return lock + " was used in a way that this version of txsync does not know, by " + where;
}

}  // namespace

std::vector<std::string> sentences_of(const site_resolver& from, const std::vector<bool>& waited_at_end) {
  std::vector<std::string> list;
  for (const site_resolver::diagnostic& one : from.diagnostics()) put_once(list, sentence_of(from, one, waited_at_end));
  return list;
}

std::vector<std::string> sites_that_ignored_a_priority(const site_resolver& from) {
  std::vector<std::string> list;
  for (const site_resolver::diagnostic& one : from.diagnostics())
    if (one.kind == diagnostic_kind::priority_ignored) put_once(list, site_name(from, one.site));
  return list;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
