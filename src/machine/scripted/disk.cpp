// SPDX-License-Identifier: Apache-2.0
#include "disk.hpp"

#include <algorithm>

#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::script {

namespace {

void replay(std::string& content, const change& one) {
  if (one.truncates) return content.resize(one.offset);
  if (content.size() < one.offset + one.data.size()) content.resize(one.offset + one.data.size());
  content.replace(one.offset, one.data.size(), one.data);
}

/// One step of the splitmix64 generator (Steele, Lea, Flood 2014).
std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15u;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

/// What a crash leaves of one change; nothing if it is lost.
std::optional<change> survivor(const change& one, std::uint64_t& random) {
  constexpr std::size_t sector = 512;
  switch (next_random(random) % 3) {
    case 0:
      return std::nullopt;
    case 1:
      return one;
    default:
      break;
  }
  if (one.truncates) return one;
  const std::size_t sectors = one.data.size() / sector + 1;
  change part = one;
  part.data.resize(std::min(one.data.size(), sector * (next_random(random) % sectors)));
  return part;
}

void crash_inode(inode& file, unsynced rest, std::uint64_t& random) {
  for (const change& one : file.pending) {
    if (rest == unsynced::kept) replay(file.durable, one);
    if (rest != unsynced::torn) continue;
    if (const std::optional<change> left = survivor(one, random)) replay(file.durable, *left);
  }
  file.pending.clear();
  file.seen = file.durable;
}

}  // namespace

void inode::make(change one) {
  replay(seen, one);
  pending.push_back(std::move(one));
}

void inode::sync() {
  for (const change& one : pending) replay(durable, one);
  pending.clear();
}

disk& the_disk() {
  static disk* const only = new disk;
  return *only;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

bool has_folder(const disk& all, const std::string& folder) { return folder.empty() || all.folders.contains(folder); }

void sync_names(disk& all, const std::string& folder) {
  std::erase_if(all.durable, [&](const auto& entry) { return folder_of(entry.first) == folder; });
  for (const auto& entry : all.seen) {
    if (folder_of(entry.first) == folder) all.durable.insert(entry);
  }
}

std::optional<failure> strike(disk& all, file_call call) {
  ++all.calls[static_cast<std::size_t>(call)];
  ++all.calls[static_cast<std::size_t>(file_call::any)];
  std::optional<failure> hit;
  for (failure& one : all.failures) {
    if (one.call != call && one.call != file_call::any) continue;
    if (--one.left == 0) hit = one;
  }
  std::erase_if(all.failures, [](const failure& one) { return one.left == 0; });
  if (!hit && all.broken != 0 && (call == file_call::write || call == file_call::sync)) {
    hit = failure{call, 0, all.broken, nothing_torn};
  }
  return hit;
}

void reset_files() {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  all.seen.clear();
  all.durable.clear();
  all.folders.clear();
  for (handle& one : all.handles) one.lost = one.of != nullptr;
  all.failures.clear();
  all.broken = 0;
  all.calls = {};
}

void file_system::put(const std::string& path, const std::string& content) {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  for (std::string folder = folder_of(path); !folder.empty(); folder = folder_of(folder)) all.folders.insert(folder);
  auto file = std::make_shared<inode>();
  file->seen = file->durable = content;
  all.seen[path] = all.durable[path] = file;
}

std::optional<std::string> file_system::content(const std::string& path) const {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  const auto found = all.seen.find(path);
  return found == all.seen.end() ? std::nullopt : std::optional(found->second->seen);
}

std::optional<std::string> file_system::durable_content(const std::string& path) const {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  const auto found = all.durable.find(path);
  return found == all.durable.end() ? std::nullopt : std::optional(found->second->durable);
}

bool file_system::is_directory(const std::string& path) const {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  return has_folder(all, path);
}

void file_system::fail(file_call call, unsigned nth, int error) {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  all.failures.push_back({call, nth, error, nothing_torn});
}

void file_system::tear_write(unsigned nth, std::size_t bytes, int error) {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  all.failures.push_back({file_call::write, nth, error, bytes});
}

void file_system::break_down(int error) {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  all.broken = error;
}

void file_system::crash(unsynced rest, std::uint64_t seed) {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  for (const auto& entry : all.durable) crash_inode(*entry.second, rest, seed);
  all.seen = all.durable;
  for (handle& one : all.handles) one.lost = one.of != nullptr;
  all.broken = 0;
}

std::uint64_t file_system::calls(file_call call) const {
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  return all.calls[static_cast<std::size_t>(call)];
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::script
