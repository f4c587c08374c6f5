// SPDX-License-Identifier: Apache-2.0
// Which functions only wrap locks. One rule for classes and one for C functions cover the usual names. The lists hold
// names that do not follow them.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "launch/place_name.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

/// The qualified name's components, without template arguments: "a::b<c::d>::e" is a, b, e.
std::vector<std::string> components_of(std::string_view name) {
  std::vector<std::string> parts(1);
  unsigned depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char letter = name[i];
    if (letter == '<') ++depth;
    if (depth == 0 && letter == ':' && i + 1 < name.size() && name[i + 1] == ':') {
      parts.emplace_back();
      ++i;
    } else if (depth == 0) {
      parts.back() += letter;
    }
    if (letter == '>' && depth > 0) --depth;
  }
  return parts;
}

bool ends_with_any(std::string_view text, const auto& list) {
  return std::any_of(list.begin(), list.end(), [text](std::string_view end) { return text.ends_with(end); });
}

bool starts_with_any(std::string_view text, const auto& list) {
  return std::any_of(list.begin(), list.end(), [text](std::string_view begin) { return text.starts_with(begin); });
}

constexpr auto class_ends =
    std::to_array<std::string_view>({"Mutex", "Lock", "Spinlock", "Rwlock", "RWlock", "Locker", "Latch", "Guard",
                                     "CondVar", "Condvar", "Event", "Semaphore", "CriticalSection"});

/// Whole words: a block and a clock are not locks.
constexpr auto class_words =
    std::to_array<std::string_view>({"mutex", "lock", "spinlock", "rwlock", "locker", "latch", "guard", "condvar",
                                     "condition_variable", "condition_variable_any", "semaphore", "critical_section"});

/// Only as whole names, because the words have other uses, too: from the JVM, Qt, Abseil.
constexpr auto class_names =
    std::to_array<std::string_view>({"Monitor", "PlatformMonitor", "Parker", "QMutexPrivate", "QReadWriteLockPrivate",
                                     "QWaitCondition", "QWaitConditionPrivate", "PthreadWaiter"});

constexpr auto class_tails = std::to_array<std::string_view>(
    {"_impl", "_low", "_base", "_wrapper", "_t", "Impl", "Base", "Internal", "Wrapper"});

bool ends_with_word(std::string_view name) {
  return std::any_of(class_words.begin(), class_words.end(), [name](std::string_view word) {
    return name.ends_with(word) && (name.size() == word.size() || name[name.size() - word.size() - 1] == '_');
  });
}

/// "Mutex", "SpinLock", "ssux_lock_impl", "ScopedMutex", "std::lock_guard".
bool is_lock_class(std::string_view name) {
  if (std::find(class_names.begin(), class_names.end(), name) != class_names.end()) return true;
  for (bool shorter = true; shorter;) {
    if (ends_with_any(name, class_ends) || ends_with_word(name)) return true;
    shorter = false;
    for (const std::string_view tail : class_tails) {
      if (!name.ends_with(tail) || name.size() == tail.size()) continue;
      name.remove_suffix(tail.size());
      shorter = true;
      break;
    }
  }
  return false;
}

constexpr auto function_begins = std::to_array<std::string_view>({"mtx_",
                                                                  "cnd_",
                                                                  "pthread_",
                                                                  "__pthread_",
                                                                  "__gthread",
                                                                  "my_mutex_",
                                                                  "mysql_mutex_",
                                                                  "mysql_rwlock_",
                                                                  "mysql_prlock_",
                                                                  "mysql_cond_",
                                                                  "inline_mysql_",
                                                                  "safe_mutex_",
                                                                  "safe_cond_",
                                                                  "psi_mutex_",
                                                                  "psi_rwlock_",
                                                                  "psi_cond_",
                                                                  "my_rw_",
                                                                  "g_mutex_",
                                                                  "g_rec_mutex_",
                                                                  "g_rw_lock_",
                                                                  "g_static_mutex_",
                                                                  "g_static_rec_mutex_",
                                                                  "g_static_rw_lock_",
                                                                  "g_cond_",
                                                                  "apr_thread_mutex_",
                                                                  "apr_thread_rwlock_",
                                                                  "apr_thread_cond_",
                                                                  "apr_anylock_",
                                                                  "uv_mutex_",
                                                                  "uv_rwlock_",
                                                                  "uv_cond_",
                                                                  "uv_sem_",
                                                                  "uv_once",
                                                                  "PR_Lock",
                                                                  "PR_Unlock",
                                                                  "PR_NewLock",
                                                                  "PR_DestroyLock",
                                                                  "PR_EnterMonitor",
                                                                  "PR_ExitMonitor",
                                                                  "PR_NewMonitor",
                                                                  "PR_RWLock_",
                                                                  "PR_NewRWLock",
                                                                  "PR_WaitCondVar",
                                                                  "PR_NotifyCondVar",
                                                                  "PR_NewCondVar",
                                                                  "umtx_",
                                                                  "Lck_",
                                                                  "CRYPTO_THREAD_",
                                                                  "ossl_crypto_mutex_",
                                                                  "ossl_crypto_condvar_",
                                                                  "txsync::"});

constexpr auto lock_words =
    std::to_array<std::string_view>({"mutex", "rwlock", "rw_lock", "spinlock", "spin_lock", "latch", "critical_section",
                                     "critsec", "condvar", "semaphore"});

constexpr auto lock_deeds = std::to_array<std::string_view>(
    {"lock",       "enter",  "leave",     "exit",  "acquire", "release", "init", "initialize",
     "initialise", "create", "new",       "alloc", "destroy", "delete",  "free", "get",
     "wait",       "signal", "broadcast", "read",  "write",   "rd",      "wr",   "done"});

constexpr auto makings = std::to_array<std::string_view>({"init", "initialize", "initialise"});

/// The words of a name in lower case: "LockInit_all" is lock, init, all.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  bool was_small = false;
  for (const char letter : name) {
    const bool is_capital = std::isupper(static_cast<unsigned char>(letter)) != 0;
    if (letter == '_' || (is_capital && was_small)) words.emplace_back();
    if (letter != '_') words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    was_small = letter != '_' && !is_capital;
  }
  std::erase(words, "");
  return words;
}

bool is_lock_word(std::string_view word) {
  return word == "lock" || word == "locks" || std::find(lock_words.begin(), lock_words.end(), word) != lock_words.end();
}
bool is_deed(std::string_view word) {
  return word == "make" || word == "try" || word == "unlock" ||
         std::find(lock_deeds.begin(), lock_deeds.end(), word) != lock_deeds.end();
}

/// "new_lock_", "lockInit", "LOCK_create": only locks and actions among the words. "lock_table_init" names something
/// else.
bool has_no_other_word(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), is_lock_word) &&
         std::all_of(words.begin(), words.end(),
                     [](const std::string& word) { return is_lock_word(word) || is_deed(word); });
}

/// "mutex_init_pshared_with_type", "rwlock_init_writer_preferred"
bool makes_a_lock(const std::vector<std::string>& words) {
  return words.size() >= 2 && words[0] != "lock" && words[0] != "locks" && is_lock_word(words[0]) &&
         std::find_first_of(words.begin(), words.end(), makings.begin(), makings.end()) != words.end();
}

/// "sqlite3_mutex_enter", "pthreadMutexAlloc", "spin_lock_irq_init": a lock among the words, an action at the end.
bool is_lock_function(std::string_view name) {
  std::string lower;
  for (const char letter : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  const bool has_lock = std::any_of(lock_words.begin(), lock_words.end(),
                                    [&](std::string_view word) { return lower.find(word) != std::string::npos; });
  if (has_lock && ends_with_any(std::string_view(lower), lock_deeds)) return true;
  const std::vector<std::string> words = words_of(name);
  if (has_no_other_word(words) || makes_a_lock(words) || lower.ends_with("sem_init")) return true;
  // Tokyo Cabinet: tchdblockmethod, tcbdblockmethod, tcglobalmutexlock. All callers of one database share these.
  return lower.starts_with("tc") && lower.find('_') == std::string::npos &&
         (lower.find("dblock") != std::string::npos || lower.find("dbunlock") != std::string::npos ||
          lower.ends_with("mutexlock") || lower.ends_with("pathlock"));
}

constexpr auto std_functions =
    std::to_array<std::string_view>({"lock", "try_lock", "call_once", "notify_all_at_thread_exit"});

}  // namespace

bool is_lock_wrapper(std::string_view function) {
  if (starts_with_any(function, function_begins)) return true;
  const std::vector<std::string> parts = components_of(function);
  if (parts.size() == 1) return is_lock_function(parts[0]);
  if (std::any_of(parts.begin(), parts.end() - 1, is_lock_class)) return true;
  if (parts[0] == "std") {
    return std::find(std_functions.begin(), std_functions.end(), std::string_view(parts[1])) != std_functions.end() ||
           parts[1].starts_with("__gthread") || parts[1].starts_with("__shared_") || parts[1] == "__condvar";
  }
  return is_lock_function(parts.back());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
