// SPDX-License-Identifier: Apache-2.0
// The runs of `txsync lab` for experiments that have a workload: one cell of `txsync sim` for each point.
#include "base/bad_input.hpp"
#include "simulate/lab.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::bad_input;

namespace {

using experiments::experiment;
using experiments::setting;

/// An experiment that cannot be run is an error of txsync itself, and tests look for it. But it is no reason to crash.
bad_input broken(const experiment& of, const std::string& why) { return bad_input("experiment " + of.id + ": " + why); }

class point_request {
 public:
  point_request(const experiment& of, const sim::machine& machine, const std::string& image, std::uint64_t seed)
      : of_(of) {
    request_.machine = machine;
    request_.image = image;
    request_.uncharged_set_up = of.cold;
    measure::bench_request& bench = request_.bench;
    bench.workload = workloads::find_workload(of.workload);
    if (bench.workload == nullptr) throw broken(of, "there is no workload " + of.workload);
    if (of.microseconds != 0) {
      bench.plan.duration_ns = of.microseconds * 1'000;
      bench.plan.run_in_ns = bench.plan.duration_ns / 10;
    } else {
      bench.plan.operations = of.operations;
    }
    bench.plan.seed = seed;
    bench.placement = "cores-first";
    bench.repeat = 1;
  }

  const sim_request& for_point(const experiments::variant& curve, std::uint64_t position) {
    measure::bench_request& bench = request_.bench;
    bench.values = workloads::default_parameters(*bench.workload);
    for (const setting& one : curve.settings) set(one);
    const bool threads_vary = of_.along.key == experiments::by_threads;
    if (!threads_vary) set({of_.along.key, position});
    if (const char* wrong = workloads::complaint(*bench.workload, bench.values)) throw broken(of_, wrong);
    const workloads::subject* lock = workloads::find_subject(curve.subject);
    if (lock == nullptr) throw broken(of_, "there is no lock " + curve.subject);
    bench.locks = {lock};
    bench.threads = {threads_vary ? static_cast<unsigned>(position) : curve.threads};
    return request_;
  }

 private:
  void set(const setting& one) {
    const int index = workloads::find_parameter(*request_.bench.workload, one.key);
    if (index < 0) throw broken(of_, of_.workload + " has no parameter " + one.key);
    request_.bench.values.values[index] = one.value;
  }

  const experiment& of_;
  sim_request request_;
};

void keep(lab_result& into, std::size_t curve, std::size_t place, measure::bench_result&& seen) {
  into.interrupted = into.interrupted || seen.interrupted;
  if (seen.points.empty()) return;
  observe::point& point = seen.points.front();
  for (const std::string& fault : point.faults) into.faults.push_back(into.of->id + ": " + fault);
  into.results.points[curve][place] = std::move(point);
}

}  // namespace

sim::machine machine_of(const experiment& of) {
  sim::machine made;
  try {
    made = sim::load_machine(of.machine);
  } catch (const sim::machine_error& error) {
    throw bad_input(error.what());
  }
  for (const setting& change : of.changes) {
    const std::size_t dot = change.key.find('.');
    const std::size_t index =
        sim::field_index(std::string_view(change.key).substr(0, dot), std::string_view(change.key).substr(dot + 1));
    if (index == sim::no_field) throw broken(of, "no machine has " + change.key);
    made.model.*sim::fields()[index].member = static_cast<std::uint32_t>(change.value);
  }
  return made;
}

lab_result run_experiment(const experiment& of, const std::string& image, std::uint64_t seed) {
  const sim::machine machine = machine_of(of);
  lab_result made{&of, machine, experiments::results(of, machine.model.core_mhz), {}, {}};
  point_request requests(of, machine, image, seed);
  for (std::size_t curve = 0; curve < of.variants.size(); ++curve) {
    for (std::size_t place = 0; place < of.along.positions.size() && !made.interrupted; ++place) {
      keep(made, curve, place, simulate(requests.for_point(of.variants[curve], of.along.positions[place])));
    }
  }
  made.comparisons = experiments::compare(of, made.results);
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
