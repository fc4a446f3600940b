// A program that is not linked with the library and loads it by dlopen. Usage:
//   dlopen_program LIBRARY calls         reads from a file into a page that is not present here
//   dlopen_program LIBRARY handlers      installs handlers of SIGBUS and SIGSEGV
//   dlopen_program LIBRARY mistake       so it does, and makes a mistake of its own
#include <dlfcn.h>
#include <fcntl.h>
#include <terrane/pages.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void* library = nullptr;

template <typename Function>
Function* of_library(const char* name, Function&) {
  auto* found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) std::exit(4);
  return found;
}
#define OF_LIBRARY(name) of_library(#name, name)

int bad(const char* what) {
  std::fprintf(stderr, "%s; errno %d\n", what, errno);
  return 9;
}

int check_read(char* page) {
  int fd = open("/dev/zero", O_RDONLY);
  ssize_t got = read(fd, page, 4096);
  return got == 4096 ? 0 : bad("the read was not served");
}

volatile sig_atomic_t handled = 0;

// As Python's faulthandler does: the handler restores what was there before, and raises the signal
// again.
struct sigaction before_bus, before_segv;
void on_fault(int signal_number) {
  handled = handled + 1;
  const char text[] = "handled\n";
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
  sigaction(signal_number, signal_number == SIGBUS ? &before_bus : &before_segv, nullptr);
  raise(signal_number);
}

void install_handlers() {
  struct sigaction action {};
  action.sa_handler = on_fault;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGBUS, &action, &before_bus);
  sigaction(SIGSEGV, &action, &before_segv);
}

// Pages that are not present come also where the handlers were installed after terrane_init.
int check_handlers(char* page, bool makes_mistake) {
  install_handlers();
  OF_LIBRARY(terrane_lock)(1);
  page[7] = 1;
  OF_LIBRARY(terrane_unlock)(1);
  if (handled != 0) return bad("a fault of shared memory went to the program");
  volatile std::uintptr_t nowhere = 16;
  if (makes_mistake) *reinterpret_cast<volatile char*>(nowhere) = 1;
  return 0;
}

int run_mode(const std::string& mode, char* page) {
  if (mode == "handlers") return check_handlers(page, false);
  if (OF_LIBRARY(terrane_node)() != 0) return 0;
  if (mode == "mistake") return check_handlers(page, true);
  return check_read(page);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (std::getenv("LD_PRELOAD") != nullptr) return bad("LD_PRELOAD is left to children");
  library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) return bad(dlerror());
  if (OF_LIBRARY(terrane_init)() != TERRANE_OK) return bad(OF_LIBRARY(terrane_error)());
  terrane_alloc_options options{TERRANE_HOMES_EXPLICIT, 1, "test"};
  auto* page = static_cast<char*>(OF_LIBRARY(terrane_alloc_all)(4096, &options));
  OF_LIBRARY(terrane_barrier)();
  int result = run_mode(argv[2], page);
  OF_LIBRARY(terrane_finalize)();
  if (result == 0) std::puts("good");
  return result;
}
