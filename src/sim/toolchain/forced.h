/* SPDX-License-Identifier: Apache-2.0 */
// Included before each source of a simulated program. libstdc++ has its strings and streams precompiled, and
// bits/c++config.h says so whatever the command line defines. This header takes that back afterwards, so that their
// templates are instantiated in the program, with hooks.
#pragma once
#ifdef __cplusplus
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif
// By this, a program can ask whether it is compiled for the simulated machine.
#define __TXSYNC_SIMULATED__ 1
