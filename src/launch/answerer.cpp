// SPDX-License-Identifier: Apache-2.0
#include "launch/answerer.hpp"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>

#include "channel/processes.hpp"
#include "observe/document/printable.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

using channel::asked_by;
using channel::question;

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

answerer::answerer(channel_file& channel, const policy::policy_set& policies, place_names& names, std::string preloaded)
    : channel_(channel),
      policies_(policies),
      names_(names),
      list_(channel.path()),
      notice_read_(channel::head::max_notices),
      started_(std::move(preloaded)) {
  // Signals are left to the thread that runs the program.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void answerer::stop() {
  if (!thread_.joinable()) return;
  ending_.store(true);
  channel_.head().doorbell.fetch_add(1);
  machine::unpark_shared(channel_.head().doorbell, machine::everyone);
  thread_.join();
  channel_.say_gone();
}

void answerer::work() {
  channel::head& head = channel_.head();
  for (;;) {
    // acquire: pairs with an asker's increment after its question; read before looking, so that no question is missed
    const std::uint32_t rung = head.doorbell.load(std::memory_order_acquire);
    const bool last = ending_.load();
    look();
    if (last) return;
    (void)machine::park_shared(head.doorbell, rung, machine::clock_ns() + max_sleep_ns);
  }
}

void answerer::look() {
  channel_.say_alive();
  for (unsigned i = 0; i < channel::head::questions_at_once; ++i) {
    question& asked = channel_.head().questions[i];
    // acquire pairs with the asker's release: the place is complete
    const std::uint32_t state = asked.state.load(std::memory_order_acquire);
    if (state != seen_[i].state) seen_[i] = {state, machine::clock_ns()};
    const std::uint32_t turn = state & question::turn_bits;
    if (turn == question::asked) {
      answer(asked, state);
    } else if (turn != question::free) {
      free_if_abandoned(asked, seen_[i]);
    }
  }
  read_notices();
  started_.read(channel_.head());
}

void answerer::answer(question& asked, std::uint32_t state) {
  const std::uint32_t process = asked.process.load(std::memory_order_relaxed);  // relaxed: a hint
  std::string program = names_.program_of(process);
  // The kernel appends this to the name of a file that was replaced while it ran.
  constexpr std::string_view gone = " (deleted)";
  if (program.ends_with(gone)) program.resize(program.size() - gone.size());
  const place_answer& known = answer_of(asked, process, program);
  // What a process without a number runs is unknown.
  if (known.site != 0 && process != 0) sites_[known.site - 1].programs.insert(program.substr(program.rfind('/') + 1));
  asked.site = known.site;
  asked.frames = known.frames;
  asked.same = known.same;
  const std::string_view name = asked.site == 0 ? std::string_view() : sites_[asked.site - 1].place.name;
  if (asked.by == asked_by::name) {
    // The locks are the program's own. What no policy says about them stays as the program has it.
    const observe::said_policy told = policies_.said(name);
    asked.policy = told.word;
    asked.said = told.said;
    if (asked.site != 0) sites_[asked.site - 1].heeded |= asked.heeded;
  } else {
    asked.policy = policies_.find(name).word();
  }
  // release: the asker reads the answer after it has seen this. The exchange fails if the asker has given up.
  if (asked.state.compare_exchange_strong(state, state - question::asked + question::answered,
                                          std::memory_order_release, std::memory_order_relaxed))
    machine::unpark_shared(asked.state, machine::everyone);
}

/// Frees a slot of a process that has ended between claiming, asking and fetching.
void answerer::free_if_abandoned(question& asked, const last_look& seen) {
  // relaxed: a hint; the exchange below frees only this question
  if (machine::clock_ns() - seen.since < abandoned_after_ns ||
      !has_ended(asked.process.load(std::memory_order_relaxed)))
    return;
  std::uint32_t state = seen.state;
  // release: the next thread that claims the slot has it alone
  asked.state.compare_exchange_strong(state, state & ~std::uint32_t{question::turn_bits}, std::memory_order_release,
                                      std::memory_order_relaxed);
}

namespace {

std::string name_in(const channel::place& where) {
  std::string name;
  for (std::uint32_t i = 0; i < where.count && i < channel::place::most; ++i)
    name.append(where.frames[i].module, strnlen(where.frames[i].module, sizeof where.frames[i].module));
  return name;
}

}  // namespace

/// `program`: what the process runs. Processes of several programs may ask for the same offsets.
std::string answerer::key_of(const channel::question& asked, const std::string& program) {
  if (asked.by == asked_by::name) return std::string(1, '\0') + 'n' + name_in(asked.where);
  std::string key = program + '\0' + (asked.by == asked_by::object ? 'o' : 'c');
  const channel::place& where = asked.where;
  for (std::uint32_t i = 0; i < where.count && i < channel::place::most; ++i) {
    const channel::frame& frame = where.frames[i];
    key.append(reinterpret_cast<const char*>(&frame.offset), sizeof frame.offset);
    key.append(frame.module, strnlen(frame.module, sizeof frame.module));
    key += '\0';
  }
  return key;
}

const answerer::place_answer& answerer::answer_of(const question& asked, std::uint32_t process,
                                                  const std::string& program) {
  const auto [at, is_new] = by_place_.try_emplace(key_of(asked, program));
  if (is_new) at->second = find_answer(asked, process);
  return at->second;
}

answerer::place_answer answerer::find_answer(const question& asked, std::uint32_t process) {
  // To find a name costs time, and this name would not be used.
  if (sites_.size() >= channel::max_sites) {
    ++refused_;
    return {};
  }
  object_name named;
  if (asked.by == asked_by::name) {
    named.name.name = observe::printable(name_in(asked.where));
    if (named.name.name.empty()) named.name.name = "(no name)";
  } else if (asked.by == asked_by::object) {
    named = names_.name_object(asked.where, process, asked.kind);
  } else {
    named.name = names_.name(asked.where, process);
  }
  place_answer made{0, named.name.frames, named.same};
  const auto [known, is_new_site] = by_name_.try_emplace(named.name.name, 0);
  if (is_new_site) {
    sites_.push_back({std::move(named.name), asked.kind, 0, {}});
    known->second = static_cast<std::uint32_t>(sites_.size());
    const site& made_site = sites_.back();
    list_.add({known->second, to_string(made_site.kind), made_site.place.name, made_site.place.where,
               made_site.place.module});
  }
  made.site = known->second;
  return made;
}

void answerer::read_notices() {
  channel::head& head = channel_.head();
  // relaxed: only how far to look; each record has its own release
  const std::uint32_t given = head.notices_given.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < std::min(given, channel::head::max_notices); ++i) {
    channel::notice& one = head.notices[i];
    if (notice_read_[i]) continue;
    const auto kind =
        static_cast<channel::notice_kind>(one.kind.load(std::memory_order_acquire));  // the record is complete
    if (kind == channel::notice_kind{}) continue;
    notice_read_[i] = true;
    notices_.push_back({kind, one.process, one.site, one.other_site, names_.name(one.where, one.process)});
  }
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch
