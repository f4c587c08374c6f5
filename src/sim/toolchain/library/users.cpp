// SPDX-License-Identifier: Apache-2.0
// Users and groups: libc would load shared objects to find them. There is one of each, the one that the process has.
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

// Programs get pointers to these, and the types have no const.
char user_name[] = "user";
char group_name[] = "users";
char no_text[] = "";
char root[] = "/";
char shell[] = "/bin/sh";
char* no_members[] = {nullptr};

passwd user() {
  char* const home = std::getenv("HOME");
  return {user_name, no_text, getuid(), getgid(), no_text, home ? home : root, shell};
}
group group_of_user() { return {group_name, no_text, getgid(), no_members}; }

template <typename Entry>
Entry* kept(bool exists, const Entry& entry) {
  static Entry only;
  if (!exists) return nullptr;
  only = entry;
  return &only;
}

// The texts stay where they are, so the caller's buffer is not needed.
template <typename Entry>
int given(bool exists, const Entry& entry, Entry* to, Entry** result) {
  writes_object(result);
  writes_object(to);
  *to = entry;
  *result = exists ? to : nullptr;
  return 0;
}

bool is(const char* name, const char* known) {
  reads_string(name);
  return std::strcmp(name, known) == 0;
}

}  // namespace

extern "C" {

passwd* txsync_sim_getpwuid(uid_t id) {
  outside("getpwuid");
  return kept(id == getuid(), user());
}
passwd* txsync_sim_getpwnam(const char* name) {
  outside("getpwnam");
  return kept(is(name, user_name), user());
}
int txsync_sim_getpwuid_r(uid_t id, passwd* to, char*, std::size_t, passwd** result) {
  outside("getpwuid_r");
  return given(id == getuid(), user(), to, result);
}
int txsync_sim_getpwnam_r(const char* name, passwd* to, char*, std::size_t, passwd** result) {
  outside("getpwnam_r");
  return given(is(name, user_name), user(), to, result);
}
group* txsync_sim_getgrgid(gid_t id) {
  outside("getgrgid");
  return kept(id == getgid(), group_of_user());
}
group* txsync_sim_getgrnam(const char* name) {
  outside("getgrnam");
  return kept(is(name, group_name), group_of_user());
}
int txsync_sim_getgrgid_r(gid_t id, group* to, char*, std::size_t, group** result) {
  outside("getgrgid_r");
  return given(id == getgid(), group_of_user(), to, result);
}
int txsync_sim_getgrnam_r(const char* name, group* to, char*, std::size_t, group** result) {
  outside("getgrnam_r");
  return given(is(name, group_name), group_of_user(), to, result);
}
char* txsync_sim_getlogin() {
  outside("getlogin");
  errno = ENXIO;  // no terminal
  return nullptr;
}
int txsync_sim_getlogin_r(char*, std::size_t) {
  outside("getlogin_r");
  return ENXIO;
}

}  // extern "C"
