// SPDX-License-Identifier: Apache-2.0
// txsync-cache: a cache that speaks memcached's text protocol on loopback, under a lock that the user chooses.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "base/print.hpp"
#include "cache_server/server.hpp"

namespace {

namespace s = txsync::cache_server;

int complain(const std::string& what, int status) {
  txsync::base::print(stderr, "txsync-cache: {}\n", what);
  return status;
}

/// Blocks SIGINT and SIGTERM in all threads. The server waits for them with its other events.
void block_ends() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

/// The exit status if the program has to end at once, else -1.
int read_options(int argc, char** argv, s::server_options& options) {
  CLI::App app{"A cache under memcached 1.4.5's two global locks, on 127.0.0.1, for measuring locks.", "txsync-cache"};
  bool striped = false;
  bool lists = false;
  app.add_option("--lock", options.lock, "which lock: " + s::lock_names())->capture_default_str();
  app.add_flag("--list-locks", lists, "print the names of the locks, and end");
  app.add_flag("--striped", striped, "16 caches with two locks each, as the upper reference");
  app.add_option("--threads", options.threads, "workers")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_option("--port", options.port, "of TCP; 0: any that is free")->capture_default_str();
  app.add_option("--memory", options.megabytes, "MiB for items")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  app.add_option("--connections", options.connections, "at once")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    for (char& letter : what) letter = letter == '\n' ? ' ' : letter;
    return complain(what, 2);
  }
  if (lists) {
    std::puts(s::lock_names(",").c_str());
    return 0;
  }
  if (!s::known_lock(options.lock)) {
    return complain(fmt::format("unknown lock '{}'; allowed: {}", options.lock, s::lock_names()), 2);
  }
  constexpr unsigned stripes = 16;
  if (striped && options.megabytes < stripes) {
    return complain("--striped divides the memory by 16: --memory must be 16 or more", 2);
  }
  options.stripes = striped ? stripes : 1;
  return -1;
}

int run(const s::server_options& options) {
  block_ends();
  s::server server(options);
  if (const std::string wrong = server.start(); !wrong.empty()) return complain(wrong, 1);
  txsync::base::print(stdout, "listening on 127.0.0.1:{}\n", server.port());
  std::fflush(stdout);
  const std::string wrong = server.serve();
  return wrong.empty() ? 0 : complain("the cache is broken: " + wrong, 1);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    s::server_options options;
    const int status = read_options(argc, argv, options);
    return status >= 0 ? status : run(options);
  } catch (const std::exception& error) {
    txsync::base::print(stderr, "txsync-cache: {}\n", error.what());
  }
  return 1;
}
