// SPDX-License-Identifier: Apache-2.0
#include "frame_rules.hpp"

#include <cstring>

#include "loaded_object.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

using byte_pointer = const std::uint8_t*;

/// Reads a table from its beginning to its end. Beyond the end it reads 0.
class reader {
 public:
  reader(byte_pointer begin, byte_pointer end) noexcept : at_(begin), end_(end) {}

  bool is_at_end() const noexcept { return at_ >= end_; }
  byte_pointer position() const noexcept { return at_; }
  void skip(std::uint64_t bytes) noexcept { at_ = bytes < static_cast<std::uint64_t>(end_ - at_) ? at_ + bytes : end_; }

  template <class Number>
  Number fixed() noexcept {
    Number number{};
    if (static_cast<std::size_t>(end_ - at_) >= sizeof number) std::memcpy(&number, at_, sizeof number);
    skip(sizeof number);
    return number;
  }
  std::uint8_t byte() noexcept { return fixed<std::uint8_t>(); }
  std::uint64_t unsigned_leb() noexcept { return leb().value; }
  std::int64_t signed_leb() noexcept {
    const packed_number got = leb();
    const bool is_negative = got.bits < 64 && got.bits != 0 && (got.value >> (got.bits - 1) & 1) != 0;
    return static_cast<std::int64_t>(is_negative ? got.value | ~std::uint64_t{0} << got.bits : got.value);
  }

 private:
  struct packed_number {
    std::uint64_t value = 0;
    unsigned bits = 0;
  };
  packed_number leb() noexcept {
    packed_number number;
    for (std::uint8_t part = 0x80; (part & 0x80) != 0 && !is_at_end();) {
      part = byte();
      if (number.bits < 64) number.value |= std::uint64_t{part & 0x7Fu} << number.bits;
      number.bits += 7;
    }
    return number;
  }

  byte_pointer at_;
  byte_pointer end_;
};

// ---- encoded pointers (Linux Standard Base, Core, "DWARF Exception Header Encoding")

namespace encoding {
enum : std::uint8_t { omitted = 0xFF, format = 0x0F, relation = 0x70, to_itself = 0x10 };
}

std::uint64_t number_of(reader& from, std::uint8_t encoded_as) noexcept {
  switch (encoded_as & encoding::format) {
    case 0x00:
    case 0x04:
    case 0x0C:
      return from.fixed<std::uint64_t>();
    case 0x01:
      return from.unsigned_leb();
    case 0x02:
      return from.fixed<std::uint16_t>();
    case 0x03:
      return from.fixed<std::uint32_t>();
    case 0x09:
      return static_cast<std::uint64_t>(from.signed_leb());
    case 0x0A:
      return static_cast<std::uint64_t>(std::int64_t{from.fixed<std::int16_t>()});
    case 0x0B:
      return static_cast<std::uint64_t>(std::int64_t{from.fixed<std::int32_t>()});
    default:
      return 0;
  }
}

std::uintptr_t pointer_of(reader& from, std::uint8_t encoded_as) noexcept {
  const auto itself = reinterpret_cast<std::uintptr_t>(from.position());
  const std::uint64_t number = number_of(from, encoded_as);
  return (encoded_as & encoding::relation) == encoding::to_itself ? itself + number : number;
}

// ---- the entry of a function

/// What a common information entry says for the entries that refer to it.
struct common_entry {
  std::uint64_t code_step = 1;
  std::int64_t data_step = 1;
  std::uint8_t addresses = 0;  // how they are encoded
  bool has_augmentation = false;
  bool is_signal_frame = false;
  byte_pointer program = nullptr;
  byte_pointer end = nullptr;
};

/// An entry from its length to its end; empty if it is not understood.
reader entry_at(byte_pointer begin) noexcept {
  std::uint32_t length;
  std::memcpy(&length, begin, sizeof length);
  constexpr std::uint32_t long_form = 0xFFFFFFFF;
  if (length == long_form) length = 0;
  return {begin + sizeof length, begin + sizeof length + length};
}

bool read_augmentation(reader& from, const char* letters, common_entry& out) noexcept {
  if (*letters == '\0') return true;
  if (*letters != 'z') return false;
  out.has_augmentation = true;
  const std::uint64_t bytes = from.unsigned_leb();
  const byte_pointer begin = from.position();
  reader data(begin, begin + bytes);
  for (++letters; *letters != '\0'; ++letters) {
    if (*letters == 'R') {
      out.addresses = data.byte();
    } else if (*letters == 'P') {
      const std::uint8_t encoded_as = data.byte();
      (void)number_of(data, encoded_as);
    } else if (*letters == 'L') {
      (void)data.byte();
    } else if (*letters == 'S') {
      out.is_signal_frame = true;
    } else if (*letters != 'B') {  // B: signed by the second key of AArch64
      return false;
    }
  }
  from.skip(bytes);
  return true;
}

bool read_common(byte_pointer begin, common_entry& out) noexcept {
  reader from = entry_at(begin);
  if (from.fixed<std::uint32_t>() != 0) return false;  // not a common entry
  const std::uint8_t version = from.byte();
  if (version != 1 && version != 3) return false;
  const auto* const letters = reinterpret_cast<const char*>(from.position());
  while (!from.is_at_end() && from.byte() != 0) continue;
  out.code_step = from.unsigned_leb();
  out.data_step = from.signed_leb();
  const std::uint64_t holds_return_address = version == 1 ? from.byte() : from.unsigned_leb();
  if (kept_registers::index_of(holds_return_address) != kept_registers::return_address) return false;
  if (!read_augmentation(from, letters, out)) return false;
  out.program = from.position();
  from.skip(~std::uint64_t{0});
  out.end = from.position();
  return true;
}

struct function_entry {
  common_entry common;
  std::uintptr_t begin = 0;
  byte_pointer program = nullptr;
  byte_pointer end = nullptr;
};

bool read_function(byte_pointer begin, std::uintptr_t address, function_entry& out) noexcept {
  reader from = entry_at(begin);
  const byte_pointer position = from.position();
  const auto to_common = from.fixed<std::uint32_t>();
  if (to_common == 0 || !read_common(position - to_common, out.common)) return false;
  out.begin = pointer_of(from, out.common.addresses);
  const std::uint64_t bytes = number_of(from, out.common.addresses & encoding::format);
  if (address < out.begin || address - out.begin >= bytes) return false;
  if (out.common.has_augmentation) from.skip(from.unsigned_leb());
  out.program = from.position();
  from.skip(~std::uint64_t{0});
  out.end = from.position();
  return true;
}

/// A row of the sorted table in .eh_frame_hdr: both relative to the table's file part.
struct table_row {
  std::int32_t function;
  std::int32_t entry;
};

/// The entry of the function that contains the address.
bool find_function(std::uintptr_t address, function_entry& out) noexcept {
  const auto* const header = static_cast<byte_pointer>(loaded_object(address).dlfo_eh_frame);
  if (header == nullptr) return false;
  reader from(header, header + 64);           // of the header only
  constexpr std::uint8_t usual_table = 0x3B;  // signed, 4 bytes, relative to the header
  const std::uint8_t version = from.byte(), of_frames = from.byte(), of_count = from.byte(), of_table = from.byte();
  if (version != 1 || of_table != usual_table || of_count == encoding::omitted) return false;
  (void)number_of(from, of_frames);
  const std::uint64_t rows = number_of(from, of_count);
  const auto offset = static_cast<std::int64_t>(address - reinterpret_cast<std::uintptr_t>(header));
  const byte_pointer table = from.position();
  std::uint64_t low = 0, high = rows;  // the row is before `high`
  table_row row{};
  while (high - low > 0) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::memcpy(&row, table + middle * sizeof row, sizeof row);
    (row.function <= offset ? low : high) = row.function <= offset ? middle + 1 : middle;
  }
  if (low == 0) return false;
  std::memcpy(&row, table + (low - 1) * sizeof row, sizeof row);
  return read_function(header + row.entry, address, out);
}

// ---- expressions (DWARF 4, 2.5)

std::uintptr_t stored_at(std::uintptr_t address) noexcept {
  std::uintptr_t value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

class expression_stack {
 public:
  void push(std::uint64_t value) noexcept {
    if (count_ == max_values) {
      fails_ = true;
      return;
    }
    values_[count_++] = value;
  }
  std::uint64_t pop() noexcept {
    if (count_ != 0) return values_[--count_];
    fails_ = true;
    return 0;
  }
  bool fails() const noexcept { return fails_; }

 private:
  static constexpr unsigned max_values = 8;
  std::uint64_t values_[max_values] = {};
  unsigned count_ = 0;
  bool fails_ = false;
};

/// Operations with two operands. False: it is none of these.
bool combine(std::uint8_t operation, expression_stack& on) noexcept {
  const std::uint64_t second = on.pop(), first = on.pop();
  const auto left = static_cast<std::int64_t>(first), right = static_cast<std::int64_t>(second);
  switch (operation) {
    case 0x1A:
      return on.push(first & second), true;
    case 0x1C:
      return on.push(first - second), true;
    case 0x21:
      return on.push(first | second), true;
    case 0x22:
      return on.push(first + second), true;
    case 0x24:
      return on.push(second < 64 ? first << second : 0), true;
    case 0x25:
      return on.push(second < 64 ? first >> second : 0), true;
    case 0x29:
      return on.push(left == right), true;
    case 0x2A:
      return on.push(left >= right), true;
    case 0x2B:
      return on.push(left > right), true;
    case 0x2C:
      return on.push(left <= right), true;
    case 0x2D:
      return on.push(left < right), true;
    case 0x2E:
      return on.push(left != right), true;
    default:
      return false;
  }
}

bool evaluate_constant(std::uint8_t operation, reader& from, expression_stack& on) noexcept {
  constexpr std::uint8_t literal_0 = 0x30, literal_31 = 0x4F;
  if (operation >= literal_0 && operation <= literal_31) return on.push(operation - literal_0), true;
  switch (operation) {
    case 0x08:
      return on.push(from.byte()), true;
    case 0x09:
      return on.push(static_cast<std::uint64_t>(std::int64_t{from.fixed<std::int8_t>()})), true;
    case 0x0A:
      return on.push(from.fixed<std::uint16_t>()), true;
    case 0x0B:
      return on.push(static_cast<std::uint64_t>(std::int64_t{from.fixed<std::int16_t>()})), true;
    case 0x0C:
      return on.push(from.fixed<std::uint32_t>()), true;
    case 0x0D:
      return on.push(static_cast<std::uint64_t>(std::int64_t{from.fixed<std::int32_t>()})), true;
    case 0x10:
      return on.push(from.unsigned_leb()), true;
    case 0x11:
      return on.push(static_cast<std::uint64_t>(from.signed_leb())), true;
    default:
      return false;
  }
}

bool evaluate_operation(std::uint8_t operation, reader& from, const stack_frame& frame, expression_stack& on) noexcept {
  constexpr std::uint8_t dereference = 0x06, add_constant = 0x23, register_0 = 0x70, register_31 = 0x8F;
  if (evaluate_constant(operation, from, on)) return true;
  if (operation == dereference) return on.push(stored_at(on.pop())), !on.fails();
  if (operation == add_constant) return on.push(on.pop() + from.unsigned_leb()), true;
  if (operation < register_0 || operation > register_31) return combine(operation, on);
  const std::size_t index = kept_registers::index_of(operation - register_0);
  const std::int64_t offset = from.signed_leb();
  if (index == kept_registers::none) return false;
  const std::uintptr_t value = index == kept_registers::return_address ? frame.address : frame.registers.values[index];
  on.push(value + static_cast<std::uint64_t>(offset));
  return true;
}

/// `begin`: where its length and then its operations stand.
bool evaluate(byte_pointer begin, const stack_frame& frame, std::uintptr_t pushed, std::uintptr_t& out) noexcept {
  reader head(begin, begin + 10);  // longer is no number
  const std::uint64_t bytes = head.unsigned_leb();
  reader from(head.position(), head.position() + bytes);
  expression_stack on;
  on.push(pushed);
  while (!from.is_at_end()) {
    if (!evaluate_operation(from.byte(), from, frame, on) || on.fails()) return false;
  }
  out = on.pop();
  return true;
}

// ---- rules

enum class rule : std::uint8_t { same, undefined, at_offset, is_offset, in_register, at_expression, is_expression };
struct register_rule {
  rule how = rule::same;
  std::uint8_t number = 0;  // of a register
  std::int32_t offset = 0;
  byte_pointer expression = nullptr;
};
struct row_of_rules {
  std::uint64_t canonical_register = kept_registers::stack_pointer;
  std::int64_t canonical_offset = 0;
  byte_pointer canonical_expression = nullptr;  // instead of both
  register_rule registers[kept_registers::count];
};

/// Runs the instructions up to the row of an address.
class row_search {
 public:
  row_search(const function_entry& function, std::uintptr_t address) noexcept
      : common_(function.common), left_(address - function.begin) {}

  bool run(reader from, bool to_the_end) noexcept {
    while (!from.is_at_end() && (to_the_end || !is_over_)) {
      if (!run_one(from)) return false;
    }
    return true;
  }
  /// The row that DW_CFA_restore restores.
  void remember_initial() noexcept { initial_ = row; }

  row_of_rules row;

 private:
  void advance(std::uint64_t steps) noexcept {
    const std::uint64_t bytes = steps * common_.code_step;
    is_over_ = bytes > left_;
    left_ -= is_over_ ? 0 : bytes;
  }
  void set(std::uint64_t number, register_rule to) noexcept {
    const std::size_t index = kept_registers::index_of(number);
    if (index != kept_registers::none) row.registers[index] = to;
  }
  void restore(std::uint64_t number) noexcept {
    const std::size_t index = kept_registers::index_of(number);
    if (index != kept_registers::none) row.registers[index] = initial_.registers[index];
  }
  std::int32_t scaled(std::int64_t offset) const noexcept {
    return static_cast<std::int32_t>(offset * common_.data_step);
  }
  /// Skips an expression, and keeps only its position.
  static byte_pointer skipped(reader& from) noexcept {
    const byte_pointer begin = from.position();
    from.skip(from.unsigned_leb());
    return begin;
  }
  bool remember() noexcept {
    if (remembered_ == max_remembered) return false;
    kept_[remembered_++] = row;
    return true;
  }
  bool go_back() noexcept {
    if (remembered_ == 0) return false;
    row = kept_[--remembered_];
    return true;
  }

  bool run_one(reader& from) noexcept;
  bool run_canonical(std::uint8_t instruction, reader& from) noexcept;
  bool run_register(std::uint8_t instruction, reader& from) noexcept;

  const common_entry& common_;
  std::uint64_t left_;  // bytes of code up to the address
  bool is_over_ = false;
  row_of_rules initial_;
  static constexpr unsigned max_remembered = 2;  // compilers nest them by one
  row_of_rules kept_[max_remembered];
  unsigned remembered_ = 0;
};

bool row_search::run_one(reader& from) noexcept {
  const std::uint8_t instruction = from.byte();
  const std::uint8_t low = instruction & 0x3F;
  switch (instruction & 0xC0) {
    case 0x40:
      return advance(low), true;
    case 0x80:
      return set(low, {rule::at_offset, 0, scaled(static_cast<std::int64_t>(from.unsigned_leb())), nullptr}), true;
    case 0xC0:
      return restore(low), true;
    default:
      break;
  }
  switch (instruction) {
    case 0x00:
      return true;
    case 0x01:
      return false;  // DW_CFA_set_loc, which no compiler writes into .eh_frame
    case 0x02:
      return advance(from.byte()), true;
    case 0x03:
      return advance(from.fixed<std::uint16_t>()), true;
    case 0x04:
      return advance(from.fixed<std::uint32_t>()), true;
    case 0x0A:
      return remember();
    case 0x0B:
      return go_back();
    case 0x2D:  // from here on the return address is signed, or no longer (AArch64): the bits are removed anyway
      return true;
    case 0x2E:
      return (void)from.unsigned_leb(), true;  // DW_CFA_GNU_args_size
    default:
      return run_canonical(instruction, from) || run_register(instruction, from);
  }
}

bool row_search::run_canonical(std::uint8_t instruction, reader& from) noexcept {
  switch (instruction) {
    case 0x0C:
    case 0x12:
      row.canonical_register = from.unsigned_leb();
      row.canonical_offset =
          instruction == 0x0C ? static_cast<std::int64_t>(from.unsigned_leb()) : from.signed_leb() * common_.data_step;
      row.canonical_expression = nullptr;
      return true;
    case 0x0D:
      row.canonical_register = from.unsigned_leb();
      return true;
    case 0x0E:
      row.canonical_offset = static_cast<std::int64_t>(from.unsigned_leb());
      return true;
    case 0x13:
      row.canonical_offset = from.signed_leb() * common_.data_step;
      return true;
    case 0x0F:
      row.canonical_expression = skipped(from);
      return true;
    default:
      return false;
  }
}

bool row_search::run_register(std::uint8_t instruction, reader& from) noexcept {
  const std::uint64_t number = from.unsigned_leb();
  switch (instruction) {
    case 0x05:
      return set(number, {rule::at_offset, 0, scaled(static_cast<std::int64_t>(from.unsigned_leb())), nullptr}), true;
    case 0x11:
      return set(number, {rule::at_offset, 0, scaled(from.signed_leb()), nullptr}), true;
    case 0x14:
      return set(number, {rule::is_offset, 0, scaled(static_cast<std::int64_t>(from.unsigned_leb())), nullptr}), true;
    case 0x15:
      return set(number, {rule::is_offset, 0, scaled(from.signed_leb()), nullptr}), true;
    case 0x06:
      return restore(number), true;
    case 0x07:
      return set(number, {rule::undefined, 0, 0, nullptr}), true;
    case 0x08:
      return set(number, {}), true;
    case 0x09:
      return set(number, {rule::in_register, static_cast<std::uint8_t>(from.unsigned_leb()), 0, nullptr}), true;
    case 0x10:
      return set(number, {rule::at_expression, 0, 0, skipped(from)}), true;
    case 0x16:
      return set(number, {rule::is_expression, 0, 0, skipped(from)}), true;
    default:
      return false;
  }
}

/// The canonical frame address of the called frame, by the rules at its position.
bool find_canonical(const row_of_rules& row, const stack_frame& frame, std::uintptr_t& out) noexcept {
  if (row.canonical_expression != nullptr) return evaluate(row.canonical_expression, frame, 0, out);
  const std::size_t index = kept_registers::index_of(row.canonical_register);
  if (index == kept_registers::none) return false;
  out = frame.registers.values[index] + static_cast<std::uint64_t>(row.canonical_offset);
  return true;
}

bool find_value(const register_rule& entry, std::size_t index, const stack_frame& frame, std::uintptr_t canonical,
                std::uintptr_t& out) noexcept {
  const std::uintptr_t beside = canonical + static_cast<std::uint64_t>(std::int64_t{entry.offset});
  switch (entry.how) {
    case rule::same:
      out = frame.registers.values[index];
      return true;
    case rule::undefined:
      return false;
    case rule::at_offset:
      out = stored_at(beside);
      return true;
    case rule::is_offset:
      out = beside;
      return true;
    case rule::in_register: {
      const std::size_t other = kept_registers::index_of(entry.number);
      if (other == kept_registers::none) return false;
      out = frame.registers.values[other];
      return true;
    }
    case rule::at_expression:
      if (!evaluate(entry.expression, frame, canonical, out)) return false;
      out = stored_at(out);
      return true;
    case rule::is_expression:
      return evaluate(entry.expression, frame, canonical, out);
  }
  return false;
}

std::uintptr_t without_signature(std::uintptr_t address) noexcept {
#ifdef __aarch64__
  return address & ((std::uintptr_t{1} << 48) - 1);  // user addresses have 48 bits, others sign
#else
  return address;
#endif
}

}  // namespace

bool find_caller(stack_frame& frame, std::uintptr_t& canonical) noexcept {
  // The next function may begin right after a call that does not return.
  const std::uintptr_t inside = frame.address - (frame.is_interrupted ? 0 : 1);
  function_entry function;
  if (!find_function(inside, function)) return false;
  row_search search(function, inside);
  if (!search.run({function.common.program, function.common.end}, true)) return false;
  search.remember_initial();
  if (!search.run({function.program, function.end}, false)) return false;
  if (canonical == 0 && !find_canonical(search.row, frame, canonical)) return false;
  stack_frame caller;
  for (std::size_t i = 0; i < kept_registers::count; ++i) {
    const bool has_value = find_value(search.row.registers[i], i, frame, canonical, caller.registers.values[i]);
    if (!has_value && i == kept_registers::return_address) return false;  // the stack ends here
  }
  constexpr std::size_t stack_pointer = kept_registers::index_of(kept_registers::stack_pointer);
  if (search.row.registers[stack_pointer].how == rule::same) caller.registers.values[stack_pointer] = canonical;
  caller.address = without_signature(caller.registers.values[kept_registers::return_address]);
  caller.is_interrupted = function.common.is_signal_frame;
  frame = caller;
  return frame.address != 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
