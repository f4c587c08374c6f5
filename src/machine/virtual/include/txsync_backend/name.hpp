// SPDX-License-Identifier: Apache-2.0
// Chosen by include directory: this build runs on the simulated machine (src/sim).
#pragma once
#define TXSYNC_BACKEND simulated
