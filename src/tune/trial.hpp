// SPDX-License-Identifier: Apache-2.0
// The tuner's view of what it tunes: something that can be run with a configuration of locks and yields one number. The
// engine knows only this, so that a test can script it.
#pragma once

#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// One site, and the kind of lock that it gets.
struct site_setting {
  std::string site;
  std::string kind;
  bool operator==(const site_setting&) const = default;
};

/// A configuration to run with: a candidate for the whole program, with other locks at some sites.
struct configuration {
  std::string candidate;
  std::vector<site_setting> sites;
  bool operator==(const configuration&) const = default;
};

/// "mutex", "mutex; push@queue.cpp:12: lock=ticket".
inline std::string name_of(const configuration& config) {
  std::string name = config.candidate;
  for (const site_setting& one : config.sites) name += "; " + one.site + ": " + one.kind;
  return name;
}

/// What a site counted in one run, and which other kinds of lock it could have.
struct site_seen {
  observe::site_record counted;
  std::vector<std::string> others;  ///< without the kind that it had in that run
};

/// One run.
struct measured {
  double value = 0;     ///< of the metric; not negative
  std::string failure;  ///< why there is no value, one sentence; empty if there is one
  std::string unfit;    ///< why the configuration does not fit this program, whatever the value; empty: it fits
  double seconds = 0;   ///< how long it took
  std::vector<site_seen> sites;
};

class trial {
 public:
  virtual ~trial() = default;

  /// Runs once. A run that takes longer than `timeout_seconds` (0: no limit) is ended and fails.
  virtual measured run(const configuration& config, double timeout_seconds) = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
