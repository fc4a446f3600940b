// A library with an atomic operation, and with a table among its code that looks like one.
// ENTERED: a jump leads there.
static int counter;

int count_up(void) { return __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST); }

#ifdef __x86_64__
// lock addl $1,(%rcx), bytes that are no instruction, and once more.
__asm__(
    ".text\n\t.p2align 4\n"
    "table_in_code: .byte 0xf0, 0x83, 0x01, 0x01, 0x06, 0x06, 0xf0, 0x83, 0x01, 0x01, 0x06\n\t"
    ".p2align 4, 0x06");
extern const unsigned char table_in_code[] __attribute__((visibility("hidden")));
int sum_of_table(void) {
#ifdef ENTERED
  if (counter < 0) __asm__ volatile("jmp table_in_code+6");
#endif
  return table_in_code[0] + table_in_code[7];
}
#endif
