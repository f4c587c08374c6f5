/* SPDX-License-Identifier: Apache-2.0
   Concurrency Kit's headers are C only: its locks behind functions of our own, in storage of our own. */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct __attribute__((aligned(128))) {
  uint64_t storage[16];
} txsync_ck_storage;

void txsync_ck_fas_init(txsync_ck_storage* lock);
void txsync_ck_fas_lock(txsync_ck_storage* lock);
void txsync_ck_fas_unlock(txsync_ck_storage* lock);
void txsync_ck_ticket_init(txsync_ck_storage* lock);
void txsync_ck_ticket_lock(txsync_ck_storage* lock);
void txsync_ck_ticket_unlock(txsync_ck_storage* lock);
void txsync_ck_mcs_init(txsync_ck_storage* lock);
void txsync_ck_mcs_lock(txsync_ck_storage* lock, txsync_ck_storage* node);
void txsync_ck_mcs_unlock(txsync_ck_storage* lock, txsync_ck_storage* node);

#ifdef __cplusplus
}
#endif
