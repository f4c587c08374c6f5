// SPDX-License-Identifier: Apache-2.0
// The build of this program. The commit comes from a header that each build rewrites if it has changed.
#include "observe/document/commit.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#else
  return "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

tool_record this_tool() {
  return {TXSYNC_DOCUMENT_VERSION, TXSYNC_DOCUMENT_COMMIT, compiler(), TXSYNC_DOCUMENT_BUILD_TYPE,
          TXSYNC_DOCUMENT_SANITIZERS};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
