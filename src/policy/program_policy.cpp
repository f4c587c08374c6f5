// SPDX-License-Identifier: Apache-2.0
// Policy files that a program with named sites reads itself, by TXSYNC_POLICY or load_policy().
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <txsync/load_policy.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/machine/thread.hpp>

#include "observe/outside.hpp"
#include "observe/registry.hpp"
#include "policy/policy.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace policy {
namespace {

constexpr const char* variable = "TXSYNC_POLICY";

/// The choices of all files; later files override earlier ones. Threads that enter sites read it without a lock,
/// perhaps in signal handlers. So it never changes, and each further file makes a new object.
class all_files {
 public:
  all_files(const policy_set& file, const all_files* before) : defaults_(file.set_by_default()) {
    for (const auto& [name, choices] : file.sites) sites_[name] = file.set_for(name);
    if (before == nullptr) return;
    for (auto& [name, own] : sites_) own = own.over(before->set_for(name));
    for (const auto& [name, earlier] : before->sites_) sites_.try_emplace(name, defaults_.over(earlier));
    defaults_ = defaults_.over(before->defaults_);
  }

  observe::partial_policy set_for(std::string_view name) const noexcept {
    const auto at = sites_.find(name);
    return at == sites_.end() ? defaults_ : at->second;
  }

 private:
  observe::partial_policy defaults_;
  std::map<std::string, observe::partial_policy, std::less<>> sites_;
};

// Both are sequentially consistent: see site_registry. No object is ever freed.
constinit std::atomic<const all_files*> known{nullptr};
constinit std::atomic<std::uint32_t> files{0};

/// Serialises calls of load_policy(). It is not a mutex, because that would appear in the table of `txsync run`.
class turn {
 public:
  turn() noexcept {
    // acquire pairs with the release below
    while (is_taken_.exchange(true, std::memory_order_acquire)) machine::yield();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() { is_taken_.store(false, std::memory_order_release); }

 private:
  static constinit std::atomic<bool> is_taken_;
};
constinit std::atomic<bool> turn::is_taken_{false};

/// Throws the errors that load_policy() returns as text.
void load(const char* name_or_file) {
  const policy_set file = load_policy(std::string(name_or_file));
  const turn mine;
  auto all = std::make_unique<const all_files>(file, known.load());
  known.store(all.release());
  files.fetch_add(1);
  observe::site_registry::put_policies();
}

// Runs before the program's own constructors, which may take locks. It cannot wait for the first lock call: that may
// come from the program's allocator or a signal handler, and reading a file allocates memory.
[[gnu::constructor(102)]] void read_environment() noexcept {
  const char* const asked = machine::environment(variable);
  if (asked == nullptr || *asked == '\0') return;
  const std::string error = txsync::load_policy(asked);
  if (error.empty()) return;
  std::string line = "txsync: " + std::string(variable) + ": " + error + "\n";
  machine::complain(line.data(), line.size());
}

}  // namespace
}  // namespace policy

std::string load_policy(const char* name_or_file) noexcept {
  try {
    policy::load(name_or_file);
    return {};
  } catch (const std::exception& error) {
    try {
      return error.what();
    } catch (...) {
      return "out of memory";  // short enough for std::string to need no memory
    }
  }
}

namespace observe {

partial_policy policy_from_files(const char* name) noexcept {
  const policy::all_files* const all = policy::known.load();
  return all == nullptr ? partial_policy{} : all->set_for(name);
}

std::uint32_t files_read() noexcept { return policy::files.load(); }

}  // namespace observe

}  // namespace txsync::TXSYNC_INLINE_BACKEND
