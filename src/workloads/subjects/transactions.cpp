// SPDX-License-Identifier: Apache-2.0
// The workload `transactions`, and the algorithms of txsync::tm as its subjects.
#include <txsync/tm.hpp>

#include "workloads/subjects/subjects.hpp"
#include "workloads/transactions/run.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace transactions {

namespace {

constexpr const char* shape_names[] = {"bank", "chains", "tree", "mixed"};
constexpr const char* paths_names[] = {"policy", "hhh", "shh", "hsh", "ssh", "hhs", "shs", "hss", "sss"};
constexpr const char* allocations[] = {"pool", "inside"};

constexpr parameter keys[] = {
    {"shape", 0, 0, 3,
     "bank: transfers and readings; chains: a set in sorted chains; tree: a set in a red-black tree; mixed: transfers "
     "beside a set in chains",
     shape_names},
    {"size", 1'024, 2, 10'000'000, "accounts, or keys, of which half are there at the start"},
    {"buckets", 1'024, 1, 1'000'000, "of chains; one is a sorted list"},
    {"updates", 50, 0, 100, "percent of operations that write; on sets half of them insert, half remove"},
    {"allocation", 0, 0, 1,
     "pool: nodes are a thread's own, and never go back; inside: sections allocate and free them", allocations},
    {"transfers", 90, 0, 100, "percent of operations that are transfers, of the shape mixed"},
    {"paths", 0, 0, 8,
     "which blocks of the shape mixed try the hardware, where the algorithm does: transfers, lookups, updates (h: "
     "hardware, s: software only); policy: all",
     paths_names},
};

constexpr setting bank_50[] = {{"shape", 0}, {"size", 1'024}, {"updates", 50}};
constexpr setting hash_10[] = {{"shape", 1}, {"size", 20'480}, {"buckets", 1'024}, {"updates", 10}};
constexpr setting hash_90[] = {{"shape", 1}, {"size", 20'480}, {"buckets", 1'024}, {"updates", 90}};
constexpr setting list_20[] = {{"shape", 1}, {"size", 2'000}, {"buckets", 1}, {"updates", 20}};
constexpr setting tree_20[] = {{"shape", 2}, {"size", 200'000}, {"updates", 20}};
constexpr setting hash_10_inside[] = {
    {"shape", 1}, {"size", 20'480}, {"buckets", 1'024}, {"updates", 10}, {"allocation", 1}};
constexpr setting hash_90_inside[] = {
    {"shape", 1}, {"size", 20'480}, {"buckets", 1'024}, {"updates", 90}, {"allocation", 1}};
constexpr setting list_20_inside[] = {
    {"shape", 1}, {"size", 2'000}, {"buckets", 1}, {"updates", 20}, {"allocation", 1}};
constexpr setting tree_20_inside[] = {{"shape", 2}, {"size", 200'000}, {"updates", 20}, {"allocation", 1}};
// "128, resp. 1024, elements per bucket", "64 pages in total", "10% lookups and 90% update": 4,096 items of 32 bytes
// are half of the pages. There are twice as many possible keys as present ones.
constexpr setting hybrid_128[] = {{"shape", 1}, {"size", 8'192}, {"buckets", 32}, {"updates", 90}};
constexpr setting hybrid_1024[] = {{"shape", 1}, {"size", 8'192}, {"buckets", 4}, {"updates", 90}};

constexpr setting mixed_inside[] = {{"shape", 3},    {"size", 2'000},   {"buckets", 1},
                                    {"updates", 20}, {"allocation", 1}, {"transfers", 90}};

constexpr preset presets[] = {
    {"bank-50", "txsync: transfers between 1,024 accounts, half of the operations", bank_50},
    {"hash-10", "txsync: 10 keys a bucket, 10 % updates", hash_10},
    {"hash-90", "txsync: 10 keys a bucket, 90 % updates", hash_90},
    {"list-20", "txsync: a sorted list of 1,000 keys, 20 % updates", list_20},
    {"tree-20", "txsync: a red-black tree of 100,000 keys, 20 % updates", tree_20},
    {"hash-10-inside", "txsync: the same, nodes allocated in sections", hash_10_inside},
    {"hash-90-inside", "txsync: the same, nodes allocated in sections", hash_90_inside},
    {"list-20-inside", "txsync: the same, nodes allocated in sections", list_20_inside},
    {"tree-20-inside", "txsync: the same, nodes allocated in sections", tree_20_inside},
    {"mixed-inside", "txsync: transfers beside list-20-inside, nine of ten operations", mixed_inside},
    {"hybrid-128", "hybrid paper, section V: hash map with 128 items a bucket", hybrid_128},
    {"hybrid-1024", "hybrid paper, section V: hash map with 1024 items a bucket", hybrid_1024},
};

constinit tm::block reading{"transactions.read"};
constinit tm::block writing{"transactions.write"};
// Of the shape mixed, with the paths that its blocks may take.
constexpr tm::block_policy software_only{.hardware_attempts = 0};
constinit tm::block transfer{"transactions.transfer"};
constinit tm::block transfer_in_software{"transactions.transfer", software_only};
constinit tm::block lookup{"transactions.lookup"};
constinit tm::block lookup_in_software{"transactions.lookup", software_only};
constinit tm::block update{"transactions.update"};
constinit tm::block update_in_software{"transactions.update", software_only};

/// Blocks of one structure.
class two_blocks {
 public:
  two_blocks(tm::block& reads, tm::block& writes) noexcept : reads_(reads), writes_(writes) {}
  template <class Body>
  auto read(const Body& body) {
    return tm::atomically(reads_, body);
  }
  template <class Body>
  auto write(const Body& body) {
    return tm::atomically(writes_, body);
  }

 private:
  tm::block& reads_;
  tm::block& writes_;
};

class atomic_blocks {
 public:
  template <class T>
  using cell = tm::var<T>;

  /// `paths`: the parameter.
  explicit atomic_blocks(std::uint64_t paths) noexcept
      : bank_(reading, is_software(paths, 0) ? transfer_in_software : transfer),
        list_(is_software(paths, 1) ? lookup_in_software : lookup,
              is_software(paths, 2) ? update_in_software : update) {}
  template <class Body>
  static auto read(const Body& body) {
    return tm::atomically(reading, body);
  }
  template <class Body>
  static auto write(const Body& body) {
    return tm::atomically(writing, body);
  }
  two_blocks& bank() noexcept { return bank_; }
  two_blocks& list() noexcept { return list_; }

 private:
  static bool is_software(std::uint64_t paths, unsigned block) noexcept { return paths_names[paths][block] == 's'; }

  two_blocks bank_;
  two_blocks list_;
};

constexpr const char* names[] = {"dctl",      "tinystm_wt", "tinystm_wb",       "tl2",  "norec",  "2plsf",
                                 "sgl",       "htm_sgl",    "htm_sgl_adaptive", "auto", "hydctl", "hynorec",
                                 "hytinystm", "hytl2"};

/// Runs by the algorithm at that index in the list of names.
template <unsigned index>
outcome run_by(const parameters& values, const plan& how) {
  if (!tm::use_algorithm(names[index])) return refused("there is no algorithm of that name");
  atomic_blocks system(values[key::paths]);
  return run(system, values, how);
}

template <unsigned index>
constexpr subject subject_of(const char* name, waiting how, const char* summary) noexcept {
  subject made{.name = name, .peer = false, .how = how, .is_algorithm = true, .summary = summary};
  made.run[static_cast<unsigned>(workload_id::transactions)] = run_by<index>;
  return made;
}

constexpr subject table[] = {
    subject_of<0>("tm_dctl", waiting::spins, "atomic blocks: encounter-time locks, undo log, deferred clock"),
    subject_of<1>("tm_tinystm_wt", waiting::spins, "atomic blocks: encounter-time locks, undo log, snapshots extended"),
    subject_of<2>("tm_tinystm_wb", waiting::spins,
                  "atomic blocks: encounter-time locks, write buffer, snapshots extended"),
    subject_of<3>("tm_tl2", waiting::spins, "atomic blocks: commit-time locks, write buffer"),
    subject_of<4>("tm_norec", waiting::spins, "atomic blocks: one sequence lock, reads compared by value"),
    subject_of<5>("tm_2plsf", waiting::spins,
                  "atomic blocks: two-phase locking, distributed read indicators, starvation-free"),
    subject_of<6>("tm_sgl", waiting::parks, "atomic blocks: a single global lock"),
    subject_of<7>("tm_htm_sgl", waiting::parks, "atomic blocks: ten hardware attempts, then the global lock"),
    subject_of<8>("tm_htm_sgl_adaptive", waiting::parks,
                  "atomic blocks: hardware attempts while they may help, then the global lock"),
    subject_of<9>("tm_auto", waiting::spins, "atomic blocks: in hardware or by dctl, block by block"),
    subject_of<10>("tm_hydctl", waiting::spins, "atomic blocks: hardware attempts beside dctl"),
    subject_of<11>("tm_hynorec", waiting::spins, "atomic blocks: ten hardware attempts beside norec"),
    subject_of<12>("tm_hytinystm", waiting::spins, "atomic blocks: ten hardware attempts beside tinystm_wb"),
    subject_of<13>("tm_hytl2", waiting::spins, "atomic blocks: ten hardware attempts beside tl2"),
};

}  // namespace

tm::block_totals totals_so_far() noexcept {
  tm::block_totals sum;
  for (tm::block* const one : {&reading, &writing, &transfer, &transfer_in_software, &lookup, &lookup_in_software,
                               &update, &update_in_software}) {
    const tm::block_totals part = tm::totals(*one);
    sum.commits += part.commits;
    sum.alone += part.alone;
    sum.hardware += part.hardware;
    sum.waits += part.waits;
    for (std::size_t i = 0; i < abort_cause_count; ++i) sum.aborts[i] += part.aborts[i];
  }
  return sum;
}

}  // namespace transactions

std::span<const subject> transaction_subjects() noexcept { return transactions::table; }

constinit const workload transactions_workload{
    .name = "transactions",
    .summary = "a bank, a hash map, a list or a tree by atomic blocks, or by the same code under one lock",
    .operation = "transactions",
    .keys = transactions::keys,
    .presets = transactions::presets,
    .contradiction = nullptr,
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
