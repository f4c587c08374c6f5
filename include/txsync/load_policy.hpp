// SPDX-License-Identifier: Apache-2.0
// Loads the policies of named sites from a policy file (docs/policy-file.md), such as `txsync tune` writes.
#pragma once

#include <string>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// Reads a policy file, and sets the policy of the program's named sites (site::set_policy()). What `[default]` sets
/// applies to all of them; `[site."NAME"]` takes precedence. If no lock has used a site yet, the site gets its policy
/// at the first use. Whatever the file does not set stays as it is.
///
/// `name_or_file`: a file, or a name that `txsync list policies` prints, as for `txsync run --policy`. If a file has
/// such a name, write ./NAME. The file must belong to the user or to root. Nobody else may have the right to write to
/// it or to its folder.
///
/// When a policy takes effect:
///  - the algorithm ("lock"): at each policy_mutex whose first use comes after this call ("rwlock" and "spinlock" are
///    for pthread locks, under `txsync run`);
///  - elision, warm-up and counting: at each lock's next acquisition. One exception: a policy_mutex in use begins
///    elision at its next sample, within 512 acquisitions (policy_mutex.hpp).
///
/// Locks that follow no policy do not change. A site that the program does not have is no error, nor is a key that the
/// site's locks ignore. So success does not mean that each line of the file took effect. Check a new file under
/// `txsync run --policy` first, which remarks on both.
///
/// If several sources set a policy of the same site, the first one in this list decides, for each key:
///  1. `txsync run --policy` and `txsync tune`, whose launcher is asked for each site;
///  2. the last call of load_policy(), then the one before it, and so on;
///  3. the file or name in the environment variable TXSYNC_POLICY, which is read when the library is loaded;
///  4. what set_policy() has set before;
///  5. for elision and warm-up, what a site_with_policy gives.
///
/// This is decided when a site is first used, and at each load_policy(). A set_policy() after that replaces the site's
/// policy, whoever has set it, until the next load_policy().
///
/// TXSYNC_POLICY is ignored in set-user-ID programs. If the policy that it names cannot be read, the library prints one
/// line with the reason on the standard error, and changes nothing.
///
/// Returns: an empty string on success. Otherwise nothing has changed, and the string is the error: one line without a
/// newline. If the fault lies within the file, the line reads "FILE:LINE: what; allowed: ...". If txsync was built
/// without toml++, each call returns an error. Throws nothing: a program that is compiled without exceptions may call
/// it.
///
/// Thread-safe; concurrent calls run one after the other. Do not call it in a signal handler, in an attempt or in an
/// atomic block. Requires: no module that contained a used site has been unloaded.
/// Cost: one system call per 64 KB, some 10 us per site that the file names, and 0.1 us per site of the program. What
/// it has read is kept until the process ends: some 150 bytes per site that the file names.
[[nodiscard]] TXSYNC_EXPORT std::string load_policy(const char* name_or_file) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND
