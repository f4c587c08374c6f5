// SPDX-License-Identifier: Apache-2.0
// The former name of concurrency_limiter.hpp.
#pragma once

#include <txsync/locks/concurrency_limiter.hpp>
