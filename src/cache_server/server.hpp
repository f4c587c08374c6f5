// SPDX-License-Identifier: Apache-2.0
// The server: it listens, and its workers serve the connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "cache_server/conversation.hpp"
#include "cache_server/session.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

struct server_options {
  std::string lock = "mutex";
  std::uint32_t stripes = 1;
  std::uint32_t threads = 4;
  std::uint16_t port = 11211;  ///< 0: any free port
  std::uint32_t megabytes = 64;
  std::uint32_t connections = 1024;
};

class worker;

class server {
 public:
  /// Requires: known_lock(options.lock).
  explicit server(const server_options& options);
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server();

  /// Listens on 127.0.0.1 and starts the workers. Returns an empty text, or one sentence that says why that failed.
  [[nodiscard]] std::string start();
  std::uint16_t port() const noexcept { return port_; }
  /// Accepts connections until SIGINT or SIGTERM, then ends all connections and workers. Requires: both signals are
  /// blocked in all threads. Returns an empty text, or what is wrong with the cache's data.
  [[nodiscard]] std::string serve();

 private:
  friend class worker;
  std::string listen();
  void accept_all();
  void hand_over(base::descriptor connection);
  void pause_listening();
  void end_workers();

  static std::string statistics_lines(void* self, session& data);
  static void reset_statistics(void* self);

  server_options options_;
  second_clock clock_;
  std::unique_ptr<served_cache> data_;
  std::deque<counters> counts_;  ///< one for each worker
  std::vector<std::unique_ptr<worker>> workers_;
  std::size_t next_worker_ = 0;
  base::descriptor listener_;
  base::descriptor signals_;
  base::descriptor events_;
  std::uint16_t port_ = 0;
  bool listening_ = true;

  // Read and written by any thread. None of them guards other data.
  std::atomic<std::uint64_t> open_{0};
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<std::uint64_t> pauses_{0};  ///< because descriptors or memory ran out
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server
