/* A program that opens a library with a region in its constructor: a team as any other. */
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  const long* sum = dlsym(library, "early_sum");
  const int *runs = dlsym(library, "early_runs"), *threads = dlsym(library, "early_threads");
  int good = 0, team = 0;
#pragma omp parallel reduction(+ : good, team)
  {
    team = 1;
    good = *sum == 4950 && *runs == 1 && *threads == omp_get_num_threads();
  }
  if (good != team || team != omp_get_max_threads())
    printf("%d of %d: %ld %d %d\n", good, team, *sum, *runs, *threads);
  return good != team; /* the library's destructor says that it is good */
}
