// Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2.
#include "patch/emit.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "base/check.h"
#include "patch/entries.h"

namespace terrane::patch {
namespace {

// What a function may keep below the stack pointer (System V ABI for x86-64, section 3.2.2).
constexpr std::int32_t kRedZone = 128, kWord = 8;

bool is_extended(Register one) { return one != kNoRegister && one >= 8; }
std::uint8_t low(Register one) { return one & 7; }

// Writes instructions one behind the other.
class Writer {
 public:
  explicit Writer(std::uint64_t address) : address_(address) {}

  void put(std::initializer_list<int> bytes) {
    for (int byte : bytes) code_.push_back(static_cast<std::uint8_t>(byte));
  }
  void put_number(std::int32_t number) {
    std::uint8_t bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    code_.insert(code_.end(), bytes, bytes + sizeof number);
  }
  // How far `target` is from behind four bytes that come next.
  void put_way_to(std::uint64_t target) { put_way(target, sizeof(std::int32_t)); }

  // rsp += bytes, without a change of flags.
  void move_stack(std::int32_t bytes) {
    put({0x48, 0x8d, 0xa4, 0x24});
    put_number(bytes);
  }
  void push(Register one) {
    if (is_extended(one)) put({0x41});
    put({0x50 + low(one)});
  }
  void pop(Register one) {
    if (is_extended(one)) put({0x41});
    put({0x58 + low(one)});
  }
  void call(std::uint64_t pointer) {
    put({0xff, 0x15});
    put_way_to(pointer);
  }
  void jump(std::uint64_t target) {
    put({0xe9});
    put_way_to(target);
  }
  // rdi = the address of the operand, where the stack pointer was `pushed` bytes higher.
  void load_address(const LockedInstruction& one, std::int32_t pushed) {
    if (one.has_short_addresses) put({0x67});
    put({0x48 | (is_extended(one.index) ? 2 : 0) | (is_extended(one.base) ? 1 : 0), 0x8d});
    std::int32_t away = one.displacement + (one.base == kRsp ? pushed : 0);
    if (one.is_relative) {
      put({0x3d});
      put_way_to(one.address + one.length +
                 static_cast<std::uint64_t>(std::int64_t{one.displacement}));
      return;
    }
    constexpr int kNone = 4, kNoBase = 5;
    bool has_base = one.base != kNoRegister;
    put({has_base ? 0xbc : 0x3c, one.scale << 6 |
                                     (one.index != kNoRegister ? low(one.index) : kNone) << 3 |
                                     (has_base ? low(one.base) : kNoBase)});
    put_number(away);
  }
  // The instruction as it is; one that names its operand by a distance names the same one.
  void copy(const LockedInstruction& one) {
    std::size_t begin = code_.size();
    code_.insert(code_.end(), one.bytes.begin(), one.bytes.begin() + one.length);
    if (!one.is_relative) return;
    std::uint64_t target =
        one.address + one.length + static_cast<std::uint64_t>(std::int64_t{one.displacement});
    std::int32_t away = distance(address_ + begin + one.length, target);
    std::memcpy(code_.data() + begin + one.displacement_at, &away, sizeof away);
  }

  // Stores how far `target` is into the four bytes at `at`.
  void set_way(std::size_t at, std::uint64_t target) {
    std::int32_t away = distance(address_ + at + sizeof away, target);
    std::memcpy(code_.data() + at, &away, sizeof away);
  }
  void put_bytes(const void* bytes, std::size_t count) {
    auto* first = static_cast<const std::uint8_t*>(bytes);
    code_.insert(code_.end(), first, first + count);
  }

  std::uint64_t here() const { return address_ + code_.size(); }
  std::size_t size() const { return code_.size(); }
  std::uint8_t& byte(std::size_t at) { return code_[at]; }
  bool reaches() const { return reaches_; }
  std::vector<std::uint8_t> take() { return std::move(code_); }

 private:
  void put_way(std::uint64_t target, std::size_t rest) {
    put_number(distance(address_ + code_.size() + rest, target));
  }
  std::int32_t distance(std::uint64_t from, std::uint64_t to) {
    auto away = static_cast<std::int64_t>(to - from);
    reaches_ = reaches_ && away == static_cast<std::int32_t>(away);
    return static_cast<std::int32_t>(away);
  }

  std::uint64_t address_;
  std::vector<std::uint8_t> code_;
  bool reaches_ = true;
};

// One that the operand's address does not depend on, and that does not hold the bits' number.
Register free_register(const LockedInstruction& one) {
  for (Register free : {kRax, kRcx, kRdx, kRsi})
    if (free != one.base && free != one.index) return free;
  return kRbx;
}

// free = the register of the bits' number as a number with a sign, in words of the operand.
void put_word_number(Writer& out, const LockedInstruction& one, Register free) {
  constexpr std::uint8_t kTwo = 2, kFour = 4;
  int rex = 0x48 | (is_extended(one.bit_register) ? 1 : 0);
  int registers = 0xc0 | low(free) << 3 | low(one.bit_register);
  int shift = 6;
  if (one.word_bytes == kTwo) {
    out.put({rex, 0x0f, 0xbf, registers});  // movswq
    shift = 4;
  } else if (one.word_bytes == kFour) {
    out.put({rex, 0x63, registers});  // movslq
    shift = 5;
  } else {
    out.put({rex, 0x8b, registers});
  }
  out.put({0x48, 0xc1, 0xf8 | low(free), shift});  // sar
}

// rdi = the address of the word that bits are changed in.
void put_bit_address(Writer& out, const LockedInstruction& one) {
  constexpr std::int32_t kPushed = kRedZone + 3 * kWord;
  Register free = free_register(one);
  out.put({0x9c});  // pushfq
  out.push(free);
  put_word_number(out, one, free);
  out.load_address(one, kPushed);
  int scale = one.word_bytes == 2 ? 1 : one.word_bytes == 4 ? 2 : 3;
  out.put({0x48, 0x8d, 0x3c, scale << 6 | low(free) << 3 | kRdi});  // lea (%rdi,free,bytes), %rdi
  out.pop(free);
  out.put({0x9d});  // popfq
}

void put_enter(Writer& out, const LockedInstruction& one, const EntryPointers& pointers) {
  out.put({0x6a, static_cast<int>(one.word_bytes)});  // push
  out.call(pointers.enter);
  out.move_stack(kWord);
}

void put_end(Writer& out) {
  out.pop(kRdi);
  out.move_stack(kRedZone);
}

// The instruction without its lock prefix, on the word of the thread.
StandIn make_stand_in(const LockedInstruction& one) {
  constexpr int kOwn = 0x64, kSize = 0x66, kRex = 0x40, kWide = 0xc, kField = 0x38, kNoBase = 0x25,
                kReturn = 0xc3;
  Writer out(0);
  std::size_t at = 0;
  out.put({kOwn});
  auto is_prefix = [](int byte) {
    return byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == kSize || byte == 0x67 ||
           byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e;
  };
  for (; is_prefix(one.bytes[at]); ++at)
    if (one.bytes[at] == kSize) out.put({kSize});
  if ((one.bytes[at] & 0xf0) == kRex) out.put({kRex | (one.bytes[at++] & kWide)});
  for (; at < one.modrm_at; ++at) out.put({one.bytes[at]});
  out.put({(one.bytes[at] & kField) | low(kRsp), kNoBase});
  out.put_number(stand_in_word());
  for (at = one.immediate_at; at < one.length; ++at) out.put({one.bytes[at]});
  out.put({kReturn});
  StandIn made{one.change, one.word_bytes, {}};
  std::vector<std::uint8_t> code = out.take();
  TERRANE_CHECK(code.size() <= sizeof made.code, "an instruction became longer than it can be");
  std::copy(code.begin(), code.end(), made.code);
  return made;
}

// Goes on behind the instruction if its word has been changed elsewhere. Where the address of the
// stand-in is to be.
std::size_t put_change(Writer& out, const EntryPointers& pointers, std::uint64_t next) {
  out.put({0xff, 0x35});  // push what lies at
  std::size_t stand_in = out.size();
  out.put_number(0);
  out.call(pointers.change);
  out.put({0xeb, 0});  // change returns behind this jump if it has changed the word
  std::size_t done = out.size();
  out.move_stack(kWord);
  put_end(out);
  out.jump(next);
  out.byte(done - 1) = static_cast<std::uint8_t>(out.size() - done);
  out.move_stack(kWord);
  return stand_in;
}

}  // namespace

std::optional<std::vector<std::uint8_t>> make_trampoline(const LockedInstruction& one,
                                                         std::uint64_t at,
                                                         const EntryPointers& pointers) {
  Writer out(at);
  std::uint64_t next = one.address + one.length;
  bool may_change = pointers.change != 0 && one.change != Change::kOther;
  std::size_t stand_in = 0;
  out.move_stack(-kRedZone);
  out.push(kRdi);
  if (one.is_fence) {
    put_enter(out, one, pointers);
  } else {
    if (one.bit_register != kNoRegister) {
      put_bit_address(out, one);
    } else {
      out.load_address(one, kRedZone + kWord);
    }
    out.call(one.keeps_flags ? pointers.check_flags : pointers.check);
    out.put({0xeb, 0});  // check returns behind this jump if the word is shared
    std::size_t shared = out.size();
    if (may_change) stand_in = put_change(out, pointers, next);
    put_enter(out, one, pointers);
    out.byte(shared - 1) = static_cast<std::uint8_t>(out.size() - shared);
  }
  put_end(out);
  out.copy(one);
  out.jump(next);
  if (may_change) {
    out.set_way(stand_in, out.here());
    std::uint64_t where = out.here() + sizeof where;
    out.put_bytes(&where, sizeof where);
    StandIn made = make_stand_in(one);
    out.put_bytes(&made, sizeof made);
  }
  if (!out.reaches()) return std::nullopt;
  return out.take();
}

std::optional<std::vector<std::uint8_t>> make_access_trampoline(const LockedInstruction& one,
                                                                std::uint64_t at,
                                                                std::uint32_t site,
                                                                std::uint64_t note) {
  Writer out(at);
  out.move_stack(-kRedZone);
  out.push(kRdi);
  out.load_address(one, kRedZone + kWord);
  out.put({0x68});  // push
  out.put_number(static_cast<std::int32_t>(site));
  out.call(note);
  out.move_stack(kWord);
  put_end(out);
  out.copy(one);
  out.jump(one.address + one.length);
  if (!out.reaches()) return std::nullopt;
  return out.take();
}

std::optional<std::array<std::uint8_t, 5>> make_jump(std::uint64_t from, std::uint64_t to) {
  Writer out(from);
  out.jump(to);
  if (!out.reaches()) return std::nullopt;
  std::array<std::uint8_t, 5> bytes{};
  std::vector<std::uint8_t> code = out.take();
  std::memcpy(bytes.data(), code.data(), bytes.size());
  return bytes;
}

}  // namespace terrane::patch
