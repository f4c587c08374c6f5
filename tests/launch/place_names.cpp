// SPDX-License-Identifier: Apache-2.0
// How functions are called, which of them only wrap locks, and what a place is named.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "launch/place_name.hpp"
#include "symbols/symbols.hpp"

namespace launch = txsync::launch;
namespace symbols = txsync::symbols;
namespace channel = txsync::channel;
namespace fs = std::filesystem;

namespace shop {
[[gnu::noinline]] int take_order(int number) { return number + std::rand(); }
template <class Item>
struct store {
  [[gnu::noinline]] static int put(Item item) { return static_cast<int>(item) * std::rand(); }
};
struct ScopedMutex {
  [[gnu::noinline]] static int lock(int number) { return number - std::rand(); }
};
}  // namespace shop

namespace {

TEST(ReadableNames, OfFunctions) {
  const std::pair<const char*, const char*> names[] = {
      {"main", "main"},
      {"foo.part.0", "foo"},
      {"_ZN4shop10take_orderEi", "shop::take_order"},
      {"_ZN4shop5storeIiE3putEi", "shop::store<int>::put"},
      {"_ZNK3abc3defEv", "abc::def"},
      {"_Z3fooIiEvT_", "foo<int>"},
      {"_ZN3abcclEi", "abc::operator()"},
      {"_ZN3abclsEi", "abc::operator<<"},
      {"_ZN3abcptEv", "abc::operator->"},
      {"_ZN3abccvbEv", "abc::operator bool"},
      {"_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo"},
      {"_ZZ3fooiENKUlvE_clEv", "foo::{lambda#1}::operator()"},
      {"_ZN3abcC1Ei", "abc::abc"},
      {"_ZN3abcD0Ev", "abc::~abc"},
      {"_ZN3abc3fooEPFviE", "abc::foo"},
      {"_ZN3abc3fooEi.cold", "abc::foo"},
      {"_ZN3abc3fooB5cxx11Ev", "abc::foo"},
      {"_Znot_mangled", "_Znot_mangled"},
      {"", ""},
  };
  for (const auto& [symbol, name] : names) EXPECT_EQ(symbols::readable_name(symbol), name) << symbol;
}

TEST(LockWrappers, WrapALock) {
  for (const char* name : {"kyotocabinet::Mutex::lock",
                           "kyotocabinet::RWLock::lock_writer",
                           "kyotocabinet::SpinLock::SpinLock",
                           "kyotocabinet::ScopedMutex::ScopedMutex",
                           "kyotocabinet::ScopedRWLock::ScopedRWLock",
                           "kyotocabinet::SlottedRWLock::lock_writer",
                           "rocksdb::port::Mutex::Lock",
                           "rocksdb::InstrumentedMutex::LockInternal",
                           "rocksdb::InstrumentedMutexLock::InstrumentedMutexLock",
                           "rocksdb::port::CondVar::Wait",
                           "leveldb::MutexLock::MutexLock",
                           "std::mutex::lock",
                           "std::lock_guard<std::mutex>::lock_guard",
                           "std::unique_lock<std::mutex>::lock",
                           "std::scoped_lock<std::mutex, std::mutex>::scoped_lock",
                           "std::shared_mutex::lock_shared",
                           "std::__shared_mutex_pthread::lock",
                           "std::condition_variable::wait",
                           "std::__condvar::wait",
                           "std::lock<std::mutex, std::mutex>",
                           "std::recursive_timed_mutex::try_lock_for",
                           "__gthread_mutex_lock",
                           "absl::Mutex::Lock",
                           "ssux_lock_impl<true>::wr_lock",
                           "TTASEventMutex<GenericPolicy>::enter",
                           "mtx_lock",
                           "my_mutex_init",
                           "inline_mysql_mutex_lock",
                           "inline_mysql_cond_wait",
                           "mysql_rwlock_init",
                           "psi_mutex_lock",
                           "g_mutex_lock",
                           "g_rw_lock_init",
                           "apr_thread_mutex_lock",
                           "uv_mutex_init",
                           "rb_native_mutex_initialize",
                           "mutex_initialize_shared",
                           "PR_Lock",
                           "sqlite3_mutex_enter",
                           "pthreadMutexAlloc",
                           "tchdblockmethod",
                           "tcbdblockmethod",
                           "tcglobalmutexlock",
                           "my_spin_lock_init",
                           "os::PlatformMonitor::PlatformMonitor",
                           "PlatformMutex::PlatformMutex",
                           "Monitor::lock_without_safepoint_check",
                           "MutexLocker::MutexLocker",
                           "Parker::park",
                           "QMutexPrivate::wait",
                           "QReadWriteLockPrivate::lockForRead",
                           "QWaitCondition::wait",
                           "g_static_rw_lock_reader_lock",
                           "boost::posix::mutex::lock",
                           "boost::shared_mutex::lock_shared",
                           "absl::synchronization_internal::PthreadWaiter::Wait",
                           "umtx_lock_70",
                           "Lck__New",
                           "txsync::native::mutex::lock",
                           "new_lock_",
                           "lockInit",
                           "make_lock",
                           "LOCK_create",
                           "mutex_init_pshared_with_type",
                           "mutex_cond_init_pshared",
                           "__fio_sem_init"}) {
    EXPECT_TRUE(launch::is_lock_wrapper(name)) << name;
  }
}

TEST(LockWrappers, OthersDoNot) {
  for (const char* name : {"main",
                           "kyotocabinet::HashDB::set",
                           "kyotocabinet::GrassDB::accept",
                           "rocksdb::DBImpl::Write",
                           "rocksdb::Block::Init",
                           "rocksdb::SystemClock::Now",
                           "DataBlock::read",
                           "std::thread::_State_impl<int>::_M_run",
                           "std::vector<std::mutex>::at",
                           "thread_pool::run",
                           "THD::awake",
                           "item_get",
                           "tcmdbput",
                           "tchdbput",
                           "dispatch_command",
                           "blocked_by",
                           "HealthMonitor::check",
                           "clock_get",
                           "Log_event::write",
                           "foo::{lambda#1}::operator()",
                           "lock_table_init",
                           "block_new",
                           "unlock_door",
                           "release_all"}) {
    EXPECT_FALSE(launch::is_lock_wrapper(name)) << name;
  }
}

/// A frame behind the first instruction of a function of this program.
template <class Function>
channel::frame frame_of(Function* function, const std::string& module = "/proc/self/exe") {
  Dl_info info{};
  link_map* map = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(function) + 1;
  dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  channel::frame made;
  made.offset = address - map->l_addr;
  std::strncpy(made.module, module.c_str(), sizeof made.module - 1);
  return made;
}

channel::place place_of(std::initializer_list<channel::frame> frames) {
  channel::place made;
  for (const channel::frame& one : frames) made.frames[made.count++] = one;
  return made;
}

std::string name_of(std::initializer_list<channel::frame> frames) {
  launch::place_names names;
  return names.name(place_of(frames), static_cast<std::uint32_t>(getpid())).name;
}

/// A folder of the test's own.
struct folder {
  fs::path path;
  folder() {
    std::string made = (fs::temp_directory_path() / "place_names-XXXXXX").string();
    path = mkdtemp(made.data());
  }
  ~folder() { fs::remove_all(path); }
};

TEST(PlaceNames, TheNearestFrameThatIsNoWrapper) {
  const channel::frame order = frame_of(shop::take_order);
  const channel::frame put = frame_of(shop::store<int>::put);
  const channel::frame lock = frame_of(shop::ScopedMutex::lock);
  EXPECT_EQ(name_of({order, put}).rfind("shop::take_order@place_names.cpp:", 0), 0u) << name_of({order, put});
  EXPECT_EQ(name_of({put, order}).rfind("shop::store<int>::put@place_names.cpp:", 0), 0u) << name_of({put, order});
  EXPECT_EQ(name_of({lock, order, put}), name_of({order}));
  EXPECT_EQ(name_of({lock}).rfind("shop::ScopedMutex::lock@place_names.cpp:", 0), 0u) << "there is nothing else";
}

TEST(PlaceNames, UnknownFramesAndNone) {
  channel::frame nowhere;
  nowhere.offset = 0x7F0000001234;
  const channel::frame order = frame_of(shop::take_order);
  EXPECT_EQ(name_of({nowhere, order}), name_of({order})) << "code that belongs to no file";
  EXPECT_EQ(name_of({nowhere}), "(unknown)");
  EXPECT_EQ(name_of({}), "(unknown)");
  EXPECT_EQ(name_of({frame_of(shop::take_order, "/nowhere/lib.so.1")}).rfind("lib.so.1+0x", 0), 0u);
  channel::place too_many;
  too_many.count = 4'000'000;
  launch::place_names names;
  EXPECT_EQ(names.name(too_many, 1).name, "(unknown)");
}

TEST(PlaceNames, WithoutDebugInformationAndWithoutSymbols) {
  const folder here;
  const auto stripped = [&](const std::string& how, const std::string& name) {
    const std::string made = here.path / name;
    const std::string self = fs::canonical("/proc/self/exe");
    return std::system(("strip " + how + " -o " + made + " " + self + " 2>/dev/null").c_str()) == 0 ? made
                                                                                                    : std::string();
  };
  const std::string symbols = stripped("--strip-debug", "symbols");
  const std::string nothing = stripped("--strip-all", "nothing");
  if (symbols.empty() || nothing.empty()) GTEST_SKIP() << "there is no strip";
  EXPECT_EQ(name_of({frame_of(shop::take_order, symbols)}), "shop::take_order+0x1");
  EXPECT_EQ(name_of({frame_of(shop::take_order, nothing)}).rfind("nothing+0x", 0), 0u);
}

TEST(PlaceNames, AReplacedFileIsReadAgain) {
  const folder here;
  const std::string file = here.path / "program";
  launch::place_names names;
  const channel::place place = place_of({frame_of(shop::take_order, file)});
  EXPECT_EQ(names.name(place, 1).name.rfind("program+0x", 0), 0u) << "it is not there";
  fs::copy_file("/proc/self/exe", file);
  EXPECT_EQ(names.name(place, 1).name.rfind("program+0x", 0), 0u) << "and was not looked for again";
  names.forget_changed_files();
  EXPECT_EQ(names.name(place, 1).name.rfind("shop::take_order@", 0), 0u);
}

}  // namespace
