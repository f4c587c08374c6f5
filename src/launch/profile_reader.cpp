// SPDX-License-Identifier: Apache-2.0
#include "launch/profile_reader.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include <txsync/machine/cpu.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
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
channel::frame frame_of(const chain_area& area, const chain_record& record, std::uint32_t i) {
  channel::frame frame;
  frame.offset = record.offsets[i];
  if (record.files[i] < chain_area::max_files)
    std::memcpy(frame.module, area.files[record.files[i]].path, sizeof frame.module);
  return frame;
}

/// The calls, the innermost first. Functions that only wrap the lock are left out, since they belong to the other call:
/// in a chain of waits, to the unlock.
std::vector<named_call> calls_of(const chain_area& area, const chain_record& record, place_names& names) {
  std::vector<named_call> calls;
  for (std::uint32_t i = 0; i < std::min(record.count, chain_record::max_frames); ++i) {
    for (named_call& call : names.calls(frame_of(area, record, i), record.process)) calls.push_back(std::move(call));
  }
  const auto begin =
      std::find_if(calls.begin(), calls.end(), [](const named_call& call) { return !is_lock_wrapper(call.name); });
  if (begin == calls.end()) return calls;
  calls.erase(calls.begin(), begin);
  return calls;
}

std::string key_of(const blame& chain) {
  std::string key = chain.site;
  for (const named_call& call : chain.calls)
    key += '\0' + call.name + '\0' + call.file + ':' + std::to_string(call.line) + call.module;
  return key;
}

/// Adds up the chains with the same calls.
class collection {
 public:
  void add(blame chain) {
    const auto [at, is_new] = by_calls_.try_emplace(key_of(chain), all_.size());
    if (is_new) return all_.push_back(std::move(chain));
    all_[at->second].waits += chain.waits;
    all_[at->second].wait_ns += chain.wait_ns;
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

blame blame_of(const chain_area& area, const chain_record& record, const std::string& site, place_names& names) {
  blame chain;
  chain.calls = calls_of(area, record, names);
  std::reverse(chain.calls.begin(), chain.calls.end());
  chain.calls.push_back({name_of(record.call, record.kind), {}, 0, {}, 0, false});
  chain.site = site;
  // relaxed, both: the program has ended
  chain.waits = record.waits.load(std::memory_order_relaxed);
  chain.wait_ns = record.wait_ns.load(std::memory_order_relaxed);
  return chain;
}

blame rest_of(const site_resolver::site& site, std::uint64_t waits, std::uint64_t wait_ns) {
  blame chain;
  chain.calls = {{"(no call chain)", {}, 0, {}, 0, false}, {name_of(site.kind), {}, 0, {}, 0, false}};
  chain.site = site.place.name;
  chain.waits = waits;
  chain.wait_ns = wait_ns;
  chain.is_rest = true;
  return chain;
}

std::uint64_t less(std::uint64_t all, std::uint64_t part) { return all - std::min(all, part); }

}  // namespace

read_chains chains_of(const channel_file& channel, const std::vector<site_resolver::site>& sites, place_names& names,
                      const std::vector<observe::site_totals>& all_waits) {
  collection waits;
  collection holds;
  std::vector<observe::wait_sum> in_chains(sites.size());
  read_chains chains;
  if (const auto area = channel.read_chains()) {
    chains.left_out = area->left_out.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < chain_area::max_chains; ++i) {
      const chain_record& record = area->records[i];
      // acquire pairs with the release of its writer
      if (record.is_written.load(std::memory_order_acquire) == 0 || record.site == 0 || record.site > sites.size())
        continue;
      blame named = blame_of(*area, record, sites[record.site - 1].place.name, names);
      if (record.kind != chain_kind::waits) {
        holds.add(std::move(named));
        continue;
      }
      in_chains[record.site - 1].waits += named.waits;
      in_chains[record.site - 1].ns += named.wait_ns;
      waits.add(std::move(named));
    }
  }
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const observe::site_totals& all = all_waits[i];
    const std::uint64_t ns = less(all.wait_ns + all.failed_wait_ns, in_chains[i].ns);
    if (ns != 0) waits.add(rest_of(sites[i], less(all.contended + all.failed_waits, in_chains[i].waits), ns));
  }
  chains.waits = waits.take();
  chains.holds = holds.take();
  return chains;
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
  read_events events;
  const auto area = channel.read_events();
  if (!area) return events;
  const std::uint64_t given = area->given.load(std::memory_order_relaxed);
  const std::uint64_t kept = std::min(given, preload::event_area::max_events);
  events.left_out = given - kept;
  for (std::uint64_t i = 0; i < kept; ++i) {
    const preload::profile_event& event = area->events[i];
    const std::uint32_t kind = event.kind.load(std::memory_order_acquire);  // pairs with the release of its writer
    if (kind == 0 || event.site == 0 || event.site > sites.size()) continue;
    events.events.push_back({kind_of(kind), sites[event.site - 1].place.name, event.process, event.thread, event.object,
                             to_ns(less(event.since, started_at)), to_ns(event.cycles)});
  }
  std::sort(events.events.begin(), events.events.end(), [](const lock_event& a, const lock_event& b) {
    return std::tie(a.start_ns, b.ns) < std::tie(b.start_ns, a.ns);
  });
  return events;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
