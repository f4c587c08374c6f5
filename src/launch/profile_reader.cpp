// SPDX-License-Identifier: Apache-2.0
#include "launch/profile_reader.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include <txsync/machine/cpu.hpp>

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

using preload::chain_area;
using preload::chain_kind;
using preload::chain_record;
using preload::lock_call;

const char* name_of(lock_call call, chain_kind kind) {
  const bool takes = kind == chain_kind::waits;
  switch (call) {
    case lock_call::mutex:
      return takes ? "pthread_mutex_lock" : "pthread_mutex_unlock";
    case lock_call::read:
      return takes ? "pthread_rwlock_rdlock" : "pthread_rwlock_unlock";
    case lock_call::write:
      return takes ? "pthread_rwlock_wrlock" : "pthread_rwlock_unlock";
    case lock_call::spin:
      return takes ? "pthread_spin_lock" : "pthread_spin_unlock";
  }
  return "(unknown)";
}

/// The lock call of a site's remaining waits, which may belong to several calls.
const char* name_of(channel::object_kind kind) {
  switch (kind) {
    case channel::object_kind::rwlock:
      return "pthread_rwlock_rdlock or _wrlock";
    case channel::object_kind::spinlock:
      return "pthread_spin_lock";
    case channel::object_kind::mutex:
    case channel::object_kind::barrier:
    case channel::object_kind::named:
      break;
  }
  return "pthread_mutex_lock";
}

/// The place of one call of a record. Nothing relies on what the program wrote there.
channel::frame frame_of(const chain_area& area, const chain_record& one, std::uint32_t i) {
  channel::frame made;
  made.offset = one.offsets[i];
  if (one.files[i] < chain_area::max_files) std::memcpy(made.module, area.files[one.files[i]].path, sizeof made.module);
  return made;
}

/// The calls, the innermost first. Functions that only wrap the lock are left out, since they belong to the other call:
/// in a chain of waits, to the unlock.
std::vector<named_call> calls_of(const chain_area& area, const chain_record& one, place_names& names) {
  std::vector<named_call> calls;
  for (std::uint32_t i = 0; i < std::min(one.count, chain_record::max_frames); ++i) {
    for (named_call& call : names.calls(frame_of(area, one, i), one.process)) calls.push_back(std::move(call));
  }
  const auto begin =
      std::find_if(calls.begin(), calls.end(), [](const named_call& call) { return !is_lock_wrapper(call.name); });
  if (begin == calls.end()) return calls;
  calls.erase(calls.begin(), begin);
  return calls;
}

std::string key_of(const blame& one) {
  std::string key = one.site;
  for (const named_call& call : one.calls)
    key += '\0' + call.name + '\0' + call.file + ':' + std::to_string(call.line) + call.module;
  return key;
}

/// Adds up the chains with the same calls.
class collection {
 public:
  void add(blame one) {
    const auto [at, is_new] = by_calls_.try_emplace(key_of(one), all_.size());
    if (is_new) return all_.push_back(std::move(one));
    all_[at->second].waits += one.waits;
    all_[at->second].wait_ns += one.wait_ns;
  }
  std::vector<blame> take() {
    std::sort(all_.begin(), all_.end(),
              [](const blame& a, const blame& b) { return std::tie(b.wait_ns, a.site) < std::tie(a.wait_ns, b.site); });
    return std::move(all_);
  }

 private:
  std::map<std::string, std::size_t> by_calls_;
  std::vector<blame> all_;
};

blame blame_of(const chain_area& area, const chain_record& one, const std::string& site, place_names& names) {
  blame made;
  made.calls = calls_of(area, one, names);
  std::reverse(made.calls.begin(), made.calls.end());
  made.calls.push_back({name_of(one.call, one.kind), {}, 0, {}, 0, false});
  made.site = site;
  // relaxed, both: the program has ended
  made.waits = one.waits.load(std::memory_order_relaxed);
  made.wait_ns = one.wait_ns.load(std::memory_order_relaxed);
  return made;
}

blame rest_of(const site_resolver::site& site, std::uint64_t waits, std::uint64_t wait_ns) {
  blame made;
  made.calls = {{"(no call chain)", {}, 0, {}, 0, false}, {name_of(site.kind), {}, 0, {}, 0, false}};
  made.site = site.place.name;
  made.waits = waits;
  made.wait_ns = wait_ns;
  made.is_rest = true;
  return made;
}

std::uint64_t less(std::uint64_t all, std::uint64_t part) { return all - std::min(all, part); }

}  // namespace

read_chains chains_of(const channel_file& channel, const std::vector<site_resolver::site>& sites, place_names& names,
                      const std::vector<observe::site_totals>& all_waits) {
  collection waits;
  collection holds;
  std::vector<observe::wait_sum> in_chains(sites.size());
  read_chains made;
  if (const auto area = channel.read_chains()) {
    made.left_out = area->left_out.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < chain_area::max_chains; ++i) {
      const chain_record& one = area->records[i];
      // acquire pairs with the release of its writer
      if (one.is_written.load(std::memory_order_acquire) == 0 || one.site == 0 || one.site > sites.size()) continue;
      blame named = blame_of(*area, one, sites[one.site - 1].place.name, names);
      if (one.kind != chain_kind::waits) {
        holds.add(std::move(named));
        continue;
      }
      in_chains[one.site - 1].waits += named.waits;
      in_chains[one.site - 1].ns += named.wait_ns;
      waits.add(std::move(named));
    }
  }
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const observe::site_totals& all = all_waits[i];
    const std::uint64_t ns = less(all.wait_ns + all.failed_wait_ns, in_chains[i].ns);
    if (ns != 0) waits.add(rest_of(sites[i], less(all.contended + all.failed_waits, in_chains[i].waits), ns));
  }
  made.waits = waits.take();
  made.holds = holds.take();
  return made;
}

namespace {

std::uint64_t to_ns(std::uint64_t cycles) {
  return static_cast<std::uint64_t>(static_cast<long double>(cycles) * 1e9L /
                                    static_cast<long double>(machine::cycles_per_second()));
}

lock_event::kind kind_of(std::uint32_t kind) {
  if (kind == static_cast<std::uint32_t>(preload::event_kind::hold)) return lock_event::kind::hold;
  return kind == static_cast<std::uint32_t>(preload::event_kind::wait) ? lock_event::kind::wait
                                                                       : lock_event::kind::failed_wait;
}

}  // namespace

read_events events_of(const channel_file& channel, const std::vector<site_resolver::site>& sites,
                      std::uint64_t started_at) {
  read_events made;
  const auto area = channel.read_events();
  if (!area) return made;
  const std::uint64_t given = area->given.load(std::memory_order_relaxed);
  const std::uint64_t kept = std::min(given, preload::event_area::max_events);
  made.left_out = given - kept;
  for (std::uint64_t i = 0; i < kept; ++i) {
    const preload::profile_event& one = area->events[i];
    const std::uint32_t kind = one.kind.load(std::memory_order_acquire);  // pairs with the release of its writer
    if (kind == 0 || one.site == 0 || one.site > sites.size()) continue;
    made.events.push_back({kind_of(kind), sites[one.site - 1].place.name, one.process, one.thread, one.object,
                           to_ns(less(one.since, started_at)), to_ns(one.cycles)});
  }
  std::sort(made.events.begin(), made.events.end(), [](const lock_event& a, const lock_event& b) {
    return std::tie(a.start_ns, b.ns) < std::tie(b.start_ns, a.ns);
  });
  return made;
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch
