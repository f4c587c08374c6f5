// SPDX-License-Identifier: Apache-2.0
// There is no network: a program that asks for a socket or an address gets an error. What works on sockets ends the run
// (symbols.txt, [ends]); no program has one. Addresses are texts.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

template <typename Entry>
Entry* no_entry(const char* call) {
  outside(call);
  return nullptr;
}
template <typename Entry>
int no_entry(const char* call, Entry** result) {
  outside(call);
  writes_object(result);
  *result = nullptr;
  return ENOENT;
}
hostent* no_host(const char* call) {
  h_errno = NO_RECOVERY;
  return no_entry<hostent>(call);
}
int no_host(const char* call, hostent** result, int* error) {
  outside(call);
  writes_object(error);
  *error = NO_RECOVERY;
  return no_entry(call, result);
}

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
hostent* txsync_sim_gethostbyname(const char*) { return no_host("gethostbyname"); }
hostent* txsync_sim_gethostbyname2(const char*, int) { return no_host("gethostbyname2"); }
hostent* txsync_sim_gethostbyaddr(const void*, socklen_t, int) { return no_host("gethostbyaddr"); }
int txsync_sim_gethostbyname_r(const char*, hostent*, char*, std::size_t, hostent** result, int* error) {
  return no_host("gethostbyname_r", result, error);
}
int txsync_sim_gethostbyname2_r(const char*, int, hostent*, char*, std::size_t, hostent** result, int* error) {
  return no_host("gethostbyname2_r", result, error);
}
int txsync_sim_gethostbyaddr_r(const void*, socklen_t, int, hostent*, char*, std::size_t, hostent** result,
                               int* error) {
  return no_host("gethostbyaddr_r", result, error);
}
servent* txsync_sim_getservbyname(const char*, const char*) { return no_entry<servent>("getservbyname"); }
servent* txsync_sim_getservbyport(int, const char*) { return no_entry<servent>("getservbyport"); }
int txsync_sim_getservbyname_r(const char*, const char*, servent*, char*, std::size_t, servent** result) {
  return no_entry("getservbyname_r", result);
}
int txsync_sim_getservbyport_r(int, const char*, servent*, char*, std::size_t, servent** result) {
  return no_entry("getservbyport_r", result);
}
protoent* txsync_sim_getprotobyname(const char*) { return no_entry<protoent>("getprotobyname"); }
protoent* txsync_sim_getprotobynumber(int) { return no_entry<protoent>("getprotobynumber"); }
int txsync_sim_getprotobyname_r(const char*, protoent*, char*, std::size_t, protoent** result) {
  return no_entry("getprotobyname_r", result);
}
int txsync_sim_getprotobynumber_r(int, protoent*, char*, std::size_t, protoent** result) {
  return no_entry("getprotobynumber_r", result);
}
netent* txsync_sim_getnetbyname(const char*) { return no_entry<netent>("getnetbyname"); }
netent* txsync_sim_getnetbyaddr(std::uint32_t, int) { return no_entry<netent>("getnetbyaddr"); }
int txsync_sim_getnameinfo(const sockaddr*, socklen_t, char*, socklen_t, char*, socklen_t, int) {
  outside("getnameinfo");
  return EAI_FAIL;
}
int txsync_sim_getifaddrs(ifaddrs** to) {
  no_entry("getifaddrs", to);
  errno = EAFNOSUPPORT;
  return -1;
}
void txsync_sim_freeifaddrs(ifaddrs*) {}
unsigned txsync_sim_if_nametoindex(const char*) {
  outside("if_nametoindex");
  errno = ENODEV;
  return 0;
}
char* txsync_sim_if_indextoname(unsigned, char*) {
  errno = ENXIO;
  return no_entry<char>("if_indextoname");
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
