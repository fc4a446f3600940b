// A library with an atomic operation that compilers put into its code.
static int counter;

int count_up(void) { return __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST); }
