// SPDX-License-Identifier: Apache-2.0
// There is no network: a program that asks for a socket or an address gets an error. What works on sockets ends the run
// (symbols.txt, [ends]); no program has one. Addresses are texts.
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

std::size_t address_bytes(int family) { return family == AF_INET6 ? sizeof(in6_addr) : sizeof(in_addr); }

}  // namespace

extern "C" {

int txsync_sim_open_socket(int, int, int) {
  outside("socket");
  errno = EAFNOSUPPORT;
  return -1;
}
int txsync_sim_socketpair(int, int, int, int*) { return txsync_sim_open_socket(0, 0, 0); }
int txsync_sim_getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) {
  outside("getaddrinfo");
  return EAI_FAIL;
}
void txsync_sim_freeaddrinfo(addrinfo*) {}
hostent* txsync_sim_gethostbyname(const char*) {
  outside("gethostbyname");
  h_errno = NO_RECOVERY;
  return nullptr;
}

in_addr_t txsync_sim_inet_addr(const char* text) {
  step();
  reads_string(text);
  return inet_addr(text);
}
int txsync_sim_inet_aton(const char* text, in_addr* to) {
  step();
  reads_string(text);
  writes_object(to);
  return inet_aton(text, to);
}
char* txsync_sim_inet_ntoa(in_addr address) { return inet_ntoa(address); }
int txsync_sim_inet_pton(int family, const char* text, void* to) {
  step();
  reads_string(text);
  writes(to, address_bytes(family));
  return inet_pton(family, text, to);
}
const char* txsync_sim_inet_ntop(int family, const void* address, char* to, socklen_t bytes) {
  step();
  reads(address, address_bytes(family));
  char text[INET6_ADDRSTRLEN];
  if (inet_ntop(family, address, text, sizeof text < bytes ? sizeof text : bytes) == nullptr) return nullptr;
  const std::size_t length = std::strlen(text) + 1;
  writes(to, length);
  return static_cast<const char*>(std::memcpy(to, text, length));
}

}  // extern "C"
