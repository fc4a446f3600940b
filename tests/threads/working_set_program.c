// A program whose main thread has more data than one node keeps, and uses a small part of them.
// Usage: working_set_program MIB PART [order], both in MiB; order: it reads all of them in order,
// then changes every second word in order. Prints "right" if all bytes are.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t n) {
  n = (n ^ (n >> 33)) * 0xff51afd7ed558ccdu;
  return n ^ (n >> 29);
}

static size_t read_and_change(volatile uint64_t* data, size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) wrong += data[i] != i;
  for (size_t i = 0; i < count; i += 2) {
    uint64_t read = data[i];
    data[i] = read + 5;
  }
  for (size_t i = 0; i < count; ++i) wrong += data[i] != i + (i % 2 == 0 ? 5 : 0);
  for (size_t i = 0; i < count; i += 2) data[i] = i;
  return wrong;
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  size_t count = strtoul(argv[1], NULL, 10) << 17;
  size_t part = strtoul(argv[2], NULL, 10) << 17;
  uint64_t* data = malloc(count * sizeof *data);
  if (data == NULL || part > count) return 3;
  for (size_t i = 0; i < count; ++i) data[i] = i;
  size_t added = argc == 4 ? 0 : 200000, wrong = argc == 4 ? read_and_change(data, count) : 0;
  uint64_t more = 0;
  for (size_t n = 0; n < added; ++n) ++data[mix(n) % part];
  for (size_t i = 0; i < count; ++i) {
    more += data[i] - i;
    wrong += i >= part && data[i] != i;
  }
  puts(more == added && wrong == 0 ? "right" : "wrong");
  return 0;
}
