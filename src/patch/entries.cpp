// What trampolines call. A call here keeps all registers, and those that the C function behind it
// may change are saved around it: the general ones by `check`, all that the processor has by
// `enter`.
#include "patch/entries.h"

#include <cpuid.h>

#include <algorithm>
#include <atomic>

extern "C" {

[[gnu::visibility("hidden")]] bool (*terrane_patch_is_served)(std::uintptr_t) = nullptr;
[[gnu::visibility("hidden")]] void (*terrane_patch_on_enter)(std::uintptr_t,
                                                             std::uint64_t) = nullptr;
// Which parts of the processor's state xsave stores, and in how many bytes. 0: fxsave stores all.
[[gnu::visibility("hidden")]] std::uint64_t terrane_patch_state_parts = 0;
[[gnu::visibility("hidden")]] std::uint64_t terrane_patch_state_bytes = 512;

void terrane_patch_check();
void terrane_patch_check_flags();
void terrane_patch_enter();
}

// check: rdi holds the address. Returns two bytes further if it is shared. The word above the
// return address is rdi's own.
asm(R"(
	.text
	.p2align 4
	.hidden terrane_patch_check
	.globl terrane_patch_check
	.type terrane_patch_check, @function
terrane_patch_check:
	pushq %rax
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %rdi
	callq *terrane_patch_is_served(%rip)
	popq %rdi
	testb %al, %al
	jz 1f
	addq $2, 64(%rsp)
1:	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rax
	retq
	.size terrane_patch_check, .-terrane_patch_check

	.p2align 4
	.hidden terrane_patch_check_flags
	.globl terrane_patch_check_flags
	.type terrane_patch_check_flags, @function
terrane_patch_check_flags:
	pushfq
	pushq %rax
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %rdi
	callq *terrane_patch_is_served(%rip)
	popq %rdi
	testb %al, %al
	jz 1f
	addq $2, 72(%rsp)
1:	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rax
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
	callq *%r11
	movq terrane_patch_state_parts(%rip), %rax
	xorl %edx, %edx
	xrstor64 (%rsp)
	jmp 3f
2:	fxsave64 (%rsp)
	callq *%r11
	fxrstor64 (%rsp)
3:	movq %rbp, %rsp
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

std::uintptr_t address_of(void (*entry)()) { return reinterpret_cast<std::uintptr_t>(entry); }

}  // namespace

void set_service(const Service& service) {
  find_state();
  terrane_patch_is_served = service.is_served;
  terrane_patch_on_enter = service.enter;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

std::uintptr_t check_entry() { return address_of(terrane_patch_check); }
std::uintptr_t check_flags_entry() { return address_of(terrane_patch_check_flags); }
std::uintptr_t enter_entry() { return address_of(terrane_patch_enter); }

}  // namespace terrane::patch
