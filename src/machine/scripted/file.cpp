// SPDX-License-Identifier: Apache-2.0
// The seam's files, on the scripted disk.
#include <txsync/machine/file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "disk.hpp"
#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

using script::disk;
using script::file_call;
using script::handle;
using script::inode;
using script::the_disk;

file_result done(std::size_t value = 0) noexcept { return {static_cast<std::int64_t>(value)}; }
file_result failed(int error) noexcept { return {-static_cast<std::int64_t>(error)}; }

/// Runs `body(disk)` as one call of that kind, unless the script lets it fail.
template <class Body>
file_result one_call(file_call call, Body body) noexcept {
  detail::scripted_system_call();
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  if (const auto hit = script::strike(all, call)) return failed(hit->error);
  return body(all);
}

/// The same on an open file. A file that was open during a crash returns EIO.
template <class Body>
file_result one_call_on(int number, file_call call, Body body) noexcept {
  return one_call(call, [&](disk& all) {
    if (number < 0) return failed(EBADF);
    handle& one = all.handles[static_cast<std::size_t>(number)];
    return one.lost ? failed(EIO) : body(one);
  });
}

int new_handle(disk& all, std::shared_ptr<inode> of, bool writable) {
  std::size_t number = 0;
  while (number < all.handles.size() && all.handles[number].of != nullptr) ++number;
  if (number == all.handles.size()) all.handles.emplace_back();
  all.handles[number] = {std::move(of), writable, false};
  return static_cast<int>(number);
}

/// The file of that name, created if the mode says so; or an error.
file_result find_or_make(disk& all, const std::string& path, open_mode mode, std::shared_ptr<inode>& found) {
  if (all.folders.contains(path)) return failed(EISDIR);
  const auto at = all.seen.find(path);
  if (at != all.seen.end()) {
    found = at->second;
    return mode == open_mode::create_new ? failed(EEXIST) : done();
  }
  if (mode == open_mode::read || mode == open_mode::read_write) return failed(ENOENT);
  if (!script::has_folder(all, script::folder_of(path))) return failed(ENOENT);
  found = std::make_shared<inode>();
  all.seen[path] = found;
  script::sync_names(all, script::folder_of(path));
  return done();
}

}  // namespace

file& file::operator=(file&& other) noexcept {
  if (this != &other) {
    if (is_open()) (void)close();
    handle_ = other.handle_;
    other.handle_ = -1;
  }
  return *this;
}

file::~file() {
  if (is_open()) (void)close();
}

file_result file::open(file& result, const char* path, open_mode mode) noexcept {
  if (result.is_open()) (void)result.close();
  return one_call(file_call::open, [&](disk& all) {
    std::shared_ptr<inode> found;
    const file_result answer = find_or_make(all, path, mode, found);
    if (answer.ok()) result.handle_ = new_handle(all, std::move(found), mode != open_mode::read);
    return answer;
  });
}

file_result file::read_at(void* data, std::size_t bytes, std::uint64_t offset) const noexcept {
  return one_call_on(handle_, file_call::read, [&](handle& one) {
    const std::string& content = one.of->seen;
    if (offset >= content.size()) return done(0);
    const std::size_t got = std::min<std::size_t>(bytes, content.size() - offset);
    std::memcpy(data, content.data() + offset, got);
    return done(got);
  });
}

file_result file::write_at(const void* data, std::size_t bytes, std::uint64_t offset) noexcept {
  detail::scripted_system_call();
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  const auto hit = script::strike(all, file_call::write);
  const std::size_t stored = !hit ? bytes : hit->torn_to == script::nothing_torn ? 0 : std::min(bytes, hit->torn_to);
  if (handle_ < 0) return failed(EBADF);
  handle& one = all.handles[static_cast<std::size_t>(handle_)];
  if (one.lost) return failed(EIO);
  if (!one.writable) return failed(EBADF);
  if (stored != 0) one.of->make({offset, std::string(static_cast<const char*>(data), stored), false});
  return hit ? failed(hit->error) : done(bytes);
}

file_result file::sync() noexcept {
  detail::scripted_system_call();
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  const auto hit = script::strike(all, file_call::sync);
  if (handle_ < 0) return failed(EBADF);
  handle& one = all.handles[static_cast<std::size_t>(handle_)];
  if (one.lost) return failed(EIO);
  if (hit) {
    one.of->pending.clear();  // readers see them until the crash, but no later sync writes them
    return failed(hit->error);
  }
  one.of->sync();
  return done();
}

file_result file::size() const noexcept {
  return one_call_on(handle_, file_call::size, [](handle& one) { return done(one.of->seen.size()); });
}

file_result file::truncate(std::uint64_t bytes) noexcept {
  return one_call_on(handle_, file_call::truncate, [&](handle& one) {
    if (!one.writable) return failed(EINVAL);
    one.of->make({bytes, {}, true});
    return done();
  });
}

file_result file::close() noexcept {
  // Closed even if the script lets the call fail, as on Linux.
  const int number = handle_;
  handle_ = -1;
  detail::scripted_system_call();
  disk& all = the_disk();
  const std::lock_guard hold(all.guard);
  if (number < 0) return failed(EBADF);
  all.handles[static_cast<std::size_t>(number)] = {};
  const auto hit = script::strike(all, file_call::close);
  return hit ? failed(hit->error) : done();
}

file_result rename_file(const char* from, const char* to) noexcept {
  return one_call(file_call::rename, [&](disk& all) {
    const auto found = all.seen.find(from);
    if (found == all.seen.end() || !script::has_folder(all, script::folder_of(to))) return failed(ENOENT);
    if (all.folders.contains(to)) return failed(EISDIR);
    const std::shared_ptr<inode> moved = found->second;
    all.seen.erase(found);
    all.seen[to] = moved;
    script::sync_names(all, script::folder_of(from));
    script::sync_names(all, script::folder_of(to));
    return done();
  });
}

file_result remove_file(const char* path) noexcept {
  return one_call(file_call::remove, [&](disk& all) { return all.seen.erase(path) == 1 ? done() : failed(ENOENT); });
}

file_result make_directory(const char* path) noexcept {
  return one_call(file_call::make_directory, [&](disk& all) {
    if (all.seen.contains(path)) return failed(EEXIST);
    if (!script::has_folder(all, script::folder_of(path))) return failed(ENOENT);
    all.folders.insert(path);
    return done();
  });
}

file_result read_text(const char* path, char* buffer, std::size_t capacity) noexcept {
  if (capacity == 0) return failed(EINVAL);
  buffer[0] = '\0';
  return one_call(file_call::read_text, [&](disk& all) {
    const auto found = all.seen.find(path);
    if (found == all.seen.end()) return failed(ENOENT);
    const std::string& content = found->second->seen;
    const std::size_t length = std::min(content.size(), capacity - 1);
    std::memcpy(buffer, content.data(), length);
    buffer[length] = '\0';
    return done(length);
  });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
