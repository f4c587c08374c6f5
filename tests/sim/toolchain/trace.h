/* SPDX-License-Identifier: Apache-2.0 */
// What a program under test asks of the recorder. A trace is words: r8@16 is a read of 8 bytes 16 bytes behind the
// origin, w a write, ar, aw and ax atomics, step the one moment at which a library function may switch threads,
// call:NAME something that ends an attempt, relax, fence, pr and pw prefetches.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void txsync_sim_test_record(const void* origin);  // 0: stop
const char* txsync_sim_test_trace(void);

#ifdef __cplusplus
}
#endif
