// SPDX-License-Identifier: Apache-2.0
#include "launch/channel_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/memory.hpp>

#include "observe/blocks.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

constexpr std::uint32_t fewest_blocks = 64;

std::uint64_t whole_pages(std::uint64_t bytes) {
  const std::uint64_t page = machine::page_size();
  return (bytes + page - 1) / page * page;
}

void* map(int file, std::uint64_t offset, std::uint64_t bytes, int rights) {
  void* const mapped = mmap(nullptr, bytes, rights, MAP_SHARED | MAP_NORESERVE, file, static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

channel_file::channel_file(policy::packed everywhere, bool check_order) {
  const char* const chosen = std::getenv("TMPDIR");
  std::string tried;
  for (const char* parent : {"/dev/shm", chosen, "/tmp"}) {
    if (parent == nullptr || *parent == '\0') continue;
    if (make_in(parent, everywhere, check_order)) return;
    tried += std::string(tried.empty() ? "" : ", ") + parent + " (" + std::strerror(errno) + ")";
    remove();
  }
  throw std::runtime_error("there is no place for the file that the program counts in; tried " + tried);
}

bool channel_file::make_in(const std::string& parent, policy::packed everywhere, bool check_order) {
  // With our number in the name: what a killed launcher has left can be told from what others use.
  std::string folder = parent + "/txsync-" + std::to_string(getpid()) + "-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return false;  // mode 0700
  folder_ = folder;
  path_ = folder_ + "/channel";
  file_ = descriptor(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file_.get() < 0) return false;
  const std::uint64_t head_bytes = whole_pages(sizeof(preload::channel));
  const std::uint64_t block_bytes = whole_pages(observe::block_bytes());
  // One a thread at a time; the file is sparse, so that it takes the room of what is counted.
  std::uint32_t blocks = preload::channel::max_blocks;
  while (ftruncate(file_.get(), static_cast<off_t>(head_bytes + blocks * block_bytes)) != 0) {
    if (blocks == fewest_blocks) return false;
    blocks /= 2;
  }
  // Room for the head is taken now: a full disk must be an error here, not a signal later.
  if (const int error = posix_fallocate(file_.get(), 0, static_cast<off_t>(head_bytes)); error != 0) {
    errno = error;
    return false;
  }
  void* const mapped = map(file_.get(), 0, head_bytes, PROT_READ | PROT_WRITE);
  if (mapped == nullptr) return false;
  head_ = new (mapped) preload::channel;
  head_->version = preload::channel::current_version;
  head_->check_order = check_order ? 1 : 0;
  head_->default_policy = everywhere.word();
  head_->block_limit = block_limit_ = blocks;
  head_->block_bytes = block_bytes_ = block_bytes;
  head_->first_block = first_block_ = head_bytes;
  head_->cycles_per_second = machine::cycles_per_second();
  head_->magic = preload::channel::magic_number;
  say_alive();
  return true;
}

channel_file::~channel_file() { remove(); }

void channel_file::remove() noexcept {
  if (head_ != nullptr) munmap(head_, whole_pages(sizeof(preload::channel)));
  head_ = nullptr;
  file_.reset();
  if (!path_.empty()) unlink(path_.c_str());
  if (!folder_.empty()) rmdir(folder_.c_str());
  path_.clear();
  folder_.clear();
}

void channel_file::say_alive() const noexcept {
  // relaxed: a sign of life, it guards nothing
  head_->launcher_alive.store(machine::clock_ns(), std::memory_order_relaxed);
}

std::uint32_t channel_file::blocks() const noexcept {
  // relaxed: the number of blocks; what is in them is read as it is
  return std::min(head_->blocks_given.load(std::memory_order_relaxed), block_limit_);
}

namespace {

/// What the block's thread did at each site, an unfinished wait included.
void add_threads(const void* block, std::uint64_t end_of_waits, channel_file::counts& sum) {
  const observe::unfinished_wait wait = observe::unfinished_in(block, end_of_waits);
  for (std::uint32_t id = 1; id <= sum.totals.size(); ++id) {
    observe::thread_turns turns = observe::turns_in(block, id);
    if (wait.site_id == id) {
      observe::site_totals& total = sum.totals[id - 1];
      ++total.unfinished_waits;
      total.max_wait_ns = std::max(total.max_wait_ns, wait.ns);
      turns.wait_ns += wait.ns;
    }
    if (turns.turns != 0 || turns.wait_ns != 0) sum.by_thread[id - 1].push_back(turns);
  }
}

}  // namespace

/// When the unfinished waits of a block's threads count as ended; 0: it is not known.
std::uint64_t channel_file::end_of_waits(std::uint32_t block, int process, std::uint64_t ended_at) const noexcept {
  // relaxed: written before the block was used
  const auto owner = static_cast<int>(head_->block_processes[block].load(std::memory_order_relaxed));
  if (owner == 0) return 0;
  if (owner == process) return ended_at;
  return kill(owner, 0) == 0 ? machine::cycles() : 0;
}

channel_file::counts channel_file::read_counts(std::uint32_t sites, int process, std::uint64_t ended_at) const {
  counts sum{std::vector<observe::site_totals>(sites), std::vector<std::vector<observe::thread_turns>>(sites)};
  // Read, not mapped: to look at a page that nobody has written takes memory, and there may be none.
  const std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(machine::page_size(), block_bytes_),
                                                          &std::free);
  if (block == nullptr) throw std::bad_alloc();
  for (std::uint32_t i = 0; i < blocks() && sites != 0; ++i) {
    if (pread(file_.get(), block.get(), block_bytes_, static_cast<off_t>(first_block_ + i * block_bytes_)) !=
        static_cast<ssize_t>(block_bytes_))
      throw std::runtime_error("the counts of the program could not be read");
    observe::add_block(block.get(), sum.totals.data(), sites);
    add_threads(block.get(), end_of_waits(i, process, ended_at), sum);
  }
  for (observe::site_totals& one : sum.totals) {
    // Samples may lag behind what was counted exactly.
    if (one.acquisitions < one.contended) one.acquisitions = one.contended;
  }
  return sum;
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch
