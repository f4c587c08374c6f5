// SPDX-License-Identifier: Apache-2.0
// Atomic blocks: txsync::tm. docs/tm/README.md is the tutorial.
#pragma once

#include <txsync/tm/algorithm.hpp>
#include <txsync/tm/atomically.hpp>
#include <txsync/tm/block.hpp>
#include <txsync/tm/hash_map.hpp>
#include <txsync/tm/heap.hpp>
#include <txsync/tm/linked_list.hpp>
#include <txsync/tm/ordered_map.hpp>
#include <txsync/tm/queue.hpp>
#include <txsync/tm/sorted_list.hpp>
#include <txsync/tm/transaction.hpp>
#include <txsync/tm/var.hpp>
#include <txsync/tm/vector.hpp>
