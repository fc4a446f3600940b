/* What the guide says of constructs that have no effect, or are refused. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

void acc_init(int device); /* of OpenACC, in the same library */

static int cancel(void) {
  int rounds = 0;
#pragma omp parallel for reduction(+ : rounds)
  for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i == 0)
    ++rounds;
#pragma omp cancellation point for
  }
  return !omp_get_cancellation() && rounds == 100;
}

static int pauses(void) {
  int host = omp_get_initial_device();
  return omp_pause_resource(omp_pause_soft, host) == -1 &&
         omp_pause_resource_all(omp_pause_hard) == -1;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  int good = 0;
  if (strcmp(mode, "cancel") == 0) good = cancel();
  if (strcmp(mode, "pause") == 0) good = pauses();
  if (strcmp(mode, "openacc") == 0) acc_init(0);
  printf(good ? "good\n" : "wrong\n");
  return !good;
}
