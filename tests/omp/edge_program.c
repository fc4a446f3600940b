/* Edges of OpenMP: memory of devices, pools of allocators, loops of many dimensions, limits by
 * clauses. Each mode prints "good" where all results are right, for any number of threads. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of gcc 13. */
extern int omp_target_memcpy_async(void*, const void*, size_t, size_t, size_t, int, int, int,
                                   omp_depend_t*) __attribute__((weak));

static int wrong;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

/* Boxes of two and three dimensions, of which each byte is looked at. */
static void boxes(void) {
  static int from[4][5][6], to[3][4][7];
  int host = omp_get_initial_device();
  size_t lengths[] = {2, 3, 4}, at[] = {1, 2, 2}, there[] = {1, 0, 3};
  size_t extents[] = {4, 5, 6}, new_extents[] = {3, 4, 7}, negative = ~(size_t)0;
  for (int i = 0; i < 120; i++) from[i / 30][i / 6 % 5][i % 6] = 1000 + i;
  int most = omp_target_memcpy_rect(0, 0, 0, 0, 0, 0, 0, 0, 0, host, host);
  int error = omp_target_memcpy_rect(to, from, sizeof(int), 3, lengths, there, at, new_extents,
                                     extents, host, host);
  expect(most >= 3 && error == 0, "boxes can be copied");
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 7; k++) {
        int is_in = i >= 1 && j < 3 && k >= 3;
        int value = is_in ? from[i][j + 2][k - 1] : 0;
        expect(to[i][j][k] == value, "an element of a box");
      }
  expect(omp_target_memcpy_rect(to, from, sizeof(int), 0, lengths, there, at, new_extents, extents,
                                host, host) != 0,
         "a box without dimensions");
  lengths[0] = negative;
  expect(omp_target_memcpy_rect(to, from, sizeof(int), 1, lengths, there, at, new_extents, extents,
                                host, host) != 0,
         "a box that is too large");
  expect(omp_target_associate_ptr(from, to, 4, 0, host) != 0, "the host has no mapped memory");
  expect(omp_target_disassociate_ptr(from, host) != 0, "the host has no mapped memory");
  omp_depend_t object;
  int ready = 0, copy = 0;
  omp_event_handle_t event;
#pragma omp depobj(object) depend(inout : ready)
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : ready) detach(event) shared(ready)
    ready = 17;
    omp_fulfill_event(event);
    copy = 17;
    if (omp_target_memcpy_async != 0)
      error = omp_target_memcpy_async(&copy, &ready, sizeof copy, 0, 0, host, host, 1, &object);
#pragma omp taskwait
  }
  expect(error == 0 && copy == 17, "a copy that depends on a task");
#pragma omp depobj(object) destroy
}

/* A block may take the place of its pool that it has already, and no more. */
static void pools(void) {
  omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, traits);
  char* block = omp_alloc(3000, pool);
  expect(block != 0, "a block of a pool");
  memset(block, 5, 3000);
  block = omp_realloc(block, 4000, pool, pool);
  expect(block != 0 && block[0] == 5 && block[2999] == 5, "a larger block in its own place");
  expect(omp_realloc(block, 5000, pool, pool) == 0, "a block larger than its pool");
  char* other = omp_alloc(90, pool);
  expect(other != 0, "what a failed attempt leaves");
  expect(omp_realloc(other, 100, omp_null_allocator, omp_null_allocator) == 0, "no other pool");
  block = omp_realloc(block, 10, omp_null_allocator, pool);
  expect(block != 0 && block[9] == 5, "a smaller block");
  other = omp_realloc(other, 4000, omp_null_allocator, omp_null_allocator);
  expect(other != 0, "room that a smaller block has left");
  block = omp_realloc(block, 8000, omp_default_mem_alloc, pool);
  expect(block != 0 && block[9] == 5, "a block that leaves its pool");
  expect(omp_realloc(block, 0, omp_null_allocator, omp_null_allocator) == 0, "no block");
  other = omp_realloc(other, 4096, pool, pool);
  expect(other != 0, "all of a pool");
  omp_free(other, pool);
  omp_destroy_allocator(pool);
}

enum { ROWS = 40 };
static int cells[ROWS][2];

/* Twenty dimensions, of which two have more than one iteration. */
static void dimensions(void) {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t;
  memset(cells, 0, sizeof cells);
#pragma omp parallel for schedule(static, 1) \
    ordered(20) private(b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  for (a = 0; a < ROWS; a++)
    for (b = 0; b < 1; b++)
      for (c = 0; c < 1; c++)
        for (d = 0; d < 1; d++)
          for (e = 0; e < 1; e++)
            for (f = 0; f < 1; f++)
              for (g = 0; g < 1; g++)
                for (h = 0; h < 1; h++)
                  for (i = 0; i < 1; i++)
                    for (j = 0; j < 1; j++)
                      for (k = 0; k < 1; k++)
                        for (l = 0; l < 1; l++)
                          for (m = 0; m < 1; m++)
                            for (n = 0; n < 1; n++)
                              for (o = 0; o < 1; o++)
                                for (p = 0; p < 1; p++)
                                  for (q = 0; q < 1; q++)
                                    for (r = 0; r < 1; r++)
                                      for (s = 0; s < 1; s++)
                                        for (t = 0; t < 2; t++) {
#pragma omp ordered depend(sink : a - 1, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
                                          cells[a][t] = a == 0 ? 1 : cells[a - 1][t] + 1 + t;
#pragma omp ordered depend(source)
                                        }
  for (a = 0; a < ROWS; a++)
    expect(cells[a][0] == a + 1 && cells[a][1] == 2 * a + 1, "a row that waits for the one before");
}

static int own_limit(void) { return omp_get_thread_limit(); }

/* Of the construct target, which may be a part of a task. */
static void limits(void) {
  int first = 0, second = 0, before = own_limit(), teams = 6;
#pragma omp target thread_limit(6) map(tofrom : first)
  first = own_limit();
#pragma omp target parallel nowait thread_limit(teams) num_threads(2) map(tofrom : second)
#pragma omp single
  second = own_limit();
#pragma omp taskwait
  expect(first == 6 && second == 6, "the limit that a target region has");
  expect(own_limit() == before, "the limit behind it");
}

/* A device has the control variables of the environment, and keeps none that are set there. */
static void device_variables(void) {
  int dynamic = omp_get_dynamic(), threads = omp_get_max_threads(), is_right = 0, chunk = 0;
  omp_sched_t kind, there;
  omp_set_dynamic(!dynamic);
  omp_set_num_threads(threads + 3);
  omp_set_schedule(omp_sched_static, 5);
#pragma omp target map(tofrom : is_right) private(chunk, there)
  {
    omp_get_schedule(&there, &chunk);
    is_right = omp_get_dynamic() == dynamic && omp_get_max_threads() == threads &&
               there == omp_sched_dynamic && chunk == 1;
    omp_set_num_threads(1);
  }
  omp_get_schedule(&kind, &chunk);
  expect(is_right, "control variables of a device");
  expect(omp_get_dynamic() != dynamic && omp_get_max_threads() == threads + 3, "those around it");
  expect(kind == omp_sched_static && chunk == 5, "the schedule around it");
  omp_set_dynamic(dynamic);
  omp_set_num_threads(threads);
}

/* Zeros stand behind a sign, and texts have none. */
static void formats(void) {
  char text[256], host[128];
  size_t bytes = omp_capture_affinity(text, sizeof text, "%0.5a|%0.4L|%6n|%.6N|%0.3n");
  expect(bytes == 28 && strcmp(text, "-0001|0000|0     |     1|000") == 0, text);
  bytes = omp_capture_affinity(host, sizeof host, "%H");
  expect(omp_capture_affinity(text, sizeof text, "%0.120H") == 120, "a wide text");
  expect(text[0] == ' ' && strcmp(text + 120 - bytes, host) == 0, "a text without zeros");
}

static void errors(void) {
  const char* text = "of the program";
#pragma omp error at(execution) severity(warning)
#pragma omp error at(execution) severity(warning) message(text + 3)
#pragma omp error at(execution) severity(fatal) message(text)
  printf("behind the end\n");
}

static void allocator(void) {
  int threads = 0, found = 0;
#pragma omp parallel reduction(+ : threads, found)
  {
    threads++;
    found += omp_get_default_allocator() == omp_cgroup_mem_alloc;
  }
  expect(threads == found, "the allocator of OMP_ALLOCATOR");
}

static void devices(void) {
  int count = 0;
#pragma omp target if (count) map(tofrom : count)
  count++;
#pragma omp target device(omp_get_initial_device()) map(tofrom : count)
  count++;
  expect(count == 2, "regions of the host");
  omp_set_default_device(7);
#pragma omp target map(tofrom : count)
  count++;
}

// More than one node keeps with --memory 32M.
static void filled(void) {
  size_t count = (size_t)40 << 17, bad = 0;
  size_t* data = malloc(count * sizeof *data);
  for (size_t i = 0; i < count; ++i) data[i] = i;
#pragma omp parallel for reduction(+ : bad)
  for (size_t i = 0; i < count; ++i) bad += data[i]++ != i;
  for (size_t i = 0; i < count; ++i) bad += data[i] != i + 1;
  expect(bad == 0, "what the first thread has filled");
  free(data);
}

int main(int argc, char** argv) {
  struct {
    const char* name;
    void (*function)(void);
  } modes[] = {{"boxes", boxes},   {"pools", pools},         {"dimensions", dimensions},
               {"limits", limits}, {"formats", formats},     {"device_variables", device_variables},
               {"errors", errors}, {"allocator", allocator}, {"devices", devices},
               {"filled", filled}};
  for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (argc > 1 ? strcmp(argv[1], modes[i].name) == 0 : i < 6) modes[i].function();
  if (!wrong) printf("good\n");
  return wrong;
}
