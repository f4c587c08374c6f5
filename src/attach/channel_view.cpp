// SPDX-License-Identifier: Apache-2.0
#include "attach/channel_view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fmt/core.h>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/file.hpp>
#include <txsync/machine/memory.hpp>

#include "base/descriptor.hpp"
#include "channel/channel.hpp"
#include "channel/counting_threads.hpp"
#include "launch/folder.hpp"
#include "observe/blocks.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_prefix = "txsync-";
constexpr const char* file_prefix = "channel-";
constexpr std::size_t secret_digits = 32;
constexpr std::size_t max_list_bytes = std::size_t{16} << 20;  // more than 4095 sites need

/// The head of a channel, copied: no page of the file is relied upon to stay.
std::unique_ptr<channel::head> read_head(int file) {
  auto head = std::make_unique<channel::head>();
  if (pread(file, static_cast<void*>(head.get()), sizeof *head, 0) != static_cast<ssize_t>(sizeof *head))
    return nullptr;
  const bool fits = head->magic == channel::head::magic_number && head->version == channel::head::current_version &&
                    head->block_bytes >= observe::block_bytes() && head->block_layout == observe::block_layout() &&
                    head->block_bytes % machine::page_size() == 0 && head->block_limit <= channel::head::max_blocks;
  return fits ? std::move(head) : nullptr;
}

/// By its sign of life; the lock of the file must not be tried, since its launcher may be about to take it.
bool launcher_looks_alive(const channel::head& head) {
  // relaxed: a copy
  const std::uint64_t last = head.launcher_alive.load(std::memory_order_relaxed);
  return last != 0 && machine::clock_ns() - last < channel::launcher_timeout_ns;
}

std::uint32_t blocks_of(const channel::head& head) {
  return std::min(head.blocks_given.load(std::memory_order_relaxed), head.block_limit);  // relaxed: a copy
}

bool lives(int process) { return process > 0 && (kill(process, 0) == 0 || errno == EPERM); }

std::vector<int> processes_in(const channel::head& head) {
  std::set<int> found;
  for (std::uint32_t i = 0; i < blocks_of(head); ++i) {
    // relaxed: a copy
    const auto one =
        static_cast<int>(channel::block_owner::process_in(head.block_owners[i].load(std::memory_order_relaxed)));
    if (lives(one)) found.insert(one);
  }
  return {found.begin(), found.end()};
}

std::string command_of(int process) {
  constexpr std::size_t most = 200;
  char buffer[most + 8];  // more than is shown, so that it is seen to be cut
  const std::string file = fmt::format("/proc/{}/cmdline", process);
  const machine::file_result length = machine::read_text(file.c_str(), buffer, sizeof buffer);
  std::string text(buffer, length.ok() ? static_cast<std::size_t>(length.value) : 0);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return observe::printable(text.size() > most ? fmt::format("{}...", text.substr(0, most)) : text);
}

base::descriptor open_ours(const std::string& path) {
  base::descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about{};
  const bool good = file.get() >= 0 && fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode) &&
                    (about.st_uid == geteuid() || geteuid() == 0);
  if (!good) file.reset();
  return file;
}

void add_launch(const fs::path& folder, std::vector<running_launch>& found) {
  const std::string name = folder.filename();
  struct stat about{};
  if (!name.starts_with(folder_prefix) || lstat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return;
  std::error_code error;
  for (const fs::path& entry : launch::entries_of(folder, error)) {
    const std::string file_name = entry.filename();
    if (!file_name.starts_with(file_prefix) || file_name.size() != std::strlen(file_prefix) + secret_digits) continue;
    const base::descriptor file = open_ours(entry);
    const std::unique_ptr<channel::head> head = file.get() < 0 ? nullptr : read_head(file.get());
    if (head == nullptr || !launcher_looks_alive(*head)) continue;
    running_launch one{std::atoi(name.c_str() + std::strlen(folder_prefix)), entry, processes_in(*head), {}};
    one.command = command_of(one.processes.empty() ? one.launcher : one.processes.front());
    found.push_back(std::move(one));
  }
}

}  // namespace

std::vector<running_launch> running_launches() {
  std::set<std::string> parents = {"/dev/shm", "/tmp"};
  if (const char* const chosen = std::getenv("TMPDIR"); chosen != nullptr && *chosen != '\0') parents.insert(chosen);
  std::vector<running_launch> found;
  std::error_code error;
  for (const std::string& parent : parents) {
    for (const fs::path& entry : launch::entries_of(parent, error)) add_launch(entry, found);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.launcher < b.launcher; });
  return found;
}

bool belongs_to(const running_launch& one, int process) {
  if (one.launcher == process) return true;
  if (std::find(one.processes.begin(), one.processes.end(), process) != one.processes.end()) return true;
  // One that has taken no lock yet has the file mapped all the same.
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(one.channel)) return true;
  }
  return false;
}

channel_view::channel_view(const std::string& path) : path_(path), file_(open_ours(path)) {
  if (file_.get() < 0) throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  if (read_head(file_.get()) == nullptr)
    throw std::runtime_error("the program counts for another version of txsync; use the txsync that started it");
}

bool channel_view::is_alive() const {
  const std::unique_ptr<channel::head> head = read_head(file_.get());
  return head != nullptr && launcher_looks_alive(*head);
}

const std::vector<launch::listed_site>& channel_view::sites() {
  const base::descriptor file = open_ours(launch::site_list::path_beside(path_));
  if (file.get() < 0) return sites_;
  std::string text;
  char part[4096];
  while (text.size() < max_list_bytes) {
    const ssize_t got = pread(file.get(), part, sizeof part, static_cast<off_t>(text.size()));
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  sites_.clear();
  for (launch::listed_site& one : launch::parse_site_list(text)) {
    if (one.number == sites_.size() + 1) sites_.push_back(std::move(one));
  }
  return sites_;
}

channel_counts channel_view::read() const {
  channel_counts made;
  made.at_ns = machine::clock_ns();
  made.totals.resize(sites_.size());
  const std::unique_ptr<channel::head> head = read_head(file_.get());
  if (head == nullptr || sites_.empty()) return made;
  const auto count = static_cast<std::uint32_t>(sites_.size());
  const std::size_t bytes = observe::block_bytes_up_to(count);
  const std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(64, (bytes + 63) / 64 * 64), &std::free);
  if (block == nullptr) throw std::bad_alloc();
  channel::counting_threads threads;
  for (std::uint32_t i = 0; i < blocks_of(*head); ++i) {
    const auto at = static_cast<off_t>(head->first_block + i * head->block_bytes);
    if (pread(file_.get(), block.get(), bytes, at) != static_cast<ssize_t>(bytes)) continue;
    observe::add_block(block.get(), made.totals.data(), count);
    const std::uint32_t owner = head->block_owners[i].load(std::memory_order_relaxed);  // a copy
    threads.add(owner, observe::thread_in(block.get()));
    const bool counts = lives(static_cast<int>(channel::block_owner::process_in(owner)));
    const observe::unfinished_wait wait = observe::unfinished_in(block.get(), counts ? machine::cycles() : 0);
    if (wait.site_id != 0 && wait.site_id <= count) observe::add(made.totals[wait.site_id - 1], wait);
  }
  made.threads = threads.count();
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
