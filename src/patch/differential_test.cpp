// Random locked instructions of all forms, executed by the processor, by a trampoline that a jump
// leads to, by one that a trap leads to, and by one that lets the service change the word:
// registers, flags and memory are equal afterwards.
// TERRANE_PATCH_INSTRUCTIONS says how many; TERRANE_PATCH_SEED begins elsewhere.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "patch/apply.h"
#include "patch/emit.h"
#include "patch/entries.h"
#include "patch/locked_instruction.h"
#include "patch/run_code.h"
#include "platform/trap_signal.h"

namespace terrane::patch {
namespace {

constexpr std::size_t kDataBytes = 1024, kStackBytes = 65536, kSlot = 64, kBatch = 500;
constexpr int kCopies = 4;               // as it is, by jumps, by traps, by the service
constexpr std::uint64_t kFlags = 0x8d5;  // CF, PF, AF, ZF, SF, OF
constexpr std::uint64_t kBackwards = 0x400;

// Where the test's memory is: below 4 GiB, so that short addresses reach it.
std::uint8_t* map_low(std::size_t bytes, int protection) {
  void* at = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(at);
}

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

int entered = 0;
bool all_shared = false;
std::uintptr_t seen_address = 0;
std::uint64_t seen_bytes = 0;

[[gnu::target("general-regs-only")]] bool is_shared(std::uintptr_t) { return all_shared; }

// As a service does, it changes all that a C function may.
void spoil() {
  asm volatile(
      "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\tpxor %%xmm2, %%xmm2\n\t"
      "pxor %%xmm7, %%xmm7\n\tpxor %%xmm8, %%xmm8\n\tpxor %%xmm15, %%xmm15\n\t"
      "xorl %%eax, %%eax\n\txorl %%ecx, %%ecx\n\txorl %%edx, %%edx\n\txorl %%esi, %%esi\n\t"
      "xorl %%edi, %%edi\n\txorl %%r8d, %%r8d\n\txorl %%r9d, %%r9d\n\txorl %%r10d, %%r10d\n\t"
      "xorl %%r11d, %%r11d"
      :
      :
      : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "xmm0", "xmm1", "xmm2",
        "xmm7", "xmm8", "xmm15");
}
void enter(std::uintptr_t address, std::uint64_t bytes) {
  ++entered;
  seen_address = address;
  seen_bytes = bytes;
  spoil();
}

// As the home of a word does, but not always.
int changed = 0;
bool refuses_changes = false;
bool change(std::uintptr_t address, const WordChange& wanted, std::uint64_t& before) {
  spoil();
  if (refuses_changes) return false;
  ++changed;
  before = 0;
  auto* word = reinterpret_cast<void*>(address);
  std::memcpy(&before, word, wanted.bytes);
  std::uint64_t after = before;
  switch (wanted.kind) {
    case Change::kOther:
      return false;
    case Change::kStore:
      after = wanted.operand;
      break;
    case Change::kAdd:
      after += wanted.operand;
      break;
    case Change::kAnd:
      after &= wanted.operand;
      break;
    case Change::kOr:
      after |= wanted.operand;
      break;
    case Change::kXor:
      after ^= wanted.operand;
      break;
    case Change::kCompareSwap:
      if (before == wanted.expected) after = wanted.operand;
      break;
  }
  std::memcpy(word, &after, wanted.bytes);
  return true;
}

// An instruction, and what it needs to find its operand in the test's data.
struct Case {
  std::vector<std::uint8_t> bytes;
  std::uint8_t word_bytes = 0;
  bool compares = false, compares_wide = false;
};

class Generator {
 public:
  Generator(std::uint64_t seed, std::uint64_t data, std::uint64_t stack)
      : random_(seed), data_(data), stack_(stack) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::uint64_t word() { return below(4) == 0 ? below(256) : random_(); }

  // Writes an instruction for the address `at`, and the registers that it finds its operand by.
  Case make(std::uint64_t at, Registers& registers) {
    for (auto& one : registers.general) one = word();
    for (auto& one : registers.vector) one = random_();
    registers.general[kRsp] = stack_ + kStackBytes / 2 + 8 * below(64);
    registers.flags = 2 | (random_() & (kFlags | kBackwards));
    Form form = choose_form();
    choose_operand(form, at, registers);
    Case made;
    made.bytes = encode(form, at);
    made.word_bytes = form.word_bytes;
    made.compares_wide = form.is_wide_compare;
    made.compares = compares(form);
    return made;
  }

 private:
  struct Form {
    std::vector<std::uint8_t> opcode;
    std::uint8_t field = 0;  // of the operand that is no memory: a register, or part of the opcode
    bool field_is_register = false, has_field_bit = false;
    bool locks = true, is_wide_compare = false, selects_bits = false;
    std::uint8_t word_bytes = 0, immediate_bytes = 0;
    bool has_size = false, has_wide = false, has_short = false;
    Register base = kNoRegister, index = kNoRegister;
    std::uint8_t scale = 0;
    std::int32_t displacement = 0;
    bool is_relative = false;
  };

  void choose_size(Form& form, bool with_bytes) {
    std::uint64_t size = below(with_bytes ? 4 : 3) + (with_bytes ? 0 : 1);
    form.word_bytes = static_cast<std::uint8_t>(1 << size);
    form.has_size = size == 1;
    form.has_wide = size == 3;
  }
  std::uint8_t wide_bit(const Form& form) const { return form.word_bytes > 1 ? 1 : 0; }

  Form choose_form() {
    Form form;
    form.field = static_cast<std::uint8_t>(below(16));
    if (form.field == kRsp) form.field = kRbx;
    form.field_is_register = true;
    switch (below(10)) {
      case 0:
      case 1:  // add, or, adc, sbb, and, sub, xor
        choose_size(form, true);
        form.opcode = {static_cast<std::uint8_t>(8 * below(7) | wide_bit(form))};
        break;
      case 2:  // the same with a number
        choose_size(form, true);
        form.field = static_cast<std::uint8_t>(below(7));
        form.field_is_register = false;
        form.opcode = {static_cast<std::uint8_t>(0x80 | wide_bit(form))};
        form.immediate_bytes = std::min<std::uint8_t>(form.word_bytes, 4);
        if (form.word_bytes > 1 && below(2) == 0) form.opcode = {0x83}, form.immediate_bytes = 1;
        break;
      case 3:  // inc, dec, not, neg
        choose_size(form, true);
        form.field_is_register = false;
        form.field = static_cast<std::uint8_t>(below(2));
        form.opcode = {static_cast<std::uint8_t>(0xfe | wide_bit(form))};
        if (below(2) == 0)
          form.field += 2, form.opcode = {static_cast<std::uint8_t>(0xf6 | wide_bit(form))};
        break;
      case 4:
        choose_size(form, true);
        form.locks = below(2) == 0;
        form.opcode = {static_cast<std::uint8_t>(0x86 | wide_bit(form))};
        break;
      case 5:
      case 6:
        choose_size(form, true);
        form.opcode = {0x0f, static_cast<std::uint8_t>(0xb0 | wide_bit(form))};
        break;
      case 7:
        choose_size(form, true);
        form.opcode = {0x0f, static_cast<std::uint8_t>(0xc0 | wide_bit(form))};
        break;
      case 8: {  // bts, btr, btc
        choose_size(form, false);
        constexpr std::uint8_t kOpcodes[] = {0xab, 0xb3, 0xbb};
        form.opcode = {0x0f, kOpcodes[below(3)]};
        form.selects_bits = true;
        if (below(2) == 0) {
          form.opcode = {0x0f, 0xba};
          form.field = static_cast<std::uint8_t>(5 + below(3));
          form.field_is_register = form.selects_bits = false;
          form.immediate_bytes = 1;
        }
        break;
      }
      default:
        form.is_wide_compare = true;
        form.has_wide = below(2) == 0;
        form.word_bytes = form.has_wide ? 16 : 8;
        form.field = 1;
        form.field_is_register = false;
        form.opcode = {0x0f, 0xc7};
    }
    return form;
  }

  static bool compares(const Form& form) {
    bool is_narrow = form.opcode.size() == 2 && (form.opcode[1] & 0xfe) == 0xb0;
    return is_narrow || form.is_wide_compare;
  }

  bool is_taken(const Form& form, Register one) const {
    bool is_implied = compares(form) && one == kRax;
    bool is_pair = form.is_wide_compare && one < 4;
    return one == kRsp || is_implied || is_pair || (form.selects_bits && one == form.field);
  }

  void choose_operand(Form& form, std::uint64_t at, Registers& registers) {
    std::uint64_t target = data_ + kDataBytes / 2 + 16 * below(8);
    // Not across the end of a line of the cache, where the kernel may slow the process down.
    if (below(4) == 0 && !form.selects_bits) target += below(17 - form.word_bytes);
    auto low = static_cast<std::int32_t>(below(2) == 0 ? below(256) - 128 : random_() % 4096);
    if (form.selects_bits) choose_bits(form, registers);
    std::uint64_t way = below(8);
    if (way == 0) {  // rip
      form.is_relative = true;
      form.displacement = static_cast<std::int32_t>(target - at);
    } else if (way == 1) {  // none
      form.displacement = static_cast<std::int32_t>(target);
    } else if (way == 2 && !form.selects_bits && form.word_bytes < 16) {  // the stack
      form.base = kRsp;
      form.displacement = static_cast<std::int32_t>(8 * below(24)) - 96;
    } else {
      choose_registers(form, way, target, low, registers);
    }
    form.has_short = !form.is_relative && form.base != kRsp && below(16) == 0;
  }

  void choose_registers(Form& form, std::uint64_t way, std::uint64_t target, std::int32_t low,
                        Registers& registers) {
    form.displacement = low;
    std::uint64_t rest = target - static_cast<std::uint64_t>(std::int64_t{low});
    do form.base = static_cast<Register>(below(16));
    while (is_taken(form, form.base));
    if (way < 5) {
      do form.index = static_cast<Register>(below(16));
      while (is_taken(form, form.index) || form.index == form.base);
      form.scale = static_cast<std::uint8_t>(below(4));
      std::uint64_t steps = below(64);
      registers.general[form.index] = steps;
      rest -= steps << form.scale;
    }
    registers.general[form.base] = rest;
  }

  // Some words beside the operand, on either side.
  void choose_bits(const Form& form, Registers& registers) {
    auto bits = static_cast<std::int64_t>(below(2048)) - 1024;
    std::uint64_t noise = form.word_bytes == 8 ? 0 : random_() << (8 * form.word_bytes);
    std::uint64_t mask = form.word_bytes == 8 ? ~0ull : (1ull << (8 * form.word_bytes)) - 1;
    registers.general[form.field] = (static_cast<std::uint64_t>(bits) & mask) | noise;
  }

  std::vector<std::uint8_t> encode(const Form& form, std::uint64_t) {
    std::vector<std::uint8_t> code;
    auto put = [&code](std::uint64_t byte) { code.push_back(static_cast<std::uint8_t>(byte)); };
    bool first = below(2) == 0;
    if (form.locks && first) put(0xf0);
    if (form.has_size) put(0x66);
    if (form.has_short) put(0x67);
    if (form.locks && !first) put(0xf0);
    auto high = [](Register one) { return one != kNoRegister && one >= 8; };
    int rex = form.has_wide ? 8 : 0;
    if (form.field_is_register && form.field >= 8) rex |= 4;
    if (high(form.index)) rex |= 2;
    if (high(form.base)) rex |= 1;
    // Without it the numbers 4 to 7 of bytes are the second bytes of other registers.
    if (rex != 0 || below(3) == 0) put(0x40 | rex);
    for (auto byte : form.opcode) put(byte);
    put_operand(form, put);
    // With zero it would be a fence, which is left as it is.
    for (int i = 0; i < form.immediate_bytes; ++i) put(random_() | 1);
    if (form.is_relative) {
      std::int32_t away = form.displacement - static_cast<std::int32_t>(code.size());
      std::memcpy(code.data() + code.size() - form.immediate_bytes - 4, &away, sizeof away);
    }
    return code;
  }

  template <typename Put>
  void put_operand(const Form& form, Put put) {
    std::uint64_t field = (form.field & 7) << 3;
    bool is_small = form.displacement == static_cast<std::int8_t>(form.displacement);
    bool has_base = form.base != kNoRegister;
    std::uint64_t mode = !has_base ? 0 : is_small && below(2) == 0 ? 0x40 : 0x80;
    bool needs_index = form.index != kNoRegister || (has_base && (form.base & 7) == 4);
    if (form.is_relative) {
      put(field | 5);
    } else if (!has_base || needs_index) {
      put(mode | field | 4);
      put(form.scale << 6 | (form.index != kNoRegister ? form.index & 7 : 4) << 3 |
          (has_base ? form.base & 7 : 5));
    } else {
      put(mode | field | (form.base & 7));
    }
    int bytes = mode == 0x40 ? 1 : 4;
    for (int i = 0; i < bytes; ++i) put(static_cast<std::uint32_t>(form.displacement) >> (8 * i));
  }

  std::mt19937_64 random_;
  std::uint64_t data_, stack_;
};

class DifferentialTest : public testing::Test {
 protected:
  void SetUp() override {
    data_ = map_low(kDataBytes, PROT_READ | PROT_WRITE);
    stack_ = map_low(kStackBytes, PROT_READ | PROT_WRITE);
    for (std::uint8_t*& code : code_)
      code = map_low(kBatch * kSlot, PROT_READ | PROT_WRITE | PROT_EXEC);
    ASSERT_TRUE(data_ != nullptr && stack_ != nullptr && code_[0] != nullptr);
    set_service({is_shared, enter, change});
    ASSERT_TRUE(platform::serve_traps(trampoline_of).ok());
  }

  void fill(std::mt19937_64& random) {
    for (std::size_t i = 0; i < kDataBytes; i += 8) {
      std::uint64_t word = random();
      std::memcpy(data_ + i, &word, sizeof word);
    }
    std::memset(stack_ + kStackBytes / 2 - 1024, 0x5a, 2048);
  }
  // So that the comparison finds what it wants.
  void equalise(const Case& one, std::array<Registers, kCopies>& each) {
    constexpr std::uint64_t kEach = 0x0101010101010101;
    std::uint64_t word = each[0].flags % 256 * kEach;
    for (Registers& registers : each) {
      registers.general[kRax] = word;
      if (one.compares_wide) registers.general[kRdx] = word;
    }
    std::memset(data_, static_cast<int>(word % 256), kDataBytes);
    std::memset(stack_ + kStackBytes / 2 - 1024, static_cast<int>(word % 256), 2048);
  }
  // Whether all that has changed lies where the service was asked to be.
  bool is_in_word(const std::string& before, const std::string& after) const {
    for (std::size_t i = 0; i < before.size(); ++i) {
      auto at =
          reinterpret_cast<std::uintptr_t>(i < kDataBytes ? data_ + i : kept_ + (i - kDataBytes));
      if (before[i] != after[i] && at - seen_address >= seen_bytes) return false;
    }
    return true;
  }
  // Runs the code from a state of memory; what memory is afterwards.
  std::string run(const std::uint8_t* code, Registers& registers, const std::string& before) {
    std::memcpy(data_, before.data(), kDataBytes);
    std::memcpy(kept_, before.data() + kDataBytes, before.size() - kDataBytes);
    run_code(code, registers);
    return memory();
  }
  std::string memory() const {
    std::string all(reinterpret_cast<char*>(data_), kDataBytes);
    auto end = reinterpret_cast<char*>(stack_ + kStackBytes / 2 + 1024);
    auto* kept = reinterpret_cast<char*>(kept_);
    return all.append(kept, static_cast<std::size_t>(end - kept));
  }

  // Instruction, then padding of nops for a hop, then a jump to the harness.
  void put(std::size_t slot, int copy, const std::vector<std::uint8_t>& bytes) {
    std::uint8_t* at = code_[copy] + slot * kSlot;
    std::memset(at, 0x90, kSlot);
    std::memcpy(at, bytes.data(), bytes.size());
    const std::uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    std::uint64_t exit = exit_of_code();
    std::memcpy(at + 24, jump, sizeof jump);
    std::memcpy(at + 30, &exit, sizeof exit);
  }

  std::uint8_t* data_ = nullptr;
  std::uint8_t* stack_ = nullptr;
  std::uint8_t* kept_ = nullptr;  // what a function keeps on the stack begins here
  std::uint8_t* code_[kCopies] = {};
};

std::string hex(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (std::uint8_t byte : bytes) text += fmt::format("{:02x} ", byte);
  return text;
}

std::string difference(const Registers& a, const Registers& b) {
  std::string text;
  for (std::size_t i = 0; i < a.general.size(); ++i)
    if (a.general[i] != b.general[i])
      text += fmt::format(" r{}: {:x} {:x}", i, a.general[i], b.general[i]);
  return text + fmt::format(" flags {:x} {:x}", a.flags, b.flags) +
         (a.vector == b.vector ? "" : " vector");
}

// The jump of a site: of its own bytes, or of nops behind the slot's end.
Site site_for(const LockedInstruction& one, std::uint64_t address) {
  Site site{one};
  site.way = one.length >= 5 ? Way::kJump : Way::kHop;
  site.hop = address + 48;
  return site;
}

TEST_F(DifferentialTest, TrampolinesAndTrapsDoAsTheProcessor) {
  std::uint64_t wanted = number("TERRANE_PATCH_INSTRUCTIONS", 4000);
  std::uint64_t seed = number("TERRANE_PATCH_SEED", 1);
  Generator generator(seed, reinterpret_cast<std::uint64_t>(data_),
                      reinterpret_cast<std::uint64_t>(stack_));
  std::mt19937_64 random(seed);
  std::uint64_t shared_ones = 0;
  for (std::uint64_t done = 0; done < wanted; done += kBatch) {
    std::vector<Case> cases;
    std::vector<std::array<Registers, kCopies>> registers;
    Plan plans[kCopies];
    for (std::uint8_t*& code : code_)
      code = map_low(kBatch * kSlot, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (std::size_t slot = 0; slot < kBatch; ++slot) {
      auto& each = registers.emplace_back();
      // An operand by distance is that of the first copy; the others lie elsewhere.
      auto at = reinterpret_cast<std::uint64_t>(code_[0] + slot * kSlot);
      cases.push_back(generator.make(at, each[0]));
      each.fill(each[0]);
      for (int copy = 0; copy < kCopies; ++copy) {
        std::vector<std::uint8_t> bytes = cases.back().bytes;
        auto here = reinterpret_cast<std::uint64_t>(code_[copy] + slot * kSlot);
        Decoded decoded = decode(bytes, here);
        ASSERT_EQ(decoded.locked.size(), 1u) << hex(bytes);
        ASSERT_EQ(decoded.end - here, bytes.size()) << hex(bytes);
        LockedInstruction one = decoded.locked[0];
        ASSERT_EQ(one.word_bytes, cases.back().word_bytes) << hex(bytes);
        ASSERT_LT(next_candidate(bytes, 0), bytes.size()) << hex(bytes);
        if (one.is_relative) {
          std::int32_t away = one.displacement + static_cast<std::int32_t>(at - here);
          std::memcpy(bytes.data() + one.displacement_at, &away, sizeof away);
          one = decode(bytes, here).locked[0];
        }
        put(slot, copy, bytes);
        Site site = site_for(one, here);
        if (copy == 2) site.way = Way::kTrap;
        plans[copy].sites.push_back(site);
      }
    }
    for (int copy : {1, 2, 3}) {
      auto by = copy == 3 ? Changes::kByService : Changes::kInPlace;
      auto applied = apply(plans[copy], 0, "the test", by);
      ASSERT_TRUE(applied.ok()) << applied.error().message;
    }
    for (std::size_t slot = 0; slot < kBatch; ++slot) {
      const Case& one = cases[slot];
      auto& each = registers[slot];
      fill(random);
      kept_ = reinterpret_cast<std::uint8_t*>(each[0].general[kRsp] - 128);
      if (one.compares && generator.below(2) == 0) equalise(one, each);
      std::string before = memory(), after[kCopies];
      all_shared = generator.below(2) == 0;
      refuses_changes = generator.below(4) == 0;
      shared_ones += all_shared ? kCopies - 1 : 0;
      for (int copy = 0; copy < kCopies; ++copy) {
        after[copy] = run(code_[copy] + slot * kSlot, each[copy], before);
        ASSERT_EQ(each[copy] == each[0], true)
            << hex(one.bytes) << " copy " << copy << difference(each[copy], each[0]);
        ASSERT_EQ(after[copy] == after[0], true) << hex(one.bytes) << " copy " << copy;
        bool is_served = all_shared && copy > 0;
        ASSERT_TRUE(!is_served || is_in_word(before, after[copy])) << hex(one.bytes);
      }
    }
    for (std::uint8_t* code : code_) ::munmap(code, kBatch * kSlot);
  }
  EXPECT_EQ(static_cast<std::uint64_t>(entered + changed), shared_ones);
  EXPECT_GT(changed, entered / 8);
}

}  // namespace
}  // namespace terrane::patch
