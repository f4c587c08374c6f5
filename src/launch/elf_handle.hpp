// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libelf.h>

#include <memory>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

struct elf_closer {
  void operator()(Elf* elf) const noexcept { elf_end(elf); }
};
/// The owner of an ELF file that libelf has opened.
using elf_handle = std::unique_ptr<Elf, elf_closer>;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
