// SPDX-License-Identifier: Apache-2.0
// Reads /sys/devices/system/cpu (Documentation/admin-guide/cputopology.rst of Linux).
#include <set>
#include <utility>

#include <txsync/machine/memory.hpp>
#include <txsync/machine/thread.hpp>

#include "facts.hpp"
#include "text_file.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

namespace {

const std::string cpus_folder = "/sys/devices/system/cpu/";

std::string folder_of(unsigned cpu) { return cpus_folder + "cpu" + std::to_string(cpu) + "/"; }

/// "32K" or "1M" in bytes.
std::uint64_t size_in_bytes(const std::string& text) {
  if (text.empty()) return 0;
  const std::uint64_t number = std::strtoull(text.c_str(), nullptr, 10);
  switch (text.back()) {
    case 'K':
      return number << 10;
    case 'M':
      return number << 20;
    case 'G':
      return number << 30;
    default:
      return number;
  }
}

std::vector<cache> read_caches(unsigned cpu) {
  constexpr unsigned most = 16;
  std::vector<cache> caches;
  for (unsigned index = 0; index < most; ++index) {
    const std::string folder = folder_of(cpu) + "cache/index" + std::to_string(index) + "/";
    const std::optional<unsigned> level = number_of(folder + "level");
    if (!level) break;
    caches.push_back({.level = *level,
                      .type = text_of(folder + "type"),
                      .bytes = size_in_bytes(text_of(folder + "size")),
                      .line_bytes = number_of(folder + "coherency_line_size").value_or(0),
                      .ways = number_of(folder + "ways_of_associativity").value_or(0),
                      .shared_by = static_cast<unsigned>(cpu_list(text_of(folder + "shared_cpu_list")).size())});
  }
  return caches;
}

unsigned first_data_line(const std::vector<cache>& caches) {
  for (const cache& one : caches) {
    if (one.type != "Instruction") return one.line_bytes;
  }
  return 0;
}

}  // namespace

topology read_topology() {
  topology found;
  found.allowed = machine::cpu_count();
  found.page_bytes = machine::page_size();
  const std::vector<unsigned> online = cpu_list(text_of(cpus_folder + "online"));
  std::set<unsigned> sockets;
  std::set<std::pair<unsigned, unsigned>> cores;  // with the socket, because core numbers are unique only within a
                                                  // socket
  for (const unsigned cpu : online) {
    const std::string folder = folder_of(cpu) + "topology/";
    const std::optional<unsigned> socket = number_of(folder + "physical_package_id");
    const std::optional<unsigned> core = number_of(folder + "core_id");
    if (socket) sockets.insert(*socket);
    if (core) cores.insert({socket.value_or(0), *core});
  }
  found.hardware_threads = static_cast<unsigned>(online.size());
  found.sockets = static_cast<unsigned>(sockets.size());
  found.cores = static_cast<unsigned>(cores.size());
  if (!online.empty()) found.caches = read_caches(online.front());
  found.line_bytes = first_data_line(found.caches);
  return found;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
