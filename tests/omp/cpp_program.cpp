// OpenMP in C++, with containers, exceptions and classes in regions.
#include <omp.h>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Sum {
  long value = 0;
  void add(long more) { value += more; }
};
#pragma omp declare reduction(add:Sum : omp_out.add(omp_in.value)) initializer(omp_priv = Sum())

int wrong = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  wrong = 1;
}

void containers() {
  std::vector<std::string> names(100);
#pragma omp parallel for schedule(dynamic, 3)
  for (int i = 0; i < 100; ++i) names[i] = "the name of element " + std::to_string(i);
  for (int i = 0; i < 100; ++i)
    expect(names[i] == "the name of element " + std::to_string(i), "strings of workers");
}

void exceptions() {
  int caught = 0;
#pragma omp parallel for reduction(+ : caught)
  for (int i = 0; i < 40; ++i) {
    try {
      if (i % 2 == 0) throw std::runtime_error("even");
    } catch (const std::exception& error) {
      caught += std::string(error.what()) == "even" ? 1 : 0;
    }
  }
  expect(caught == 20, "exceptions in a region");
}

void objects() {
  Sum sum;
#pragma omp parallel for reduction(add : sum)
  for (int i = 0; i < 1000; ++i) sum.add(i);
  expect(sum.value == 499500, "a reduction of objects");
  std::vector<int> given(10, 3);
  long total = 0;
#pragma omp parallel firstprivate(given) reduction(+ : total)
  {
    given[0] = 1;
    total += std::accumulate(given.begin(), given.end(), 0);
  }
  expect(total % 28 == 0 && given[0] == 3, "firstprivate objects");
}

}  // namespace

int main() {
  containers();
  exceptions();
  objects();
  if (wrong == 0) std::printf("good\n");
  return wrong;
}
