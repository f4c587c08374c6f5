/* SPDX-License-Identifier: Apache-2.0 */
// What a program under test asks of the recorder. A trace consists of words. r8@16 is a read of 8 bytes, 16 bytes after
// the origin, and w a write. ar, aw and ax are atomics. step is the one moment at which a library function may switch
// threads. call:NAME ends an attempt. relax and fence are such instructions; pr and pw are prefetches.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void txsync_sim_test_record(const void* origin);  // 0: stop
const char* txsync_sim_test_trace(void);

#ifdef __cplusplus
}
#endif
