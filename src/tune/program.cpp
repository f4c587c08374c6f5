// SPDX-License-Identifier: Apache-2.0
#include "tune/program.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <txsync/machine/attempt.hpp>

#include "launch/program_input.hpp"
#include "policy/words.hpp"

namespace txsync::inline TXSYNC_BACKEND::tune {
namespace {

using parts = policy::packed::parts;

/// The parts of its policy that the locks of a site heed; of a named one they have told it.
std::uint32_t parts_of(const std::string& object, std::uint32_t heeded) {
  if (object == "named") return heeded;
  if (object == "mutex") return parts::lock | parts::elision | parts::warm_up;
  if (object == "rwlock") return parts::rwlock | parts::elision;
  return object == "spinlock" ? parts::spinlock : 0;
}

/// Calls with each key of policy files ("lock") and the table of its words, for those parts.
template <class Function>
void for_parts(std::uint32_t which, Function&& call) {
  using policy::packed;
  if ((which & parts::lock) != 0) call("lock", policy::words_of<policy::lock_kind>::all, &packed::lock);
  if ((which & parts::rwlock) != 0) call("rwlock", policy::words_of<policy::rwlock_kind>::all, &packed::rwlock);
  if ((which & parts::spinlock) != 0) call("spinlock", policy::words_of<policy::spinlock_kind>::all, &packed::spinlock);
  if ((which & parts::elision) != 0) call("elision", policy::words_of<policy::elision_kind>::all, &packed::elision);
  if ((which & parts::warm_up) != 0) call("warm_up", policy::words_of<policy::warm_up_kind>::all, &packed::warm_up);
}

/// Strict order is only for no more threads than cores, the papers' spin locks may starve a thread, and readers that
/// meet inside a mutex hang. None is tried unless it is named. Of elision and of warm-up what txsync means by them,
/// where the machine can and the site has a lock of ours.
bool is_tried(const std::string& object, const std::string& kind, policy::packed present) {
  const bool ours = object == "named" || (object == "rwlock" ? present.rwlock != policy::rwlock_kind::libc
                                                             : present.lock != policy::lock_kind::libc);
  const bool usual = kind.ends_with("=off") || kind.ends_with("=standard");
  if (kind.starts_with("elision=")) return ours && usual && machine::htm().attempts;
  if (kind.starts_with("warm_up=")) return ours && usual && machine::htm().always_abort;
  return kind != "lock=fifo-ticket" && kind != "lock=tatas" && kind != "lock=priority-tatas" &&
         kind != "rwlock=as-mutex";
}

/// "lock=ticket" for each word but the one that the site has.
std::vector<std::string> others(const observe::site_record& site, policy::packed present) {
  const std::string& object = site.kind;
  std::vector<std::string> list;
  for_parts(parts_of(object, site.heeded), [&](const char* key, const auto& words, auto member) {
    for (const auto& [word, kind] : words) {
      const std::string text = std::string(key) + "=" + word;
      if (kind != present.*member && is_tried(object, text, present)) list.push_back(text);
    }
  });
  return list;
}

/// Puts "lock=ticket" into the choices.
void apply(const std::string& kind, policy::packed& choices) {
  for_parts(~std::uint32_t{0}, [&](const char* key, const auto& words, auto member) {
    for (const auto& [word, meaning] : words) {
      if (std::string(key) + "=" + word == kind) choices.*member = meaning;
    }
  });
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

}  // namespace

program_trial::program_trial(std::vector<std::string> command, std::optional<metric> number,
                             const std::vector<std::string>& candidates, std::optional<std::string> input)
    : command_(std::move(command)),
      number_(std::move(number)),
      input_(std::move(input)),
      doubts_(candidates.front(), number_.has_value()) {
  launch::check_takes_library(launch::find_program(command_.front()));
  for (const std::string& name : candidates) {
    policies_[name] = name == unmodified ? std::nullopt : std::optional(policy::load_policy(name));
  }
}

std::optional<policy::policy_set> program_trial::policy_of(const choice& what) const {
  std::optional<policy::policy_set> policy = policies_.at(what.candidate);
  if (!policy) return policy;
  for (const site_choice& one : what.sites) {
    auto at = std::find_if(policy->sites.begin(), policy->sites.end(),
                           [&](const auto& known) { return known.first == one.site; });
    if (at == policy->sites.end()) {
      policy::packed unsaid;
      unsaid.counting = policy->defaults.counting;
      at = policy->sites.insert(at, {one.site, unsaid});
    }
    apply(one.kind, at->second);
  }
  return policy;
}

measured program_trial::run(const choice& what, double timeout_seconds) {
  const std::optional<policy::policy_set> policy = policy_of(what);
  launch::options options;
  options.command = command_;
  options.preload = policy.has_value();
  if (policy) options.policies = *policy;
  options.capture = true;
  options.input = input_;
  options.end_family = true;  // or it runs beside the later rounds
  if (timeout_seconds > 0) options.limit_seconds = timeout_seconds;
  const launch::result ended = launcher_.launch(options);
  interrupted_ = interrupted_ || ended.interrupted != 0;
  threads_ = std::max(threads_, static_cast<unsigned>(ended.threads));
  wall_s_ += ended.wall_s;
  own_s_ += ended.user_s + ended.system_s;
  others_s_ += ended.others_s;
  measured result = judged(ended);
  if (ended.interrupted == 0) {
    doubts_.add({name_of(what), ended.wall_s, ended.exit_status, ended.output, ended.output_cut, ended.timed_out,
                 ended.read_in_vain, ended.without_library});
  }
  if (!ended.priority_ignored_at.empty()) {
    result.unfit = "a thread with a real-time priority waited at " + ended.priority_ignored_at.front() +
                   ", where this policy's lock ignores priorities";
  }
  for (const observe::site_record& site : ended.sites) result.sites.push_back(seen(site, policy));
  return result;
}

measured program_trial::judged(const launch::result& ended) const {
  measured result;
  result.seconds = ended.wall_s;
  result.value = ended.wall_s;
  if (ended.timed_out) {
    result.failure = "it took too long and was ended after " + seconds_text(ended.wall_s);
    const auto longest = std::max_element(ended.sites.begin(), ended.sites.end(),
                                          [](const auto& a, const auto& b) { return a.max_wait_ns < b.max_wait_ns; });
    if (longest != ended.sites.end() && longest->max_wait_ns > max_wait_ns) {
      result.failure +=
          "; a thread waited " + seconds_text(static_cast<double>(longest->max_wait_ns) / 1e9) + " at " + longest->name;
    }
  } else if (ended.exit_status != 0) {
    result.failure = ended.exit_status > 128 ? "it was ended by signal " + std::to_string(ended.exit_status - 128)
                                             : "its exit status was " + std::to_string(ended.exit_status);
    result.failure += "; " + last_lines(ended.output);
    if (!ended.without_library.empty())
      result.failure += "; a program that it started cannot load the library: " + ended.without_library.front();
  } else if (const char* const left = ended.read_in_vain ? launch::input_left_over() : nullptr; left != nullptr) {
    result.failure = std::string("it reads its standard input, which is ") + left +
                     " that not every run can read; give it as a file: --input FILE (/dev/null: nothing)";
  } else if (number_) {
    metric::found found = number_->in(ended.output);
    result.value = found.value;
    result.failure = std::move(found.failure);
  }
  return result;
}

site_seen program_trial::seen(const observe::site_record& counted,
                              const std::optional<policy::policy_set>& policy) const {
  const policy::packed present = policy ? policy->find(counted.name) : policy::packed{};
  std::vector<std::string> kinds = others(counted, present);
  return {counted, std::move(kinds)};
}

}  // namespace txsync::inline TXSYNC_BACKEND::tune
