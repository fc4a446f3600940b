/* An OpenMP program with mappings of terrane/omp.h. A row is a page. Mode "mapped" prints "good"
 * where all values are right; the report tells where the homes of the rows are. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrane/omp.h>

enum { kRows = 64, kColumns = 512 };

static _Alignas(4096) double rows[kRows][kColumns];
static double own[kColumns];
#pragma omp threadprivate(own)

/* Row after row for another thread: half of the rows lie on the other node. */
static void write_in_turn(void) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < kRows; i++) rows[i][0] = i;
}

static void write_rows_in_blocks(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < kRows; i++) rows[i][1] = i;
}

static void check(void) {
  for (int i = 0; i < kRows; i++)
    if (rows[i][0] != i || rows[i][1] != i || rows[i][2] != 0) exit(1);
  puts("good");
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const size_t extents[] = {kRows, kColumns}, nothing[] = {kRows, 0};
  const int in_blocks[] = {TERRANE_BLOCK, TERRANE_ALL}, whole[] = {TERRANE_ALL, TERRANE_ALL};
  double(*heap)[kColumns] = malloc(sizeof rows);
  if (strcmp(mode, "mapped") == 0) {
    terrane_map(rows, TERRANE_BLOCK, TERRANE_ALL);
    terrane_map_array(heap, sizeof(double), 2, extents, in_blocks);
    free(heap);
    heap = malloc(sizeof rows);
    terrane_map_array(heap, sizeof(double), 2, extents, in_blocks);
    write_in_turn();
    write_rows_in_blocks();
    check();
  } else if (strcmp(mode, "twice") == 0) {
    terrane_map(rows, TERRANE_BLOCK, TERRANE_ALL);
    terrane_map(rows[7], TERRANE_BLOCK);
  } else if (strcmp(mode, "private") == 0) {
    terrane_map(own, TERRANE_BLOCK);
  } else if (strcmp(mode, "pointer") == 0) {
    terrane_map(heap, TERRANE_BLOCK, TERRANE_ALL);
  } else if (strcmp(mode, "empty") == 0) {
    terrane_map_array(rows, sizeof(double), 2, nothing, in_blocks);
  } else if (strcmp(mode, "whole") == 0) {
    terrane_map_array(rows, sizeof(double), 2, extents, whole);
  } else {
#pragma omp parallel
    if (omp_get_thread_num() == 1) terrane_map(rows, TERRANE_BLOCK, TERRANE_ALL);
  }
  free(heap);
}
