// SPDX-License-Identifier: Apache-2.0
// The same lock source runs on the native, the scripted and the virtual machine, in one program without a clash of
// names.
#include <gtest/gtest.h>

extern "C" {
const char* tatas_on_native(int sections, int* counted);
const char* tatas_on_scripted(int sections, int* counted);
const char* tatas_on_virtual(int sections, int* counted);
}

namespace {

TEST(ThreeBackEnds, TatasRunsOnEach) {
  int counted = 0;
  EXPECT_STREQ(tatas_on_native(100, &counted), "native");
  EXPECT_EQ(counted, 100);
  EXPECT_STREQ(tatas_on_scripted(100, &counted), "scripted");
  EXPECT_EQ(counted, 200);
  EXPECT_STREQ(tatas_on_virtual(100, &counted), "simulated");
  EXPECT_EQ(counted, 300);
}

}  // namespace
