// SPDX-License-Identifier: Apache-2.0
// A thread that talks with some of the clients.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <txsync/mutex.hpp>

#include "cache_server/conversation.hpp"
#include "cache_server/descriptor.hpp"

namespace txsync::inline TXSYNC_BACKEND::cache_server {

class server;

class worker {
 public:
  worker(server& of, counters& counts);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// False when the system has no descriptor or thread for it.
  [[nodiscard]] bool start();
  /// From any thread.
  void adopt(descriptor client);
  /// Ends its connections and waits for its end.
  void end();

 private:
  struct connection {
    connection(descriptor of, const conversation_with& with) : socket(std::move(of)), client(with) {}
    descriptor socket;
    conversation client;
    std::string out;
    std::size_t written = 0;    ///< of out
    std::uint32_t watched = 0;  ///< events
    bool more_in = true;        ///< the client may send more
    bool over = false;          ///< to be closed once all is written
  };

  void run();
  void take_adopted();
  void serve(connection& with);
  void talk(connection& with);
  bool read_some(connection& with);
  bool write_out(connection& with);
  void watch(connection& with, std::uint32_t events);
  void forget(int socket);

  server& of_;
  counters& counts_;
  std::unique_ptr<session> session_;
  conversation_with with_;
  descriptor events_;
  descriptor wake_;  ///< somebody has something for this worker
  std::thread thread_;
  std::unordered_map<int, connection> connections_;
  std::unique_ptr<char[]> buffer_;

  mutex lock_;
  // Guarded by lock_.
  std::vector<descriptor> adopted_;
  bool ends_ = false;
};

}  // namespace txsync::inline TXSYNC_BACKEND::cache_server
