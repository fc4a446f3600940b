// Mistakes with addresses. Node 0 stores, node 1 uses what it finds. Usage: private_program MODE
#include <csignal>
#include <map>
#include <new>
#include <string>

#include "program.h"

using namespace terrane::pages_test;

// Outside of the namespace below: other files might derive from it, so calls go by its table.
struct Shape {
  virtual ~Shape() = default;
  [[gnu::noinline]] virtual int sides() const { return 3; }
};

namespace {

int answer() { return 42; }

struct Shared {
  int (*function)();
  alignas(Shape) unsigned char shape[sizeof(Shape)];
  int value;
};
Shared* shared = nullptr;

void function() {
  if (terrane_node() == 0) shared->function = answer;
  terrane_barrier();
  if (terrane_node() == 1) EXPECT(shared->function() == 42);
}

void virtual_function() {
  auto* shape = reinterpret_cast<Shape*>(shared->shape);
  if (terrane_node() == 0) new (shape) Shape();
  terrane_barrier();
  asm volatile("" : "+r"(shape));  // the compiler does not know what it is
  if (terrane_node() == 1) EXPECT(shape->sides() == 3);
}

void freed() {
  int* region = allocate_all<int>(1, 0);
  if (terrane_node() == 1) at(region, 0) = 1;
  terrane_barrier();
  if (terrane_node() == 0) EXPECT(terrane_free(region) == TERRANE_OK);
  // Until this node hears of it, which goes on beside the program.
  while (terrane_node() == 1) at(region, 0) = 2;
}

void never_allocated() { at(&shared->value, 1 << 24) = 1; }

void after_finalize() {
  EXPECT(terrane_finalize() == TERRANE_OK);
  at(&shared->value, 0) = 1;
}

void null() {
  volatile std::uintptr_t nothing = 0;
  at(reinterpret_cast<int*>(nothing), 2) = 1;
}

const std::map<std::string, void (*)()> kModes = {
    {"function", function},
    {"virtual_function", virtual_function},
    {"freed", freed},
    {"never_allocated", never_allocated},
    {"after_finalize", after_finalize},
    {"null", null},
};

}  // namespace

int main(int argc, char** argv) {
  auto mode = kModes.find(argc > 1 ? argv[1] : "");
  if (mode == kModes.end()) return 4;
  for (int fault : {SIGBUS, SIGSEGV}) signal(fault, SIG_DFL);  // sanitizers have handlers of theirs
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 3;
  shared = allocate_all<Shared>(1);
  terrane_barrier();
  mode->second();
  if (terrane_finalize() != TERRANE_OK) return 5;
  std::puts("good");
  return 0;
}
