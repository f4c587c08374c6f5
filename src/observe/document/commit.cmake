# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE=dir -D HEADER=file -P commit.cmake: names the checkout's commit in a header, at each build. The file
# is written only if its text changes. Copies without git, and checkouts that git refuses to read, are "unknown".
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define TXSYNC_DOCUMENT_COMMIT \"${commit}\"\n")
