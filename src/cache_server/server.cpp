// SPDX-License-Identifier: Apache-2.0
#include "cache_server/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include <txsync/machine/assert.hpp>

#include "base/descriptor.hpp"
#include "cache_server/worker.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

namespace {

std::string failure(std::string_view what, int error) { return fmt::format("{}: {}", what, std::strerror(error)); }

/// Asks for as many descriptors as the connections need. If the system grants fewer, the server pauses listening
/// whenever it runs out.
void ask_for_descriptors(std::uint32_t connections, std::uint32_t threads) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = rlim_t{connections} + 2 * rlim_t{threads} + 16;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool watch(const base::descriptor& events, int number) {
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = number}};
  return epoll_ctl(events.get(), EPOLL_CTL_ADD, number, &wanted) == 0;
}

}  // namespace

namespace {
/// Whether the calling thread blocks the signals that end the server. The signal descriptor gets them only then.
[[maybe_unused]] bool blocks_ends() noexcept {
  sigset_t blocked;
  return pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, SIGINT) == 1 &&
         sigismember(&blocked, SIGTERM) == 1;
}
}  // namespace

server::server(const server_options& options) : options_(options) {
  TXSYNC_ASSERT(known_lock(options_.lock), "the server's lock is a known one");
}

server::~server() { end_workers(); }

std::string server::start() {
  ask_for_descriptors(options_.connections, options_.threads);
  if (std::string wrong = listen(); !wrong.empty()) return wrong;
  data_ = make_cache(options_.lock, {.bytes = std::size_t{options_.megabytes} << 20, .stripes = options_.stripes});
  if (data_ == nullptr) return fmt::format("there is no memory for a cache of {} MiB", options_.megabytes);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  signals_ = base::descriptor(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  events_ = base::descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!signals_.ok() || !events_.ok() || !watch(events_, signals_.get()) || !watch(events_, listener_.get())) {
    return failure("cannot wait for events", errno);
  }
  for (std::uint32_t i = 0; i < options_.threads; ++i) {
    workers_.push_back(std::make_unique<worker>(*this, counts_.emplace_back()));
    if (!workers_.back()->start()) {
      return fmt::format("the system has no more threads or descriptors: {} of {} workers could be started", i,
                         options_.threads);
    }
  }
  return {};
}

std::string server::listen() {
  listener_ = base::descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_.ok()) return failure("cannot make a socket", errno);
  const int yes = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(options_.port);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), place, size) != 0 || ::listen(listener_.get(), 1024) != 0 ||
      getsockname(listener_.get(), place, &size) != 0) {
    const int error = errno;
    return failure(fmt::format("cannot listen on 127.0.0.1 port {}", options_.port), error);
  }
  port_ = ntohs(address.sin_port);
  return {};
}

std::string server::serve() {
  TXSYNC_ASSERT(blocks_ends(), "SIGINT and SIGTERM are blocked in the calling thread");
  for (;;) {
    constexpr int pause_ms = 20;
    epoll_event seen[2];
    const int count = epoll_wait(events_.get(), seen, 2, listening_ ? -1 : pause_ms);
    if (!listening_) listening_ = watch(events_, listener_.get());
    for (int i = 0; i < count; ++i) {
      if (seen[i].data.fd == signals_.get()) {
        end_workers();
        const char* const wrong = data_->complaint();
        return wrong != nullptr ? wrong : "";
      }
      accept_all();
    }
  }
}

void server::accept_all() {
  for (;;) {
    base::descriptor fresh(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fresh.ok()) {
      hand_over(std::move(fresh));
      continue;
    }
    switch (errno) {
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM:
        return pause_listening();
      case EINTR:
      case ECONNABORTED:
      case EPROTO:
        continue;  // this client has gone; the next one may be waiting
      default:
        return;
    }
  }
}

/// New clients wait in the system's queue until others leave.
void server::pause_listening() {
  ++pauses_;
  epoll_ctl(events_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
  listening_ = false;
}

void server::hand_over(base::descriptor connection) {
  if (open_ >= options_.connections) {
    ++rejected_;
    constexpr std::string_view full = "ERROR Too many open connections\r\n";
    send(connection.get(), full.data(), full.size(), MSG_NOSIGNAL);
    return;
  }
  const int yes = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ++open_;
  ++accepted_;
  workers_[next_worker_++ % workers_.size()]->adopt(std::move(connection));
}

void server::end_workers() {
  for (const auto& one : workers_) one->end();
}

std::string server::statistics_lines(void* self, session& data) {
  const server& of = *static_cast<const server*>(self);
  std::string out;
  const auto line = [&](std::string_view name, const auto& value) {
    out.append("STAT ").append(name).append(" ");
    if constexpr (std::is_convertible_v<decltype(value), std::string_view>) {
      out.append(value);
    } else {
      out.append(std::to_string(value));
    }
    out.append("\r\n");
  };
  line("pid", getpid());
  line("uptime", of.clock_.now() - 2);
  line("time", of.clock_.world_time());
  line("version", TXSYNC_VERSION);
  line("lock", of.options_.lock);
  line("stripes", of.options_.stripes);
  line("max_connections", of.options_.connections);
  line("curr_connections", of.open_.load());
  line("total_connections", of.accepted_.load());
  line("rejected_connections", of.rejected_.load());
  line("listen_disabled_num", of.pauses_.load());
  for (unsigned i = 0; i < counted_kinds; ++i) {
    std::uint64_t sum = 0;
    for (const counters& one : of.counts_) sum += one.read(i);
    line(counted_names[i], sum);
  }
  const cache::statistics told = data.told();
  line("limit_maxbytes", std::uint64_t{of.options_.megabytes} << 20);
  line("threads", of.options_.threads);
  line("bytes", told.bytes);
  line("curr_items", told.items);
  line("total_items", told.stored);
  line("evictions", told.evicted);
  line("reclaimed", told.reclaimed);
  return out;
}

void server::reset_statistics(void* self) {
  for (counters& one : static_cast<server*>(self)->counts_) one.reset();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server
