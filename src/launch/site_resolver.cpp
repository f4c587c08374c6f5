// SPDX-License-Identifier: Apache-2.0
#include "launch/site_resolver.hpp"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>

#include "channel/processes.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

using channel::asked_by;
using channel::site_request;

constexpr std::uint64_t max_sleep_ns = 50'000'000;
/// A slot that has not changed for so long may belong to a process that has ended.
constexpr std::uint64_t abandoned_after_ns = 1'000'000'000;

/// 0: a process that the launcher has no number for.
bool has_ended(std::uint32_t process) { return process != 0 && channel::has_ended(process); }

}  // namespace

const char* to_string(channel::object_kind kind) noexcept {
  switch (kind) {
    case channel::object_kind::mutex:
      return "mutex";
    case channel::object_kind::rwlock:
      return "rwlock";
    case channel::object_kind::spinlock:
      return "spinlock";
    case channel::object_kind::barrier:
      return "barrier";
    case channel::object_kind::named:
      return "named";
  }
  return "";
}

site_resolver::site_resolver(channel_file& channel, const policy::policy_set& policies, place_names& names,
                             std::string preloaded)
    : channel_(channel),
      policies_(policies),
      names_(names),
      list_(channel.path()),
      diagnostic_read_(channel::head::max_diagnostics),
      started_(std::move(preloaded)) {
  // Signals are left to the thread that runs the program.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void site_resolver::stop() {
  if (!thread_.joinable()) return;
  ending_.store(true);
  channel_.head().doorbell.fetch_add(1);
  machine::unpark_shared(channel_.head().doorbell, machine::everyone);
  thread_.join();
  channel_.mark_gone();
}

void site_resolver::work() {
  channel::head& head = channel_.head();
  for (;;) {
    // acquire: pairs with an asker's increment after its request; read before looking, so that no request is missed
    const std::uint32_t rung = head.doorbell.load(std::memory_order_acquire);
    const bool last = ending_.load();
    look();
    if (last) return;
    (void)machine::park_shared(head.doorbell, rung, machine::clock_ns() + max_sleep_ns);
  }
}

void site_resolver::look() {
  channel_.mark_alive();
  for (unsigned i = 0; i < channel::head::site_requests_at_once; ++i) {
    site_request& request = channel_.head().site_requests[i];
    // acquire pairs with the asker's release: the place is complete
    const std::uint32_t state = request.state.load(std::memory_order_acquire);
    if (state != seen_[i].state) seen_[i] = {state, machine::clock_ns()};
    const std::uint32_t turn = state & site_request::turn_bits;
    if (turn == site_request::asked) {
      answer(request, state);
    } else if (turn != site_request::free) {
      free_if_abandoned(request, seen_[i]);
    }
  }
  read_diagnostics();
  started_.read(channel_.head());
}

void site_resolver::answer(site_request& request, std::uint32_t state) {
  const std::uint32_t process = request.process.load(std::memory_order_relaxed);  // relaxed: a hint
  std::string program = names_.program_of(process);
  // The kernel appends this to the name of a file that was replaced while it ran.
  constexpr std::string_view gone = " (deleted)";
  if (program.ends_with(gone)) program.resize(program.size() - gone.size());
  const place_answer& known = answer_of(request, process, program);
  // What a process without a number runs is unknown.
  if (known.site != 0 && process != 0) sites_[known.site - 1].programs.insert(program.substr(program.rfind('/') + 1));
  request.site = known.site;
  request.frames = known.frames;
  request.same = known.same;
  const std::string_view name = request.site == 0 ? std::string_view() : sites_[request.site - 1].place.name;
  if (request.by == asked_by::name) {
    // The locks are the program's own. What no policy says about them stays as the program has it.
    const observe::partial_policy own = policies_.set_for(name);
    request.policy = own.word;
    request.mask = own.mask;
    if (request.site != 0) sites_[request.site - 1].heeded |= request.heeded;
  } else {
    request.policy = policies_.find(name).word();
    // relaxed: the release below publishes it; the same for all places of the site
    if (request.site != 0) channel_.head().site_policies[request.site].store(request.policy, std::memory_order_relaxed);
  }
  // release: the asker reads the answer after it has seen this. The exchange fails if the asker has given up.
  if (request.state.compare_exchange_strong(state, state - site_request::asked + site_request::answered,
                                            std::memory_order_release, std::memory_order_relaxed))
    machine::unpark_shared(request.state, machine::everyone);
}

/// Frees a slot of a process that has ended between claiming, asking and fetching.
void site_resolver::free_if_abandoned(site_request& request, const last_look& look) {
  // relaxed: a hint; the exchange below frees only this request
  if (machine::clock_ns() - look.since < abandoned_after_ns ||
      !has_ended(request.process.load(std::memory_order_relaxed)))
    return;
  std::uint32_t state = look.state;
  // release: the next thread that claims the slot has it alone
  request.state.compare_exchange_strong(state, state & ~std::uint32_t{site_request::turn_bits},
                                        std::memory_order_release, std::memory_order_relaxed);
}

namespace {

std::string name_in(const channel::frame_list& where) {
  std::string name;
  for (std::uint32_t i = 0; i < where.count && i < channel::frame_list::max_frames; ++i)
    name.append(where.frames[i].module, strnlen(where.frames[i].module, sizeof where.frames[i].module));
  return name;
}

}  // namespace

/// `program`: what the process runs. Processes of several programs may ask for the same offsets.
std::string site_resolver::key_of(const channel::site_request& request, const std::string& program) {
  if (request.by == asked_by::name) return std::string(1, '\0') + 'n' + name_in(request.where);
  std::string key = program + '\0' + (request.by == asked_by::object ? 'o' : 'c');
  const channel::frame_list& where = request.where;
  for (std::uint32_t i = 0; i < where.count && i < channel::frame_list::max_frames; ++i) {
    const channel::frame& frame = where.frames[i];
    key.append(reinterpret_cast<const char*>(&frame.offset), sizeof frame.offset);
    key.append(frame.module, strnlen(frame.module, sizeof frame.module));
    key += '\0';
  }
  return key;
}

const site_resolver::place_answer& site_resolver::answer_of(const site_request& request, std::uint32_t process,
                                                            const std::string& program) {
  const auto [at, is_new] = by_place_.try_emplace(key_of(request, program));
  if (is_new) at->second = find_answer(request, process);
  return at->second;
}

site_resolver::place_answer site_resolver::find_answer(const site_request& request, std::uint32_t process) {
  // To find a name costs time, and this name would not be used.
  if (sites_.size() >= channel::max_sites) {
    ++refused_;
    return {};
  }
  object_name named;
  if (request.by == asked_by::name) {
    named.name.name = observe::printable(name_in(request.where));
    if (named.name.name.empty()) named.name.name = "(no name)";
  } else if (request.by == asked_by::object) {
    named = names_.name_object(request.where, process, request.kind);
  } else {
    named.name = names_.name(request.where, process);
  }
  place_answer answer{0, named.name.frames, named.same};
  const auto [known, is_new_site] = by_name_.try_emplace(named.name.name, 0);
  if (is_new_site) {
    sites_.push_back({std::move(named.name), request.kind, 0, {}});
    known->second = static_cast<std::uint32_t>(sites_.size());
    const site& made_site = sites_.back();
    list_.add({known->second, to_string(made_site.kind), made_site.place.name, made_site.place.where,
               made_site.place.module});
  }
  answer.site = known->second;
  return answer;
}

void site_resolver::read_diagnostics() {
  channel::head& head = channel_.head();
  // relaxed: only how far to look; each record has its own release
  const std::uint32_t given = head.diagnostics_given.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < std::min(given, channel::head::max_diagnostics); ++i) {
    channel::diagnostic& record = head.diagnostics[i];
    if (diagnostic_read_[i]) continue;
    const auto kind =
        static_cast<channel::diagnostic_kind>(record.kind.load(std::memory_order_acquire));  // the record is complete
    if (kind == channel::diagnostic_kind{}) continue;
    diagnostic_read_[i] = true;
    diagnostics_.push_back(
        {kind, record.process, record.site, record.other_site, names_.name(record.where, record.process)});
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
