// SPDX-License-Identifier: Apache-2.0
// What LevelDB 1.23 asks of a platform, by one of the pairs of lock and condition variable in locks.hpp. LevelDB's
// port/port.h includes the file of this name by its quoted path; with this folder's parent before LevelDB's own
// (-iquote) it gets this one, and nothing of LevelDB is changed. Every file that sees LevelDB's internals has to be
// compiled so.
#ifndef STORAGE_LEVELDB_PORT_PORT_STDCXX_H_
#define STORAGE_LEVELDB_PORT_PORT_STDCXX_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "locks.hpp"
#include "port/thread_annotations.h"

namespace leveldb::port {

using chosen = leveldb_locks::TXSYNC_LEVELDB_LOCKS;

class CondVar;

class LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() EXCLUSIVE_LOCK_FUNCTION() { lock_.lock(); }
  void Unlock() UNLOCK_FUNCTION() { lock_.unlock(); }
  void AssertHeld() ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  chosen::mutex lock_;
};

class CondVar {
 public:
  explicit CondVar(Mutex* mutex) : mutex_(mutex) {}
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait() { leveldb_locks::wait(condition_, mutex_->lock_); }
  void Signal() { condition_.notify_one(); }
  void SignalAll() { condition_.notify_all(); }

 private:
  chosen::condition condition_;
  Mutex* const mutex_;
};

// None of these is there: no Snappy, no heap profiler, no CRC by hardware (LevelDB has its own).
inline bool Snappy_Compress(const char*, std::size_t, std::string*) { return false; }
inline bool Snappy_GetUncompressedLength(const char*, std::size_t, std::size_t*) { return false; }
inline bool Snappy_Uncompress(const char*, std::size_t, char*) { return false; }
inline bool GetHeapProfile(void (*)(void*, const char*, int), void*) { return false; }
inline std::uint32_t AcceleratedCRC32C(std::uint32_t, const char*, std::size_t) { return 0; }

}  // namespace leveldb::port

#endif  // STORAGE_LEVELDB_PORT_PORT_STDCXX_H_
