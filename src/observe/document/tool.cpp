// SPDX-License-Identifier: Apache-2.0
// The build of this program. The commit comes from a header that each build rewrites if it has changed.
#include <fmt/core.h>

#include "observe/document/commit.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

tool_record this_tool() {
  return {TXSYNC_DOCUMENT_VERSION, TXSYNC_DOCUMENT_COMMIT, compiler(), TXSYNC_DOCUMENT_BUILD_TYPE,
          TXSYNC_DOCUMENT_SANITIZERS};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
