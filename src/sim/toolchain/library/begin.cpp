// SPDX-License-Identifier: Apache-2.0
// Where the library's code begins in a program: txsync-c++ links what is the program's own before this, and the rest of
// the library behind it. The recipe keeps each object's code in one piece. program_steps.cpp of the runtime relies on it.

extern "C" void txsync_sim_library_begin() {}
// Behind the program's own data, in the same way.
extern "C" {
char txsync_sim_library_data_begin = 1;
char txsync_sim_library_bss_begin = 0;
}
