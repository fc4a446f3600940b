// A library that cannot be loaded when it has been mapped: what it calls is nowhere.
int is_defined_nowhere(void);
static int large[100000];

int* calls_it(void) {
  large[0] = is_defined_nowhere();
  return large;
}
