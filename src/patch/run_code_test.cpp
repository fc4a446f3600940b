#include "patch/run_code.h"

#include <cstddef>

namespace terrane::patch {

extern "C" {
Registers* terrane_test_registers;
std::uint64_t terrane_test_stack;
const void* terrane_test_code;
void terrane_test_run();
void terrane_test_exit();
}

static_assert(offsetof(Registers, flags) == 128 && offsetof(Registers, vector) == 144);

asm(R"(
	.text
	.globl terrane_test_run
terrane_test_run:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, terrane_test_stack(%rip)
	movq terrane_test_registers(%rip), %rax
	.irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movaps 144+16*\r(%rax), %xmm\r
	.endr
	pushq 128(%rax)
	popfq
	movq 8(%rax), %rcx
	movq 16(%rax), %rdx
	movq 24(%rax), %rbx
	movq 32(%rax), %rsp
	movq 40(%rax), %rbp
	movq 48(%rax), %rsi
	movq 56(%rax), %rdi
	movq 64(%rax), %r8
	movq 72(%rax), %r9
	movq 80(%rax), %r10
	movq 88(%rax), %r11
	movq 96(%rax), %r12
	movq 104(%rax), %r13
	movq 112(%rax), %r14
	movq 120(%rax), %r15
	movq 0(%rax), %rax
	jmpq *terrane_test_code(%rip)
	.globl terrane_test_exit
terrane_test_exit:
	xchgq %rax, terrane_test_registers(%rip)
	movq %rcx, 8(%rax)
	movq %rdx, 16(%rax)
	movq %rbx, 24(%rax)
	movq %rsp, 32(%rax)
	movq %rbp, 40(%rax)
	movq %rsi, 48(%rax)
	movq %rdi, 56(%rax)
	movq %r8, 64(%rax)
	movq %r9, 72(%rax)
	movq %r10, 80(%rax)
	movq %r11, 88(%rax)
	movq %r12, 96(%rax)
	movq %r13, 104(%rax)
	movq %r14, 112(%rax)
	movq %r15, 120(%rax)
	movq terrane_test_registers(%rip), %rcx
	movq %rcx, 0(%rax)
	movq terrane_test_stack(%rip), %rsp
	pushfq
	popq 128(%rax)
	.irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movaps %xmm\r, 144+16*\r(%rax)
	.endr
	cld
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	retq
)");

void run_code(const void* code, Registers& registers) {
  terrane_test_registers = &registers;
  terrane_test_code = code;
  terrane_test_run();
}

std::uint64_t exit_of_code() { return reinterpret_cast<std::uint64_t>(terrane_test_exit); }

}  // namespace terrane::patch
