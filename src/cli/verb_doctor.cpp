// SPDX-License-Identifier: Apache-2.0
// txsync doctor: what this machine offers, found by asking and by trying.
#include "cli/verbs.hpp"
#include "doctor/machine_object.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

class doctor_verb final : public verb {
 public:
  const char* name() const override { return "doctor"; }
  const char* summary() const override { return "Show what this machine offers, and how to fix what does not work"; }

  void define(CLI::App&) override {}

  int run(session& with) override {
    const doctor::machine_report report = doctor::collect(/*probe_unclaimed=*/true);
    doctor::print(report, with.table);
    with.document.machine = doctor::machine_object(report);
    return ok;
  }
};

}  // namespace

std::unique_ptr<verb> make_doctor() { return std::make_unique<doctor_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
