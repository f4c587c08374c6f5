// SPDX-License-Identifier: Apache-2.0
#include "observe/document/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

namespace fs = std::filesystem;

struct closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, closer>;

[[noreturn]] void fail(const std::string& path, int error) {
  throw output_error(fmt::format("cannot write '{}': {}", path, std::strerror(error)));
}

/// Also closes the file, because writing its last bytes may fail only there.
bool write_and_close(open_file file, const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  return std::fclose(file.release()) == 0 && written;
}

/// The file behind the path, with symbolic links followed. It need not exist yet.
std::string followed(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? path : real.string();
}

}  // namespace

output::output(std::string path) : path_(std::move(path)) {
  if (is_standard_output()) return;
  if (path_.empty()) fail(path_, ENOENT);
  target_ = followed(path_);
  std::error_code error;
  const fs::file_status status = fs::status(target_, error);
  if (fs::is_directory(status)) fail(path_, EISDIR);
  if (fs::exists(status)) {
    // Renaming over a file does not need the right to write it. A user who removed that right wants the file to stay.
    if (access(target_.c_str(), W_OK) != 0) fail(path_, errno);
    if (!fs::is_regular_file(status)) return;
  }
  temporary_ = target_ + ".part-" + std::to_string(getpid());
  const open_file made(std::fopen(temporary_.c_str(), "wx"));
  if (made == nullptr) {
    const int reason = errno;
    temporary_.clear();
    fail(path_, reason);
  }
}

output::~output() {
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void output::write(const document& all) {
  write(to_json(all).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

void output::write(const std::string& text) {
  if (is_standard_output()) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) fail(path_, errno);
    return;
  }
  open_file file(std::fopen(temporary_.empty() ? target_.c_str() : temporary_.c_str(), "w"));
  if (file == nullptr || !write_and_close(std::move(file), text)) fail(path_, errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(path_, errno);
  temporary_.clear();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
