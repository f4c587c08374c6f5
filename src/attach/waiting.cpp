// SPDX-License-Identifier: Apache-2.0
#include "attach/waiting.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

/// In one look. Each takes some 50 us of the program's time.
constexpr std::size_t max_stops = 64;

}  // namespace

bool is_lock(wait_kind kind) noexcept { return kind == wait_kind::mutex || kind == wait_kind::rwlock; }

const char* to_string(owner_state state) noexcept {
  switch (state) {
    case owner_state::runs:
      return "runs";
    case owner_state::sleeps:
      return "sleeps";
    case owner_state::waits:
      return "waits";
    case owner_state::stopped:
      break;
  }
  return "stopped";
}

/// One look.
class watcher::snapshot {
 public:
  explicit snapshot(watcher& all) : all_(all), of_(all.of_), tasks_(tasks_of(all.of_)) {}

  waiting make() {
    made_.threads = tasks_.size();
    for (const task& one : tasks_) {
      if (!one.call) ++made_.running;
      if (const auto wait = one.call ? futex_wait_in(*one.call) : std::nullopt) add_waiter(one, *wait);
    }
    find_owners();
    stop_threads();
    put_objects();
    find_deadlock();
    return std::move(made_);
  }

 private:
  struct seen_wait {
    const task* thread;
    waited_object object;
  };

  /// What the thread did at a moment of this look; nothing where it has gone on meanwhile.
  const call_chain* chain_of_blocked(const task& one) {
    if (!one.call) return nullptr;
    const blocked_call& call = *one.call;
    if (const auto known = chains_.find(one.id); known != chains_.end()) return &known->second;
    const call_chain chain = all_.calls_->unwind(copy_blocked(of_, all_.map_, call));
    if (blocked_call_of(of_.process, one.id) != call) return nullptr;
    // Unwinding may need a register that only a stop tells.
    if (!chain.complete && one.state == 'S' && goes_on_after_stop(call)) to_stop_.push_back(one.id);
    return &(chains_[one.id] = chain);
  }

  void add_waiter(const task& one, const futex_wait& wait) {
    const call_chain* const chain = chain_of_blocked(one);
    if (chain == nullptr) return;
    const wait_kind kind = kind_of(all_.names_.names(all_.map_, *chain));
    waits_.push_back({&one, object_of(of_, wait, kind, tasks_)});
    waits_for_[one.id] = waits_.back().object;
  }

  void find_owners() {
    for (const seen_wait& one : waits_) {
      task* const owner = by_inner_id(one.object.owner);
      if (owner == nullptr || chains_.count(owner->id) != 0) continue;
      if (owner->call && chain_of_blocked(*owner) != nullptr) continue;
      // It has gone on since the threads were listed, perhaps to its next sleep.
      owner->call = blocked_call_of(of_.process, owner->id);
      if (owner->call && chain_of_blocked(*owner) != nullptr) continue;
      owner->call.reset();
      if (owner->state != 'T' && owner->state != 't') to_stop_.push_back(owner->id);
    }
  }

  void stop_threads() {
    std::sort(to_stop_.begin(), to_stop_.end());
    to_stop_.erase(std::unique(to_stop_.begin(), to_stop_.end()), to_stop_.end());
    if (to_stop_.size() > max_stops) {
      made_.remarks.push_back(
          fmt::format("the calls of {} threads are not shown whole: at most {} threads are stopped in one look",
                      to_stop_.size() - max_stops, max_stops));
      to_stop_.resize(max_stops);
    }
    if (to_stop_.empty()) return;
    std::set<std::string> failures;
    const std::vector<stopped_thread> stopped = copy_stopping(of_, all_.map_, to_stop_);
    for (std::size_t i = 0; i < stopped.size(); ++i) {
      if (stopped[i].stop_ns != 0) ++made_.stops;
      made_.max_copy_ns = std::max(made_.max_copy_ns, stopped[i].copy_ns);
      made_.max_stop_ns = std::max(made_.max_stop_ns, stopped[i].stop_ns);
      if (stopped[i].copied) {
        keep_longer(to_stop_[i], all_.calls_->unwind(stopped[i].state));
      } else if (stopped[i].error == EPERM) {
        failures.insert(
            "threads cannot be stopped: another tool traces the process, or a sandbox forbids it; calls of "
            "threads that run are not shown");
      }
    }
    made_.remarks.insert(made_.remarks.end(), failures.begin(), failures.end());
  }

  /// A waiter's chain is replaced by one with all registers only if it is of the same wait.
  void keep_longer(int thread, call_chain chain) {
    const auto known = chains_.find(thread);
    if (known != chains_.end() && chain.frames.front().code != known->second.frames.front().code) return;
    if (known == chains_.end() || chain.complete || chain.frames.size() > known->second.frames.size())
      chains_[thread] = std::move(chain);
  }

  task* by_inner_id(int number) {
    const auto found =
        std::find_if(tasks_.begin(), tasks_.end(), [number](const task& one) { return one.inner_id == number; });
    return number == 0 || found == tasks_.end() ? nullptr : &*found;
  }

  seen_thread described(const task& one) {
    seen_thread made{one.id, observe::printable(one.name), {}, false};
    if (const auto chain = chains_.find(one.id); chain != chains_.end()) {
      made.calls = all_.names_.names(all_.map_, chain->second);
      made.complete = chain->second.complete;
    }
    return made;
  }

  seen_owner described_owner(const task& one) {
    seen_owner made{described(one), owner_state::runs, 0};
    if (const auto waits = waits_for_.find(one.id); waits != waits_for_.end()) {
      made.state = owner_state::waits;
      made.waits_for = waits->second.address;
    } else if (one.state == 'T' || one.state == 't') {
      made.state = owner_state::stopped;
    } else if (one.call) {
      made.state = owner_state::sleeps;
    }
    return made;
  }

  void put_objects() {
    std::map<std::pair<std::uint64_t, wait_kind>, seen_object> found;
    for (const seen_wait& one : waits_) {
      seen_object& into = found[{one.object.address, one.object.kind}];
      // Read several times, it may have changed hands: the last one to be seen holds it.
      into.object = one.object;
      into.waiters.push_back(described(*one.thread));
    }
    for (auto& [key, one] : found) {
      one.name = all_.names_.object_name(all_.map_, one.object.address, of_.process);
      if (const task* const owner = by_inner_id(one.object.owner); owner != nullptr)
        one.owner = described_owner(*owner);
      made_.objects.push_back(std::move(one));
    }
    std::sort(made_.objects.begin(), made_.objects.end(), [](const seen_object& a, const seen_object& b) {
      const auto rank = [](const seen_object& one) {
        return std::tuple(!is_lock(one.object.kind), -static_cast<long>(one.waiters.size()), one.object.address);
      };
      return rank(a) < rank(b);
    });
  }

  /// Nobody of them has moved during the whole look, so they all waited at one moment.
  void find_deadlock() {
    for (const seen_wait& start : waits_) {
      std::vector<int> path;
      const task* at = start.thread;
      while (at != nullptr && std::find(path.begin(), path.end(), at->id) == path.end()) {
        path.push_back(at->id);
        const auto waits = waits_for_.find(at->id);
        at = waits == waits_for_.end() || !is_lock(waits->second.kind) ? nullptr : by_inner_id(waits->second.owner);
      }
      if (at == nullptr) continue;
      path.erase(path.begin(), std::find(path.begin(), path.end(), at->id));
      if (std::all_of(path.begin(), path.end(), [this](int thread) { return has_not_moved(thread); })) {
        made_.deadlock = std::move(path);
        return;
      }
    }
  }

  bool has_not_moved(int thread) const {
    const auto one = std::find_if(tasks_.begin(), tasks_.end(), [thread](const task& it) { return it.id == thread; });
    return one != tasks_.end() && blocked_call_of(of_.process, thread) == one->call;
  }

  watcher& all_;
  const target& of_;
  std::vector<task> tasks_;
  std::map<int, call_chain> chains_;        // by thread
  std::map<int, waited_object> waits_for_;  // likewise
  std::vector<seen_wait> waits_;
  std::vector<int> to_stop_;
  waiting made_;
};

watcher::watcher(target of) : of_(std::move(of)) {}
watcher::~watcher() = default;

waiting watcher::look() {
  memory_map now(of_);
  // Mappings of files decide; a heap that grows only moves the ends of others.
  if (calls_ == nullptr || !now.same_mappings(map_)) {
    calls_.reset();
    map_ = std::move(now);
    calls_ = std::make_unique<unwinder>(of_, map_);
  }
  names_.refresh(of_);
  return snapshot(*this).make();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
