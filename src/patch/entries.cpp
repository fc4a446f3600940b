// What trampolines call. A call here keeps all registers, and those that the C function behind it
// may change are saved around it: the general ones by `check`, all that the processor has by
// `enter` and `change`.
#include "patch/entries.h"

#include <cpuid.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "patch/accesses.h"

namespace terrane::patch {

// The program's registers, as the entry `change` has pushed them; above them what the trampoline
// has pushed.
struct Frame {
  std::uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
  std::uint64_t address;  // of the word
  std::uint64_t rsi, rbp, rbx, rdx, rcx, rax, flags;
  std::uint64_t return_address;
  const StandIn* stand_in;
  std::uint64_t rdi;
};
static_assert(offsetof(Frame, address) == 64 && offsetof(Frame, flags) == 120 &&
              offsetof(Frame, rdi) == 144);

namespace {
// The word that stand-ins work on. Signal handlers leave it as it was.
[[gnu::tls_model("initial-exec")]] alignas(8) thread_local volatile std::uint64_t stood_in = 0;
}  // namespace

bool change_word(Frame& frame);

}  // namespace terrane::patch

extern "C" {

[[gnu::visibility("hidden")]] bool (*terrane_patch_is_served)(std::uintptr_t) = nullptr;
[[gnu::visibility("hidden")]] bool (*terrane_patch_changes)(std::uintptr_t,
                                                            const terrane::patch::WordChange&,
                                                            std::uint64_t&) = nullptr;
[[gnu::visibility("hidden")]] void (*terrane_patch_on_enter)(std::uintptr_t,
                                                             std::uint64_t) = nullptr;
[[gnu::visibility("hidden")]] void (*terrane_patch_on_access)(std::uintptr_t,
                                                              std::uint64_t) = nullptr;
// Which parts of the processor's state xsave stores, and in how many bytes. 0: fxsave stores all.
[[gnu::visibility("hidden")]] std::uint64_t terrane_patch_state_parts = 0;
[[gnu::visibility("hidden")]] std::uint64_t terrane_patch_state_bytes = 512;

[[gnu::visibility("hidden")]] std::uint64_t terrane_patch_on_change(terrane::patch::Frame* frame);
void terrane_patch_change();
// Runs a stand-in with the program's registers and flags, and takes them afterwards.
void terrane_patch_run(terrane::patch::Frame* frame, const std::uint8_t* code);
void terrane_patch_check();
void terrane_patch_check_flags();
void terrane_patch_enter();
void terrane_patch_note();
}

// Keeps the processor's state on the stack while `call` calls a C function. rbp holds the stack
// pointer of before.
asm(R"(
	.macro terrane_patch_keep call:vararg
	subq terrane_patch_state_bytes(%rip), %rsp
	andq $-64, %rsp
	movq terrane_patch_state_parts(%rip), %rax
	xorl %edx, %edx
	testl %eax, %eax
	jz 2f
	movq %rdx, 512(%rsp)
	movq %rdx, 520(%rsp)
	movq %rdx, 528(%rsp)
	movq %rdx, 536(%rsp)
	movq %rdx, 544(%rsp)
	movq %rdx, 552(%rsp)
	movq %rdx, 560(%rsp)
	movq %rdx, 568(%rsp)
	xsave64 (%rsp)
	\call
	movq terrane_patch_state_parts(%rip), %rax
	xorl %edx, %edx
	xrstor64 (%rsp)
	jmp 3f
2:	fxsave64 (%rsp)
	\call
	fxrstor64 (%rsp)
3:	movq %rbp, %rsp
	.endm
)");

// The registers that a function may change, but rdi.
asm(R"(
	.macro terrane_patch_save
	pushq %rax
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	.endm
	.macro terrane_patch_restore
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rax
	.endm
)");

// check: rdi holds the address. Returns two bytes further if it is shared. The word above the
// return address is rdi's own.
asm(R"(
	.text
	.p2align 4
	.hidden terrane_patch_check
	.globl terrane_patch_check
	.type terrane_patch_check, @function
terrane_patch_check:
	terrane_patch_save
	pushq %rdi
	callq *terrane_patch_is_served(%rip)
	popq %rdi
	testb %al, %al
	jz 1f
	addq $2, 64(%rsp)
1:	terrane_patch_restore
	retq
	.size terrane_patch_check, .-terrane_patch_check

	.p2align 4
	.hidden terrane_patch_check_flags
	.globl terrane_patch_check_flags
	.type terrane_patch_check_flags, @function
terrane_patch_check_flags:
	pushfq
	terrane_patch_save
	pushq %rdi
	callq *terrane_patch_is_served(%rip)
	popq %rdi
	testb %al, %al
	jz 1f
	addq $2, 72(%rsp)
1:	terrane_patch_restore
	popfq
	retq
	.size terrane_patch_check_flags, .-terrane_patch_check_flags

	.p2align 4
	.hidden terrane_patch_enter
	.globl terrane_patch_enter
	.type terrane_patch_enter, @function
terrane_patch_enter:
	pushfq
	pushq %rax
	movq terrane_patch_on_enter(%rip), %rax
	cld
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %rbp
	movq %rsp, %rbp
	movq %rax, %r11
	movq 96(%rbp), %rsi
	terrane_patch_keep callq *%r11
	popq %rbp
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rax
	popfq
	retq
	.size terrane_patch_enter, .-terrane_patch_enter
)");

// note: rdi holds the address; above the return address is the site's number, then rdi's own.
asm(R"(
	.text
	.p2align 4
	.hidden terrane_patch_note
	.globl terrane_patch_note
	.type terrane_patch_note, @function
terrane_patch_note:
	pushfq
	terrane_patch_save
	cld
	movq 80(%rsp), %rsi
	callq *terrane_patch_on_access(%rip)
	terrane_patch_restore
	popfq
	retq
	.size terrane_patch_note, .-terrane_patch_note
)");

// change: rdi holds the address; above the return address are the stand-in and rdi's own. Returns
// two bytes further, with the registers as the instruction leaves them, if the word was changed.
asm(R"(
	.text
	.p2align 4
	.hidden terrane_patch_change
	.globl terrane_patch_change
	.type terrane_patch_change, @function
terrane_patch_change:
	pushfq
	pushq %rax
	pushq %rcx
	pushq %rdx
	pushq %rbx
	pushq %rbp
	pushq %rsi
	pushq %rdi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	cld
	movq %rsp, %rbp
	movq %rbp, %rdi
	terrane_patch_keep callq terrane_patch_on_change
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rdi
	popq %rsi
	popq %rbp
	popq %rbx
	popq %rdx
	popq %rcx
	popq %rax
	popfq
	retq
	.size terrane_patch_change, .-terrane_patch_change

	.p2align 4
	.hidden terrane_patch_run
	.globl terrane_patch_run
	.type terrane_patch_run, @function
terrane_patch_run:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	pushq %rsi
	pushq %rdi
	pushq 120(%rdi)
	movq 0(%rdi), %r15
	movq 8(%rdi), %r14
	movq 16(%rdi), %r13
	movq 24(%rdi), %r12
	movq 32(%rdi), %r11
	movq 40(%rdi), %r10
	movq 48(%rdi), %r9
	movq 56(%rdi), %r8
	movq 72(%rdi), %rsi
	movq 80(%rdi), %rbp
	movq 88(%rdi), %rbx
	movq 96(%rdi), %rdx
	movq 104(%rdi), %rcx
	movq 112(%rdi), %rax
	movq 144(%rdi), %rdi
	popfq
	callq *8(%rsp)
	xchgq %rdi, (%rsp)
	movq %r15, 0(%rdi)
	movq %r14, 8(%rdi)
	movq %r13, 16(%rdi)
	movq %r12, 24(%rdi)
	movq %r11, 32(%rdi)
	movq %r10, 40(%rdi)
	movq %r9, 48(%rdi)
	movq %r8, 56(%rdi)
	movq %rsi, 72(%rdi)
	movq %rbp, 80(%rdi)
	movq %rbx, 88(%rdi)
	movq %rdx, 96(%rdi)
	movq %rcx, 104(%rdi)
	movq %rax, 112(%rdi)
	pushfq
	popq 120(%rdi)
	popq 144(%rdi)
	popq %rsi
	cld
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	retq
	.size terrane_patch_run, .-terrane_patch_run
)");

std::uint64_t terrane_patch_on_change(terrane::patch::Frame* frame) {
  return terrane::patch::change_word(*frame) ? 1 : 0;
}

namespace terrane::patch {
namespace {

constexpr unsigned kStateLeaf = 0xd;

std::uint64_t enabled_parts() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// What C functions may change: x87, SSE, AVX and AVX-512. The kernel keeps the rest.
void find_state() {
  constexpr std::uint64_t kParts = 0xe7, kHeader = 512 + 64;
  constexpr unsigned kFirstExtended = 2, kLastExtended = 7;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return;
  std::uint64_t parts = enabled_parts() & kParts, bytes = kHeader;
  for (unsigned part = kFirstExtended; part <= kLastExtended; ++part) {
    if ((parts >> part & 1) == 0) continue;
    if (__get_cpuid_count(kStateLeaf, part, &a, &b, &c, &d) == 0) return;
    bytes = std::max<std::uint64_t>(bytes, std::uint64_t{a} + b);
  }
  terrane_patch_state_bytes = bytes;
  terrane_patch_state_parts = parts;
}

// A number as a word of so many bytes holds it.
std::uint64_t cut(std::uint64_t number, std::uint8_t bytes) {
  constexpr int kBits = 8;
  return bytes == sizeof number ? number : number & ((std::uint64_t{1} << kBits * bytes) - 1);
}

// What the word has to be for the instruction to leave its operand there.
std::uint64_t word_that_shows_operand(const StandIn& one, const Frame& frame) {
  if (one.kind == Change::kCompareSwap) return frame.rax;
  return one.kind == Change::kAnd ? ~std::uint64_t{0} : 0;
}

std::uintptr_t address_of(void (*entry)()) { return reinterpret_cast<std::uintptr_t>(entry); }

}  // namespace

// The stand-in runs twice: for the operand that it has, then, once the word is changed, for what
// registers and flags become.
bool change_word(Frame& frame) {
  const StandIn& one = *frame.stand_in;
  if (terrane_patch_changes == nullptr || frame.address % one.word_bytes != 0) return false;
  std::uint64_t interrupted = stood_in;
  Frame probe = frame;
  stood_in = word_that_shows_operand(one, frame);
  terrane_patch_run(&probe, one.code);
  WordChange wanted{one.kind, one.word_bytes, cut(stood_in, one.word_bytes),
                    cut(frame.rax, one.word_bytes)};
  std::uint64_t before = 0;
  bool done = terrane_patch_changes(frame.address, wanted, before);
  if (done) {
    stood_in = before;
    terrane_patch_run(&frame, one.code);
    constexpr std::uint64_t kJump = 2;
    frame.return_address += kJump;
  }
  stood_in = interrupted;
  return done;
}

std::int32_t stand_in_word() {
  std::uintptr_t base = 0;
  asm("movq %%fs:0, %0" : "=r"(base));
  auto away = reinterpret_cast<std::intptr_t>(&stood_in) - static_cast<std::intptr_t>(base);
  return static_cast<std::int32_t>(away);
}

void set_service(const Service& service) {
  find_state();
  terrane_patch_is_served = service.is_served;
  terrane_patch_on_enter = service.enter;
  terrane_patch_changes = service.change;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void set_access_note(NoteAccess note) {
  terrane_patch_on_access = note;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

std::uintptr_t note_entry() { return address_of(terrane_patch_note); }
std::uintptr_t check_entry() { return address_of(terrane_patch_check); }
std::uintptr_t check_flags_entry() { return address_of(terrane_patch_check_flags); }
std::uintptr_t enter_entry() { return address_of(terrane_patch_enter); }
std::uintptr_t change_entry() { return address_of(terrane_patch_change); }

}  // namespace terrane::patch
