// SPDX-License-Identifier: Apache-2.0
// Finds machines by name: which folders are searched.
#include <cstdlib>
#include <filesystem>
#include <set>

#include "sim/models/machine_file.hpp"

namespace txsync::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* suffix = ".toml";

/// The folders, the user's own first. Then the one that came with this program: beside it, in the build tree and where
/// it is installed.
std::vector<fs::path> folders() {
  std::vector<fs::path> list;
  std::error_code error;
  if (const char* own = secure_getenv("TXSYNC_MACHINES"); own != nullptr && *own != '\0') {
    if (!fs::is_directory(own, error)) {
      throw machine_error("TXSYNC_MACHINES: '" + std::string(own) +
                          "' is no folder that can be read; allowed: a folder of machine files");
    }
    list.emplace_back(own);
  }
  const fs::path self = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& share : {fs::path(TXSYNC_DATA_FOLDER), fs::path("share")}) {
    const fs::path folder = fs::weakly_canonical(self / ".." / share / "txsync/machines", error);
    if (error || !fs::is_directory(folder, error)) continue;
    list.push_back(folder);
    break;
  }
  return list;
}

}  // namespace

std::vector<std::string> machine_names() {
  std::set<std::string> names;
  for (const fs::path& folder : folders()) {
    std::error_code error;
    for (const fs::directory_entry& one : fs::directory_iterator(folder, error)) {
      if (one.path().extension() == suffix && one.path().stem() != "") names.insert(one.path().stem());
    }
  }
  return {names.begin(), names.end()};
}

machine load_machine(const std::string& name_or_file) {
  if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(suffix)) return read_machine(name_or_file);
  for (const fs::path& folder : folders()) {
    std::error_code error;
    const fs::path file = folder / (name_or_file + suffix);
    if (!name_or_file.empty() && fs::exists(file, error)) return read_machine(file.string());
  }
  std::string allowed;
  for (const std::string& name : machine_names()) allowed += name + ", ";
  throw machine_error("unknown machine '" + name_or_file + "'; allowed: " + allowed + "a machine file (./NAME.toml)");
}

}  // namespace txsync::sim
