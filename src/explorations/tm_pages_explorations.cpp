// SPDX-License-Identifier: Apache-2.0
// Atomic blocks by dmp, over each of its software algorithms: three threads over two pages.
#include "explorations/tm_pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace explored {

namespace {

/// Allows the access, and says so.
machine::fault_answer allow(void* address, bool, void* was_refused) noexcept {
  *static_cast<bool*>(was_refused) = true;
  const std::uintptr_t bytes = tm::detail::heap_pages.page_bytes();
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / bytes * bytes);
  return machine::protect_pages(page, bytes, machine::page_rights::read_write) ? machine::fault_answer::retry
                                                                               : machine::fault_answer::not_mine;
}

machine::page_rights rights_of(std::uint32_t page) noexcept {
  bool was_refused = false;
  static_cast<void>(machine::set_fault_handler(allow, &was_refused));
  auto& cell = *static_cast<std::atomic<std::uint64_t>*>(tm::detail::heap_pages.second_address_of(page));
  static_cast<void>(cell.load());
  const bool refuses_reads = was_refused;
  cell.fetch_add(0);
  if (!was_refused) return machine::page_rights::read_write;
  return refuses_reads ? machine::page_rights::none : machine::page_rights::read;
}

}  // namespace

const char* fault_of_rights() noexcept {
  const char* fault = nullptr;
  for (std::uint32_t page = 0; page < tm::detail::heap_pages.page_count(); ++page) {
    const machine::page_rights noted = tm::detail::heap_pages.pages[page].rights.load();
    if (rights_of(page) != noted) fault = "the rights of a page are not as noted";
    static_cast<void>(machine::protect_pages(tm::detail::heap_pages.second_address_of(page),
                                             tm::detail::heap_pages.page_bytes(), noted));
  }
  static_cast<void>(machine::set_fault_handler(tm::detail::serve<tm::detail::request>, nullptr));
  return fault;
}

}  // namespace explored

namespace {

using namespace explored;
using machine::page_rights;
using tm::detail::heap_pages;

tm::var<std::uint64_t>& var_in_heap(unsigned page) noexcept {
  return *reinterpret_cast<tm::var<std::uint64_t>*>(heap_pages.views.begin + page * heap_pages.page_bytes());
}

/// Of two words, one is outside of the heap: blocks that use it run alone.
struct outside_test {
  struct place {
    tm::var<std::uint64_t>& value;
  };
  alignas(64) tm::var<std::uint64_t> elsewhere;
  place places[2];

  outside_test() noexcept : places{{var_in_heap(0)}, {elsewhere}} { var_in_heap(0).store(0); }
  static void body(outside_test& me, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
      transact(thread == 2 ? blocks::reading : blocks::writing, me.places, thread, [&](auto& on) {
        on.read(i);
        if (thread == 2) return static_cast<void>(on.read(1 - i));
        on.write(thread);
        on.write(1 - thread);
      });
    }
  }
  const char* check() const { return check_places(*this, 2); }
};

/// A place for one thing, on one page, and the sum of what was taken, on the other. Threads wait by retry().
struct handing_in_pages {
  static constexpr unsigned takes = 2;
  tm::var<std::uint64_t>& full = var_in_heap(0);
  tm::var<std::uint64_t>& taken = var_in_heap(1);

  handing_in_pages() noexcept {
    full.store(0);
    taken.store(0);
  }
  static void body(handing_in_pages& me, unsigned index) {
    for (unsigned i = 0; i < takes; ++i) {
      choose_side_of_block();
      tm::atomically(blocks::writing, [&](auto& tx) {
        if ((tx.read(me.full) == 0) != (index == 0)) tx.retry();
        tx.write(me.full, index == 0 ? 1 : 0);
        if (index != 0) tx.write(me.taken, tx.read(me.taken) + 1);
      });
    }
  }
  const char* check() const { return taken.load() != takes ? "a hand-over was lost" : nullptr; }
};

/// One thread uses a page in software. When it has ended, an attempt of the other one is refused: that one then gets the
/// right that its access wants.
struct serving_test {
  tm::var<std::uint64_t>& word = var_in_heap(0);
  std::atomic<unsigned> stage{0};
  const char* fault = nullptr;

  serving_test() noexcept { word.store(0); }
  static void body(serving_test& me, unsigned index) { index == 0 ? me.use_in_software() : me.use_in_hardware(); }
  void use_in_software() {
    tm::atomically(blocks::long_running, [&](auto& tx) { tx.write(word, 1); });
    reach(1);
    wait_for(2);
    tm::atomically(blocks::long_running, [&](auto& tx) { static_cast<void>(tx.read(word)); });
    reach(3);
    wait_for(4);
    tm::atomically(blocks::long_running, [&](auto& tx) { tx.write(word, 2); });
    reach(5);
  }
  void use_in_hardware() {
    wait_for(1);
    be_refused(blocks::reading, false, page_rights::read);
    be_refused(blocks::writing, true, page_rights::read_write);
    reach(2);
    wait_for(3);
    be_refused(blocks::writing, true, page_rights::read_write);
    reach(4);
    wait_for(5);
    blocks::carrying.now_writes();  // such a block gets the right to write at once
    be_refused(blocks::carrying, false, page_rights::read_write);
  }
  /// As an attempt of that block: the machine's probes may keep a real one from getting so far.
  void be_refused(tm::block& where, bool write, page_rights after) {
    tm::atomically(where, [](auto&) {});
    static_cast<void>(tm::detail::serve<tm::detail::request>(heap_pages.second_address_of(0), write, nullptr));
    if (tm::detail::runner::mine().page_is_refused) fault = "an attempt has not got its right";
    if (heap_pages.pages[0].rights.load() != after) fault = "an attempt has got another right than it wanted";
    const auto in_view = reinterpret_cast<std::uintptr_t>(&word) + heap_pages.views.distance;
    // Again the machine's turn: it refuses the access if the rights have not changed there.
    auto& cell = *reinterpret_cast<std::atomic<std::uint64_t>*>(in_view);
    write ? cell.store(7) : static_cast<void>(cell.load());
  }
  void reach(unsigned next) noexcept { stage.store(next); }
  void wait_for(unsigned next) const noexcept {
    while (stage.load() < next) machine::relax();
  }
  const char* check() const { return fault; }
};

#define TXSYNC_PAGES_BY(name, ...)                                                                                \
  explored_by<opacity_in_pages<crossing_in_turns<1>, 1>, 2, __VA_ARGS__>("tm-pages-meeting-" name,                \
                                                                         "two write what the other reads"),       \
      explored_by<opacity_in_pages<skewing, 1>, 3, __VA_ARGS__>("tm-pages-skewing-" name,                         \
                                                                "three read what two write"),                     \
      explored_by<opacity_in_pages<following<apart>, 2>, 3, __VA_ARGS__>("tm-pages-following-" name,              \
                                                                         "one reads what two write"),             \
      explored_by<opacity_in_pages<ring, 1>, 3, __VA_ARGS__>("tm-pages-ring-" name,                               \
                                                             "each writes what the next one reads"),              \
      explored_by<opacity_in_pages<overtaking, 1>, 2, __VA_ARGS__>("tm-pages-overtaking-" name,                   \
                                                                   "one reads what one writes"),                  \
      explored_by<opacity_in_pages<carrying_over, 2>, 3, __VA_ARGS__>("tm-pages-carrying-over-" name,             \
                                                                      "one writes what another one has written"), \
      explored_by<opacity_in_pages<exchanging, 1>, 3, __VA_ARGS__>("tm-pages-exchanging-" name,                   \
                                                                   "two read one page and write the other"),      \
      explored_by<opacity_in_pages<chasing, 1>, 3, __VA_ARGS__>("tm-pages-chasing-" name,                         \
                                                                "one reads what two write, one after the other"), \
      explored_by<opacity_in_pages<outpacing, 1>, 3, __VA_ARGS__>("tm-pages-outpacing-" name,                     \
                                                                  "one reads what two write together"),           \
      explored_by<opacity_in_pages<updating, 2>, 3, __VA_ARGS__>("tm-pages-updating-" name, "all on one page"),   \
      explored_by<outside_test, 3, __VA_ARGS__>("tm-pages-outside-" name, "a word outside of the heap"),          \
      explored_by<handing_in_pages, 2, __VA_ARGS__>("tm-pages-handing-" name, "two wait for each other"),         \
      explored_by<opacity_in_pages<widening, 4>, 3, __VA_ARGS__>("tm-pages-widening-" name,                       \
                                                                 "two read what one writes"),                     \
      explored_by<opacity_in_pages<undoing, 1>, 3, __VA_ARGS__>("tm-pages-undoing-" name, "one throws")

/// By a machine that says nothing of refused accesses.
#define TXSYNC_SCOUTED_BY(name, how)                                                                  \
  {"tm-pages-scouting-meeting-" name, "two write what the other reads", verdict::right,               \
   run_served_by<opacity_in_pages<crossing_in_turns<1>, 1>, 2, how, tell_nothing>},                   \
      {"tm-pages-scouting-outpacing-" name, "one reads what two write together", verdict::right,      \
       run_served_by<opacity_in_pages<outpacing, 1>, 3, how, tell_nothing>},                          \
      {"tm-pages-scouting-exchanging-" name, "two read one page and write the other", verdict::right, \
       run_served_by<opacity_in_pages<exchanging, 1>, 3, how, tell_nothing>},                         \
      {"tm-pages-scouting-undoing-" name, "one throws", verdict::right,                               \
       run_served_by<opacity_in_pages<undoing, 1>, 3, how, tell_nothing>},                            \
  {                                                                                                   \
    "tm-pages-scouting-handing-" name, "two wait for each other", verdict::right,                     \
        run_served_by<handing_in_pages, 2, how, tell_nothing>                                         \
  }

constexpr exploration table[] = {
    TXSYNC_SCOUTED_BY("norec", mixed_dmp_norec),
    TXSYNC_SCOUTED_BY("tinystm", mixed_dmp_tinystm),
    TXSYNC_SCOUTED_BY("dctl", mixed_dmp_dctl),
    TXSYNC_PAGES_BY("norec", mixed_dmp_norec),
    TXSYNC_PAGES_BY("tinystm", mixed_dmp_tinystm),
    TXSYNC_PAGES_BY("dctl", mixed_dmp_dctl),
    explored_by<serving_test, 2, tm::detail::dmp_norec>("tm-pages-serving-norec", "pages that software has left"),
    explored_by<serving_test, 2, tm::detail::dmp_tinystm>("tm-pages-serving-tinystm", "pages that software has left"),
    explored_by<serving_test, 2, tm::detail::dmp_dctl>("tm-pages-serving-dctl", "pages that software has left")};
#undef TXSYNC_PAGES_BY
#undef TXSYNC_SCOUTED_BY

}  // namespace

std::span<const exploration> tm_pages_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
