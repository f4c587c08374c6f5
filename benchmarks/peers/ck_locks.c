/* SPDX-License-Identifier: Apache-2.0 */
#include "ck_locks.h"

#include <ck_spinlock.h>

_Static_assert(sizeof(ck_spinlock_fas_t) <= sizeof(txsync_ck_storage), "fits");
_Static_assert(sizeof(ck_spinlock_ticket_t) <= sizeof(txsync_ck_storage), "fits");
_Static_assert(sizeof(ck_spinlock_mcs_t) <= sizeof(txsync_ck_storage), "fits");
_Static_assert(sizeof(ck_spinlock_mcs_context_t) <= sizeof(txsync_ck_storage), "fits");

void txsync_ck_fas_init(txsync_ck_storage* lock) { ck_spinlock_fas_init((ck_spinlock_fas_t*)lock); }
void txsync_ck_fas_lock(txsync_ck_storage* lock) { ck_spinlock_fas_lock((ck_spinlock_fas_t*)lock); }
void txsync_ck_fas_unlock(txsync_ck_storage* lock) { ck_spinlock_fas_unlock((ck_spinlock_fas_t*)lock); }

void txsync_ck_ticket_init(txsync_ck_storage* lock) { ck_spinlock_ticket_init((ck_spinlock_ticket_t*)lock); }
void txsync_ck_ticket_lock(txsync_ck_storage* lock) { ck_spinlock_ticket_lock((ck_spinlock_ticket_t*)lock); }
void txsync_ck_ticket_unlock(txsync_ck_storage* lock) { ck_spinlock_ticket_unlock((ck_spinlock_ticket_t*)lock); }

void txsync_ck_mcs_init(txsync_ck_storage* lock) { ck_spinlock_mcs_init((ck_spinlock_mcs_t*)lock); }
void txsync_ck_mcs_lock(txsync_ck_storage* lock, txsync_ck_storage* node) {
  ck_spinlock_mcs_lock((ck_spinlock_mcs_t*)lock, (ck_spinlock_mcs_context_t*)node);
}
void txsync_ck_mcs_unlock(txsync_ck_storage* lock, txsync_ck_storage* node) {
  ck_spinlock_mcs_unlock((ck_spinlock_mcs_t*)lock, (ck_spinlock_mcs_context_t*)node);
}
