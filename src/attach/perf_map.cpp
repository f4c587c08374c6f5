// SPDX-License-Identifier: Apache-2.0
#include "attach/perf_map.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <sstream>

#include <fmt/core.h>

#include "base/descriptor.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

std::string last_bytes(int file, std::uint64_t size) {
  const std::uint64_t begin = size > perf_map::max_bytes ? size - perf_map::max_bytes : 0;
  std::string text(size - begin, '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = pread(file, text.data() + done, text.size() - done, static_cast<off_t>(begin + done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  // The first line may be a part of one.
  return begin == 0 ? text : text.substr(std::min(text.size(), text.find('\n')));
}

}  // namespace

void perf_map::refresh(const target& of) {
  const std::string root = of.root.empty() && of.other_numbers ? fmt::format("/proc/{}/root", of.process) : of.root;
  read(fmt::format("{}/tmp/perf-{}.map", root, of.inner_process), of.user);
}

void perf_map::read(const std::string& path, std::uint32_t user) {
  const base::descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat about{};
  if (file.get() < 0 || fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) ||
      (about.st_uid != 0 && about.st_uid != user)) {
    by_begin_.clear();
    known_size_ = 0;
    return;
  }
  const auto size = static_cast<std::uint64_t>(about.st_size);
  const std::int64_t changed_ns = about.st_mtim.tv_sec * 1'000'000'000LL + about.st_mtim.tv_nsec;
  if (size == known_size_ && changed_ns == known_change_ns_) return;
  known_size_ = size;
  known_change_ns_ = changed_ns;
  by_begin_.clear();
  std::istringstream lines(last_bytes(file.get(), size));
  for (std::string line; std::getline(lines, line);) add_line(line);
}

void perf_map::add_line(const std::string& line) {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  int name = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 " %" SCNx64 " %n", &begin, &size, &name) != 2 || name == 0 || size == 0 ||
      begin + size < begin)
    return;
  // Code is replaced by later code: what lies there is gone.
  auto old = by_begin_.lower_bound(begin);
  if (old != by_begin_.begin() && std::prev(old)->second.end > begin) std::prev(old)->second.end = begin;
  while (old != by_begin_.end() && old->first < begin + size) old = by_begin_.erase(old);
  by_begin_[begin] = {begin + size, line.substr(static_cast<std::size_t>(name))};
}

std::string perf_map::name_at(std::uint64_t address) const {
  const auto next = by_begin_.upper_bound(address);
  if (next == by_begin_.begin() || address >= std::prev(next)->second.end) return {};
  return std::prev(next)->second.name;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
