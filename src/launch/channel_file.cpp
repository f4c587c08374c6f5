// SPDX-License-Identifier: Apache-2.0
#include "launch/channel_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>

#include <fmt/core.h>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/park.hpp>

#include "base/descriptor.hpp"
#include "channel/counting_threads.hpp"
#include "launch/folder.hpp"
#include "observe/blocks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t min_blocks = 64;
constexpr const char* folder_prefix = "txsync-";
constexpr const char* file_prefix = "channel-";
/// A younger folder may belong to a launcher that is about to lock its file.
constexpr std::time_t abandoned_after_s = 10;

std::uint64_t whole_pages(std::uint64_t bytes) {
  const std::uint64_t page = machine::page_size();
  return (bytes + page - 1) / page * page;
}

std::string secret_name() {
  unsigned char random[16];
  if (getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    throw std::runtime_error(std::string("the system gave no random bytes: ") + std::strerror(errno));
  std::string name = file_prefix;
  for (const unsigned char byte : random) name += fmt::format("{:02x}", byte);
  return name;
}

/// "txsync-", a process number, "-" and mkdtemp()'s letters: nothing else may be touched.
bool is_folder_name(const std::string& name) {
  const std::size_t begin = std::strlen(folder_prefix);
  if (!name.starts_with(folder_prefix)) return false;
  const std::size_t end = name.find_first_not_of("0123456789", begin);
  return end != begin && end != std::string::npos && name[end] == '-' && name.size() == end + 7;
}

/// Whether the folder belongs to this user and to a launcher that has ended, and has only channels in it. A channel is
/// locked while its launcher lives, in whichever PID namespace. A process number would prove nothing.
bool is_abandoned(const fs::path& folder, std::vector<fs::path>& channels) {
  struct stat about{};
  if (lstat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != geteuid()) return false;
  if (std::time(nullptr) - about.st_mtime < abandoned_after_s) return false;
  std::error_code error;
  for (const fs::path& entry : entries_of(folder, error)) {
    if (!entry.filename().string().starts_with(file_prefix)) return false;
    const base::descriptor file(open(entry.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0 || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
    channels.push_back(entry);
  }
  return !error;
}

void remove_abandoned(const std::string& parent) {
  std::error_code error;
  for (const fs::path& entry : entries_of(parent, error)) {
    std::vector<fs::path> channels;
    if (!is_folder_name(entry.filename()) || !is_abandoned(entry, channels)) continue;
    // What cannot be removed does no harm.
    for (const fs::path& one : channels) unlink(one.c_str());
    rmdir(entry.c_str());
  }
}

/// While it lives, the file may be as large as the system allows. It is sparse. It is written through memory, to which
/// no limit applies. If the limit stays, making the file is an error instead of a signal.
class file_size_limit_raised {
 public:
  file_size_limit_raised() {
    struct sigaction ignored{};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignored, &action_);
    if (getrlimit(RLIMIT_FSIZE, &limit_) != 0) return;
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    const rlimit most{limit_.rlim_max, limit_.rlim_max};
    changed_ = setrlimit(RLIMIT_FSIZE, &none) == 0 || setrlimit(RLIMIT_FSIZE, &most) == 0;
  }
  file_size_limit_raised(const file_size_limit_raised&) = delete;
  file_size_limit_raised& operator=(const file_size_limit_raised&) = delete;
  ~file_size_limit_raised() {
    const int saved_errno = errno;
    if (changed_) setrlimit(RLIMIT_FSIZE, &limit_);
    sigaction(SIGXFSZ, &action_, nullptr);
    errno = saved_errno;
  }

 private:
  struct sigaction action_{};
  rlimit limit_{};
  bool changed_ = false;
};

void* map(int file, std::uint64_t offset, std::uint64_t bytes, int rights) {
  void* const mapped = mmap(nullptr, bytes, rights, MAP_SHARED | MAP_NORESERVE, file, static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

channel_file::channel_file(const contents& content) {
  const char* const chosen = std::getenv("TMPDIR");
  std::string tried;
  for (const char* parent : {"/dev/shm", chosen, "/tmp"}) {
    if (parent == nullptr || *parent == '\0') continue;
    if (make_in(parent, content)) return;
    tried += std::string(tried.empty() ? "" : ", ") + parent + " (" + std::strerror(errno) + ")";
    if (errno == EFBIG) tried += ", for which the limit of file sizes (ulimit -f) is too small";
    remove();
  }
  throw std::runtime_error("there is no folder for the file in which the program counts; tried " + tried);
}

bool channel_file::open_in(const std::string& folder) {
  const bool any_user = geteuid() == 0;  // may the program become another one?
  folder_ = folder;
  path_ = folder_ + "/" + secret_name();
  file_ = base::descriptor(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file_.get() < 0) return false;
  // Held as long as this process lives, however it ends. By it the next launcher knows that the folder is in use.
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return false;
  return !any_user || (fchmod(file_.get(), 0666) == 0 && chmod(folder_.c_str(), 0711) == 0);
}

/// Makes the file as large as everything in it. It is sparse, so it uses only the room of what is written.
bool channel_file::make_room(const contents& content, std::uint64_t head_bytes) {
  first_block_ = head_bytes;
  block_bytes_ = whole_pages(observe::block_bytes());
  // One for each thread at a time.
  block_limit_ = channel::head::max_blocks;
  for (;;) {
    std::uint64_t end = head_bytes + block_limit_ * block_bytes_;
    chains_ = content.ns_per_chain != 0 ? end : 0;
    if (chains_ != 0) end += whole_pages(sizeof(preload::chain_area));
    events_ = content.events ? end : 0;
    if (events_ != 0) end += whole_pages(sizeof(preload::event_area));
    if (ftruncate(file_.get(), static_cast<off_t>(end)) == 0) return true;
    if (block_limit_ == min_blocks) return false;
    block_limit_ /= 2;
  }
}

bool channel_file::make_in(const std::string& parent, const contents& content) {
  remove_abandoned(parent);
  std::string folder = fmt::format("{}/{}{}-XXXXXX", parent, folder_prefix, getpid());
  if (mkdtemp(folder.data()) == nullptr) return false;  // mode 0700
  if (!open_in(folder)) return false;
  const file_size_limit_raised raised;
  const std::uint64_t head_bytes = whole_pages(sizeof(channel::head));
  if (!make_room(content, head_bytes)) return false;
  // The room for the head is allocated now: a full disk must be an error here, not a signal later.
  if (const int error = posix_fallocate(file_.get(), 0, static_cast<off_t>(head_bytes)); error != 0) {
    errno = error;
    return false;
  }
  void* const mapped = map(file_.get(), 0, head_bytes, PROT_READ | PROT_WRITE);
  if (mapped == nullptr) return false;
  head_ = new (mapped) channel::head;
  head_->version = channel::head::current_version;
  head_->check_order = content.check_order ? 1 : 0;
  head_->default_policy = content.everywhere.word();
  head_->is_one_policy = content.is_one_policy ? 1 : 0;
  head_->block_limit = block_limit_;
  head_->block_bytes = block_bytes_;
  head_->block_layout = observe::block_layout();
  head_->first_block = first_block_;
  head_->chains = chains_;
  head_->events = events_;
  head_->ns_per_chain = content.ns_per_chain;
  struct stat numbers{};
  if (stat("/proc/self/ns/pid", &numbers) == 0) head_->processes_of = numbers.st_ino;
  head_->launcher = static_cast<std::uint32_t>(getpid());
  head_->cycles_per_second = machine::cycles_per_second();
  head_->magic = channel::head::magic_number;
  mark_alive();
  return true;
}

channel_file::~channel_file() { remove(); }

void channel_file::remove() noexcept {
  if (head_ != nullptr) munmap(head_, whole_pages(sizeof(channel::head)));
  head_ = nullptr;
  file_.reset();
  if (!path_.empty()) unlink(path_.c_str());
  if (!folder_.empty()) rmdir(folder_.c_str());
  path_.clear();
  folder_.clear();
}

void channel_file::mark_alive() const noexcept {
  // relaxed: a sign of life; it guards nothing
  head_->launcher_alive.store(machine::clock_ns(), std::memory_order_relaxed);
}

void channel_file::mark_gone() const noexcept {
  // seq_cst: a process that asks after this reads it; the loop below finds the requests of the others
  head_->launcher_alive.store(0);
  for (channel::site_request& request : head_->site_requests) {
    std::uint32_t state = request.state.load();
    if ((state & channel::site_request::turn_bits) == channel::site_request::asked &&
        request.state.compare_exchange_strong(state,
                                              state - channel::site_request::asked + channel::site_request::free))
      machine::unpark_shared(request.state, machine::everyone);
  }
}

std::uint32_t channel_file::blocks() const noexcept {
  // relaxed: the number of blocks; their contents are read as they are
  return std::min(head_->blocks_given.load(std::memory_order_relaxed), block_limit_);
}

/// Read and not mapped, as counts are.
template <class Area>
std::unique_ptr<Area> channel_file::read_area(std::uint64_t begin) const {
  if (begin == 0) return nullptr;
  auto area = std::make_unique<Area>();
  if (pread(file_.get(), area.get(), sizeof(Area), static_cast<off_t>(begin)) != static_cast<ssize_t>(sizeof(Area)))
    throw std::runtime_error("the call chains of the program could not be read");
  return area;
}

std::unique_ptr<preload::chain_area> channel_file::read_chains() const {
  return read_area<preload::chain_area>(chains_);
}
std::unique_ptr<preload::event_area> channel_file::read_events() const {
  return read_area<preload::event_area>(events_);
}

namespace {

/// What the block's thread did at each site, including an unfinished wait.
void add_threads(const void* block, std::uint64_t end_of_waits, channel_file::counts& sum) {
  const observe::unfinished_wait wait = observe::unfinished_in(block, end_of_waits);
  for (std::uint32_t id = 1; id <= sum.totals.size(); ++id) {
    observe::thread_turns turns = observe::turns_in(block, id);
    if (wait.site_id == id) {
      observe::add(sum.totals[id - 1], wait);
      turns.wait_ns += wait.ns;
    }
    if (turns.turns != 0 || turns.wait_ns != 0) sum.by_thread[id - 1].push_back(turns);
  }
}

}  // namespace

/// When the unfinished waits of a block's threads count as ended; 0: unknown.
std::uint64_t channel_file::end_of_waits(std::uint32_t block, int process, std::uint64_t ended_at) const noexcept {
  // relaxed: written before the block was used
  const auto owner =
      static_cast<int>(channel::block_owner::process_in(head_->block_owners[block].load(std::memory_order_relaxed)));
  if (owner <= 0) return 0;
  if (owner == process) return ended_at;
  return kill(owner, 0) == 0 ? machine::cycles() : 0;
}

channel_file::counts channel_file::read_counts(std::uint32_t sites, int process, std::uint64_t ended_at) const {
  counts sum{std::vector<observe::site_totals>(sites), std::vector<std::vector<observe::thread_turns>>(sites), 0};
  channel::counting_threads threads;
  // Read and not mapped: to look at a page that nobody has written takes memory, and there may be none. A block has
  // room for all sites that a program can have. Only the part of the known ones is read.
  const std::size_t page = machine::page_size();
  const std::size_t bytes = std::min(block_bytes_, (observe::block_bytes_up_to(sites) + page - 1) / page * page);
  const std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(page, bytes), &std::free);
  if (block == nullptr) throw std::bad_alloc();
  for (std::uint32_t i = 0; i < blocks(); ++i) {
    if (pread(file_.get(), block.get(), bytes, static_cast<off_t>(first_block_ + i * block_bytes_)) !=
        static_cast<ssize_t>(bytes))
      throw std::runtime_error("the counts of the program could not be read");
    // relaxed: a number
    threads.add(head_->block_owners[i].load(std::memory_order_relaxed), observe::thread_in(block.get()));
    observe::add_block(block.get(), sum.totals.data(), sites);
    add_threads(block.get(), end_of_waits(i, process, ended_at), sum);
  }
  sum.threads = threads.count();
  for (observe::site_totals& totals : sum.totals) {
    // Samples may lag behind exact counts.
    if (totals.acquisitions < totals.contended) totals.acquisitions = totals.contended;
  }
  return sum;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
