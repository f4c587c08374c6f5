// SPDX-License-Identifier: Apache-2.0
// A thread that serves some of the clients.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <txsync/mutex.hpp>

#include "base/descriptor.hpp"
#include "cache_server/conversation.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

class server;

class worker {
 public:
  worker(server& of, counters& counts);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// False if the system has no descriptor or thread for it.
  [[nodiscard]] bool start();
  /// Takes over a connection. Any thread may call it.
  void adopt(base::descriptor client);
  /// Ends the worker's connections and waits until the thread has ended.
  void end();

 private:
  struct connection {
    connection(base::descriptor of, const conversation_with& with) : socket(std::move(of)), client(with) {}
    base::descriptor socket;
    conversation client;
    std::string out;
    std::size_t written = 0;    ///< bytes of `out` that have been sent
    std::uint32_t watched = 0;  ///< the events that epoll watches for
    bool more_in = true;        ///< the client may send more
    bool over = false;          ///< close the connection when everything is sent
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
  base::descriptor events_;
  base::descriptor wake_;  ///< another thread has something for this worker
  std::thread thread_;
  std::unordered_map<int, connection> connections_;
  std::unique_ptr<char[]> buffer_;

  mutex lock_;
  // Guarded by lock_.
  std::vector<base::descriptor> adopted_;
  bool ends_ = false;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server
