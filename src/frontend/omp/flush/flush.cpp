// What `#pragma omp flush` calls in a program of terrane-gcc, whose assembler puts a call in the
// place of each fence (flush/as.sh). Linked into the program, which also runs by itself: there a
// flush is a fence.
#include <cpuid.h>
#include <dlfcn.h>

#include <cstdint>

extern "C" {

// For the code below. state: of the program, 0 before its first flush; bytes: of the registers.
[[gnu::visibility("hidden")]] std::uint32_t terrane_flush_state = 0, terrane_flush_bytes = 0;
void terrane_flush_look();
void terrane_flush_call();

}  // extern "C"

namespace {

enum State : std::uint32_t { kUnknown, kFence, kWithXsave, kWithFxsave };

constexpr std::uint32_t kLegacyBytes = 512;  // of fxsave

using Flush = void();

Flush* find() { return reinterpret_cast<Flush*>(::dlsym(RTLD_DEFAULT, "terrane_program_flush")); }

}  // namespace

// How the registers are saved. They are not yet, so that this uses none but the general ones.
[[gnu::target("general-regs-only"), gnu::visibility("hidden")]] void terrane_flush_look() {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  __cpuid(1, a, b, c, d);
  if ((c & bit_OSXSAVE) == 0) {
    terrane_flush_bytes = kLegacyBytes;
    terrane_flush_state = kWithFxsave;
    return;
  }
  __cpuid_count(0xd, 0, a, b, c, d);
  terrane_flush_bytes = b;
  terrane_flush_state = kWithXsave;
}

[[gnu::visibility("hidden")]] void terrane_flush_call() {
  static Flush* flush = find();
  if (flush != nullptr) {
    flush();
  } else {
    terrane_flush_state = kFence;
  }
}

// The compiler knows of no call: all registers keep their values, but for the flags. The fence
// works on a word of the thread's own, which no patch of the program takes for a flush (src/patch).
asm(R"(
  .text
  .globl terrane_omp_flush
  .hidden terrane_omp_flush
  .type terrane_omp_flush, @function
terrane_omp_flush:
  lock orl $0, %fs:0
  cmpl $1, terrane_flush_state(%rip)
  jne 1f
  ret
1:
  pushq %rbp
  movq %rsp, %rbp
  pushq %rax
  pushq %rcx
  pushq %rdx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  pushq %rbx
  cld
  cmpl $0, terrane_flush_state(%rip)
  jne 2f
  andq $-64, %rsp
  call terrane_flush_look
  leaq -80(%rbp), %rsp
2:
  movl terrane_flush_bytes(%rip), %eax
  subq %rax, %rsp
  andq $-64, %rsp
  movl terrane_flush_state(%rip), %ebx
  cmpl $2, %ebx
  jne 3f
  xorl %eax, %eax
  movq %rax, 512(%rsp)
  movq %rax, 520(%rsp)
  movq %rax, 528(%rsp)
  movq %rax, 536(%rsp)
  movq %rax, 544(%rsp)
  movq %rax, 552(%rsp)
  movq %rax, 560(%rsp)
  movq %rax, 568(%rsp)
  movl $-1, %eax
  movl $-1, %edx
  xsave64 (%rsp)
  call terrane_flush_call
  movl $-1, %eax
  movl $-1, %edx
  xrstor64 (%rsp)
  jmp 4f
3:
  fxsave64 (%rsp)
  call terrane_flush_call
  fxrstor64 (%rsp)
4:
  leaq -80(%rbp), %rsp
  popq %rbx
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rdx
  popq %rcx
  popq %rax
  popq %rbp
  ret
  .size terrane_omp_flush, .-terrane_omp_flush
)");
