// SPDX-License-Identifier: Apache-2.0
// Files with buffers of the program. The calls go to the real system, outside of attempts.
#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

void reads_vectors(const iovec* parts, int count) {
  reads(parts, sizeof *parts * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) reads(parts[i].iov_base, parts[i].iov_len);
}
void writes_vectors(const iovec* parts, int count) {
  reads(parts, sizeof *parts * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) writes(parts[i].iov_base, parts[i].iov_len);
}

}  // namespace

extern "C" {

ssize_t txsync_sim_read(int file, void* to, std::size_t bytes) {
  outside("read");
  writes(to, bytes);
  return read(file, to, bytes);
}
ssize_t txsync_sim_write(int file, const void* from, std::size_t bytes) {
  outside("write");
  reads(from, bytes);
  return write(file, from, bytes);
}
ssize_t txsync_sim_pread(int file, void* to, std::size_t bytes, off_t at) {
  outside("pread");
  writes(to, bytes);
  return pread(file, to, bytes, at);
}
ssize_t txsync_sim_pread64(int file, void* to, std::size_t bytes, off_t at) {
  return txsync_sim_pread(file, to, bytes, at);
}
ssize_t txsync_sim_pwrite(int file, const void* from, std::size_t bytes, off_t at) {
  outside("pwrite");
  reads(from, bytes);
  return pwrite(file, from, bytes, at);
}
ssize_t txsync_sim_pwrite64(int file, const void* from, std::size_t bytes, off_t at) {
  return txsync_sim_pwrite(file, from, bytes, at);
}
ssize_t txsync_sim_readv(int file, const iovec* parts, int count) {
  outside("readv");
  writes_vectors(parts, count);
  return readv(file, parts, count);
}
ssize_t txsync_sim_writev(int file, const iovec* parts, int count) {
  outside("writev");
  reads_vectors(parts, count);
  return writev(file, parts, count);
}
ssize_t txsync_sim_preadv(int file, const iovec* parts, int count, off_t at) {
  outside("preadv");
  writes_vectors(parts, count);
  return preadv(file, parts, count, at);
}
ssize_t txsync_sim_preadv64(int file, const iovec* parts, int count, off_t at) {
  return txsync_sim_preadv(file, parts, count, at);
}
ssize_t txsync_sim_pwritev(int file, const iovec* parts, int count, off_t at) {
  outside("pwritev");
  reads_vectors(parts, count);
  return pwritev(file, parts, count, at);
}
ssize_t txsync_sim_pwritev64(int file, const iovec* parts, int count, off_t at) {
  return txsync_sim_pwritev(file, parts, count, at);
}
ssize_t txsync_sim_sendfile(int to, int from, off_t* at, std::size_t bytes) {
  outside("sendfile");
  writes_object(at);
  return sendfile(to, from, at, bytes);
}
ssize_t txsync_sim_sendfile64(int to, int from, off_t* at, std::size_t bytes) {
  return txsync_sim_sendfile(to, from, at, bytes);
}

int txsync_sim_stat(const char* path, struct stat* to) {
  outside("stat");
  writes_object(to);
  return stat(path, to);
}
int txsync_sim_lstat(const char* path, struct stat* to) {
  outside("lstat");
  writes_object(to);
  return lstat(path, to);
}
int txsync_sim_fstat(int file, struct stat* to) {
  outside("fstat");
  writes_object(to);
  return fstat(file, to);
}
int txsync_sim_fstatat(int directory, const char* path, struct stat* to, int flags) {
  outside("fstatat");
  writes_object(to);
  return fstatat(directory, path, to, flags);
}
// With _FILE_OFFSET_BITS=64 they are the same objects.
static_assert(sizeof(struct stat64) == sizeof(struct stat));
int txsync_sim_stat64(const char* path, struct stat* to) { return txsync_sim_stat(path, to); }
int txsync_sim_lstat64(const char* path, struct stat* to) { return txsync_sim_lstat(path, to); }
int txsync_sim_fstat64(int file, struct stat* to) { return txsync_sim_fstat(file, to); }
int txsync_sim_fstatat64(int directory, const char* path, struct stat* to, int flags) {
  return txsync_sim_fstatat(directory, path, to, flags);
}
char* txsync_sim_getcwd(char* to, std::size_t bytes) {
  outside("getcwd");
  if (to) writes(to, bytes);
  return getcwd(to, bytes);
}
ssize_t txsync_sim_readlink(const char* path, char* to, std::size_t bytes) {
  outside("readlink");
  writes(to, bytes);
  return readlink(path, to, bytes);
}

// Random bytes come from the run's seed, so they are the same in every run.
ssize_t txsync_sim_getrandom(void* to, std::size_t bytes, unsigned) {
  outside("getrandom");
  writes(to, bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(txsync_sim_random());
  return static_cast<ssize_t>(bytes);
}
int txsync_sim_getentropy(void* to, std::size_t bytes) {
  txsync_sim_getrandom(to, bytes, 0);
  return 0;
}

}  // extern "C"
