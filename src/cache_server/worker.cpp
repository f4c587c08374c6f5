// SPDX-License-Identifier: Apache-2.0
#include "cache_server/worker.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "cache_server/server.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

namespace {

constexpr std::size_t read_at_once = std::size_t{64} << 10;
/// While a client has this many unread bytes of answers, the worker does not read from it.
constexpr std::size_t max_unread = std::size_t{256} << 10;
constexpr unsigned max_turns = 32;

}  // namespace

worker::worker(server& of, counters& counts)
    : of_(of),
      counts_(counts),
      session_(of.data_->open()),
      with_{.data = *session_,
            .counts = counts,
            .clock = of.clock_,
            .statistics = server::statistics_lines,
            .reset_statistics = server::reset_statistics,
            .server = &of},
      buffer_(std::make_unique<char[]>(read_at_once)) {}

bool worker::start() {
  events_ = base::descriptor(epoll_create1(EPOLL_CLOEXEC));
  wake_ = base::descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event wake{.events = EPOLLIN, .data = {.fd = wake_.get()}};
  if (!events_.ok() || !wake_.ok() || epoll_ctl(events_.get(), EPOLL_CTL_ADD, wake_.get(), &wake) != 0) return false;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void worker::adopt(base::descriptor client) {
  {
    const std::lock_guard guard(lock_);
    adopted_.push_back(std::move(client));
  }
  eventfd_write(wake_.get(), 1);
}

void worker::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(lock_);
    ends_ = true;
  }
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

void worker::run() {
  epoll_event seen[64];
  for (;;) {
    const int count = epoll_wait(events_.get(), seen, std::size(seen), -1);
    for (int i = 0; i < count; ++i) {
      const int number = seen[i].data.fd;
      if (number == wake_.get()) {
        take_adopted();
      } else if (const auto found = connections_.find(number); found != connections_.end()) {
        serve(found->second);
      }
    }
    const std::lock_guard guard(lock_);
    if (ends_) break;
  }
  of_.open_ -= connections_.size();
  connections_.clear();
}

void worker::take_adopted() {
  eventfd_t count = 0;
  eventfd_read(wake_.get(), &count);
  std::vector<base::descriptor> fresh;
  {
    const std::lock_guard guard(lock_);
    fresh.swap(adopted_);
  }
  for (base::descriptor& one : fresh) {
    const int number = one.get();
    epoll_event wanted{.events = EPOLLIN, .data = {.fd = number}};
    if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, number, &wanted) != 0) {
      --of_.open_;
      continue;
    }
    const auto [added, is_new] = connections_.try_emplace(number, std::move(one), with_);
    added->second.watched = EPOLLIN;
  }
}

void worker::serve(connection& with) {
  try {
    talk(with);
  } catch (const std::bad_alloc&) {
    forget(with.socket.get());  // this client needed too much memory; other clients may not
  }
}

/// Reads, answers and writes until the client has to act, or for a limited number of turns. Then other clients get
/// their turn.
void worker::talk(connection& with) {
  for (unsigned turns = 0; turns < max_turns; ++turns) {
    if (!write_out(with)) return forget(with.socket.get());
    if (!with.out.empty()) return watch(with, EPOLLOUT);
    if (with.over) return forget(with.socket.get());
    with.over = !with.client.answer(with.out, max_unread);
    if (!with.out.empty() || with.over) continue;
    // All that was received is answered.
    if (!with.more_in) return forget(with.socket.get());
    if (!read_some(with)) return watch(with, EPOLLIN);
  }
  // Unanswered bytes may be left, for which no read event would come. A write event comes at once.
  watch(with, EPOLLOUT);
}

/// False if there is nothing to read for now.
bool worker::read_some(connection& with) {
  const ssize_t bytes = recv(with.socket.get(), buffer_.get(), read_at_once, 0);
  if (bytes > 0) {
    counts_.add(counted::bytes_read, static_cast<std::uint64_t>(bytes));
    with.client.receive({buffer_.get(), static_cast<std::size_t>(bytes)});
    return true;
  }
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  // The client sends no more, but may still read. What it asked before is still answered.
  with.more_in = false;
  return true;
}

/// False if the client is gone.
bool worker::write_out(connection& with) {
  while (with.written < with.out.size()) {
    const ssize_t bytes =
        send(with.socket.get(), with.out.data() + with.written, with.out.size() - with.written, MSG_NOSIGNAL);
    if (bytes < 0) return errno == EAGAIN || errno == EINTR;
    counts_.add(counted::bytes_written, static_cast<std::uint64_t>(bytes));
    with.written += static_cast<std::size_t>(bytes);
  }
  constexpr std::size_t kept = std::size_t{64} << 10;
  if (with.out.capacity() > kept) {
    with.out = {};
  } else {
    with.out.clear();
  }
  with.written = 0;
  return true;
}

void worker::watch(connection& with, std::uint32_t events) {
  if (with.watched == events) return;
  with.watched = events;
  epoll_event wanted{.events = events, .data = {.fd = with.socket.get()}};
  epoll_ctl(events_.get(), EPOLL_CTL_MOD, with.socket.get(), &wanted);
}

void worker::forget(int socket) {
  // Decremented first: a client that sees its connection closed then finds the connection free and not counted.
  --of_.open_;
  connections_.erase(socket);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server
