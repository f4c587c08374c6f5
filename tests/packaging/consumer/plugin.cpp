// SPDX-License-Identifier: Apache-2.0
// The least of a plug-in that has a site.
#include <mutex>
#include <txsync/mutex.hpp>

namespace {

constinit txsync::site place{"consumer.plugin"};
constinit txsync::mutex lock{place};

}  // namespace

extern "C" void use_plugin() { const std::lock_guard held(lock); }
