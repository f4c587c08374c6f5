// SPDX-License-Identifier: Apache-2.0
// What the locks of named sites do, from a policy file (docs/policy-file.md) such as `txsync tune` writes.
#pragma once

#include <string>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// Reads a policy file, and puts what it says of each named site into the site's policy (site::set_policy()). A site
/// that no lock has used yet gets it at its first use. What the file does not say of a site stays as it is.
///
/// `name_or_file`: as for `txsync run --policy`: a file, or a name that `txsync list policies` prints. A file of such a
/// name is meant by ./NAME. The file must belong to the user or to root, and nobody else may be able to write to it or
/// to its folder.
///
/// When it takes effect: the algorithm ("lock", "rwlock", "spinlock") at locks that are used for the first time from
/// then on; elision, warm-up and counting at each lock's next acquisition. One exception: a policy_mutex in use begins
/// elision at its next sample, within 512 acquisitions (policy_mutex.hpp). Locks that heed no policy go on as they are.
///
/// What counts where several say something of a site: `txsync run --policy` and `txsync tune`, whose launcher is asked
/// for each site; then the last call of this; then the file or name in the environment variable TXSYNC_POLICY, which is
/// read when the library is loaded; then what the program has given to set_policy(). The variable is ignored in
/// set-user-ID programs. If what it names cannot be read, one line on the standard error says why, and nothing changes.
///
/// Returns: empty where it worked; else the error, in one line without its end, and nothing has changed:
/// "FILE:LINE: what; allowed: ...", for what is wrong within the file. Throws nothing; a program compiled without
/// exceptions may call it. Where txsync was built without toml++, each call is an error.
///
/// Thread-safe; calls at once come one after the other. Not for signal handlers, nor inside an attempt or an atomic
/// block. Requires: no module with a site that was used has been unloaded.
/// Cost: a system call for each 64 KB, some 10 us for a site that the file names, 0.1 us for each site of the program.
/// What was read is kept until the process ends, some 150 bytes for each site that the file names.
[[nodiscard]] TXSYNC_EXPORT std::string load_policy(const char* name_or_file) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND
