/* The nodes look for the number whose hash begins with so many zero bits: each takes a range of
 * numbers by an ordinary atomic, and all stop as soon as one has said that it found something
 * smaller. That is a race on purpose, so the two words lie in a region with sequential consistency.
 * Usage: terrane run -n 4 search [BITS] */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <terrane/pages.h>

#define RANGE 100000u

/* Each on a page of its own: `next` changes hands all the time, `found` is read by all. */
struct shared {
  _Alignas(4096) atomic_uint_least64_t next;
  _Alignas(4096) atomic_uint_least64_t found;
};

static uint64_t hash(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static int matches(uint64_t number, int bits) { return hash(number) >> (64 - bits) == 0; }

/* Unless somebody has found a smaller one. */
static void tell(struct shared* s, uint64_t number) {
  uint64_t known = atomic_load(&s->found);
  while (number < known && !atomic_compare_exchange_weak(&s->found, &known, number)) {
  }
}

int main(int argc, char** argv) {
  const int bits = argc > 1 ? atoi(argv[1]) : 22;
  if (bits < 1 || bits > 40) {
    fprintf(stderr, "search: 1 to 40 bits\n");
    return 2;
  }
  if (terrane_init() != TERRANE_OK) {
    fprintf(stderr, "search: %s\n", terrane_error());
    return 1;
  }
  const terrane_alloc_options options = {.protocol = TERRANE_PROTOCOL_SC, .name = "search"};
  struct shared* s = terrane_alloc_all(sizeof *s, &options);
  if (s == NULL) {
    fprintf(stderr, "search: %s\n", terrane_error());
    return 1;
  }
  if (terrane_node() == 0) atomic_store(&s->found, UINT64_MAX);
  terrane_barrier();

  uint64_t from = 1 + atomic_fetch_add(&s->next, 1) * RANGE;
  while (from < atomic_load(&s->found)) { /* ranges are taken in order: none before is left out */
    for (uint64_t n = from; n < from + RANGE; n++) {
      if (!matches(n, bits)) continue;
      tell(s, n);
      break;
    }
    from = 1 + atomic_fetch_add(&s->next, 1) * RANGE;
  }
  terrane_barrier();

  const uint64_t found = atomic_load(&s->found);
  if (terrane_node() == 0) {
    printf("the first number whose hash begins with %d zero bits is %llu\n", bits,
           (unsigned long long)found);
  }
  terrane_finalize();
  return matches(found, bits) ? 0 : 1;
}
