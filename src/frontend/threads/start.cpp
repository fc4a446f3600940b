// The program's start and end: main, constructors and handlers of exit run on node 0, on a stack in
// shared memory; the other nodes serve what it asks of them.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <terrane/pages.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/own_process.h"
#include "frontend/interpose/in_front.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/early_threads.h"
#include "frontend/threads/libraries.h"
#include "frontend/threads/opening.h"
#include "frontend/threads/output.h"
#include "frontend/threads/polling.h"
#include "frontend/threads/program.h"
#include "frontend/threads/race_names.h"
#include "frontend/threads/signal_offers.h"
#include "frontend/threads/team_barriers.h"
#include "platform/page_size.h"
#include "platform/quiet_thread.h"
#include "runtime/program/own_stack.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

using MainFunction = int(int, char**, char**);
using PlainHandler = void(void*);
using CodeHandler = void(int, void*);
using StartFunction = int(MainFunction*, int, char**, void (*)(), void (*)(), void (*)(), void*);

// Of the call that the program's first instructions made.
struct Start {
  StartFunction* next;
  MainFunction* main;
  int argc;
  char** argv;
  void (*init)();
  void (*fini)();
  void* stack_end;
};
Start the_start;
pid_t the_process = 0;
std::atomic<pid_t> ender{0};  // the thread that runs the handlers of exit
int quick_exit_code = 0;

// A list of strings in shared memory, so that every thread can read it. In pages of its own, which
// nobody writes: the C library hands the environment to the kernel, and to children.
char** share(char** strings) {
  std::size_t count = 0, bytes = 0;
  for (; strings[count] != nullptr; ++count) bytes += std::strlen(strings[count]) + 1;
  std::size_t page = terrane::platform::page_bytes();
  std::size_t room = (count + 1) * sizeof(char*) + bytes;
  void* block = Program::get()->heap().allocate((room + page - 1) / page * page, page);
  if (block == nullptr) Program::get()->node().fail("no shared memory for the program's arguments");
  auto** copy = static_cast<char**>(block);
  char* at = reinterpret_cast<char*>(copy + count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    copy[i] = at;
    at = ::stpcpy(at, strings[i]) + 1;
  }
  copy[count] = nullptr;
  return copy;
}

// The functions that a module wants called at its end, as the loader would call them.
void run_end_of(const dl_phdr_info& info) {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  if (entry == nullptr) return;
  void (**functions)() = nullptr;
  std::size_t count = 0;
  void (*last)() = nullptr;
  for (; entry->d_tag != DT_NULL; ++entry) {
    std::uintptr_t address = info.dlpi_addr + entry->d_un.d_ptr;
    if (entry->d_tag == DT_FINI_ARRAY) functions = reinterpret_cast<void (**)()>(address);
    if (entry->d_tag == DT_FINI_ARRAYSZ) count = entry->d_un.d_val / sizeof(functions[0]);
    if (entry->d_tag == DT_FINI) last = reinterpret_cast<void (*)()>(address);
  }
  while (count > 0) functions[--count]();
  if (last != nullptr) last();
}

// Modules whose ends are the program's. The end of Fortran's library writes what its units hold.
std::vector<dl_phdr_info> modules_to_end() {
  std::vector<dl_phdr_info> all;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        std::string_view name = path.substr(path.rfind('/') + 1);
        bool programs =
            libraries().owner_at(info->dlpi_addr) == terrane::platform::ModuleOwner::kProgram;
        if (programs || name.starts_with("libgfortran."))
          static_cast<std::vector<dl_phdr_info>*>(found)->push_back(*info);
        return 0;
      },
      &all);
  return all;
}

// Not while the loader's list is locked: an end may have threads that look at it, too.
void run_ends_of_modules() {
  std::vector<dl_phdr_info> all;
  {
    Private ours;
    all = modules_to_end();
  }
  for (const dl_phdr_info& info : all) run_end_of(info);
}

// The calling thread waits while another one ends the process. No cancellation point.
[[noreturn]] void wait_for_end() {
  for (;;) next<"pause">(::pause)();
}

// The calling thread ends the program, or waits. A handler of exit may call exit again.
void become_ender() {
  auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  pid_t other = 0;
  if (!ender.compare_exchange_strong(other, self) && other != self) wait_for_end();
}

// The last of the handlers of exit, since it was registered first: the program has no code left to
// run but the ends of its modules. `code` comes from whoever called exit, the C library among them.
// An end of a module that calls exit is the last one: it comes here once more.
void finish(int code, void*) {
  static bool ends_modules = false;
  become_ender();
  if (!std::exchange(ends_modules, true)) {
    next<"on_exit">(::on_exit)(finish, nullptr);
    run_ends_of_modules();
  }
  code &= 0xff;
  Program& program = *Program::get();
  end_offers();
  for (std::uint32_t n = 1; n < program.node().nodes(); ++n) program.send(n, {Command::kLeave, 0});
  flush_output();
  // The other nodes answer no longer when this one has left: its own stack alone is surely here.
  Private ours;
  auto* names = new terrane::runtime::ProgramNames(program_names());
  terrane::runtime::on_own_stack([&node = program.node(), code, names] {
    stop_watching();
    int last = node.leave(*names, code);
    if (last != 0) node.end(last);
    next<"_exit">(::_exit)(last);
  });
}

// The same on another node, by exit of the program or of the C library itself, as in err(3): the
// program ends on node 0. The first of the handlers there, after the ends of the calling thread's
// thread-local variables.
void finish_elsewhere(int code, void*) {
  next<"on_exit">(::on_exit)(finish_elsewhere, nullptr);
  ask_for_end(code);
}

// The last of the handlers of quick_exit.
void finish_quickly() { end_at_once(quick_exit_code); }

// Whether the program registers a handler of its end by this call on another node than 0.
bool is_for_node_0(const void* caller) {
  Program* program = Program::get();
  return program != nullptr && program->self() != 0 && this_thread().record != nullptr &&
         program->is_own(caller);
}

// function(arguments...) on node 0, where the C library has the list of the program's handlers, in
// the order in which all nodes register them. -1: it cannot be.
template <typename... Parameters>
int call_on_node_0(int (*function)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  struct Made {
    int (*function)(Parameters...);
    std::tuple<Parameters...> arguments;
    int result;
  } made{function, {arguments...}, -1};
  auto run = [](void* raw) -> void* {
    auto& one = *static_cast<Made*>(raw);
    one.result = std::apply(one.function, one.arguments);
    return nullptr;
  };
  return run_on(0, run, &made) == 0 ? made.result : -1;
}

int run_main(int argc, char** argv, char** variables) {
  the_start.argc = argc;
  the_start.argv = argv;
  ::exit(the_start.main(argc, argv, variables));
}

void* run_program(void*) {
  adopt_early_threads();
  environ = share(environ);
  Start& start = the_start;
  start.next(run_main, start.argc, share(start.argv), start.init, start.fini, nullptr,
             start.stack_end);
  return nullptr;  // it does not come back
}

[[noreturn]] void start_program() {
  Program::start();
  Program& program = *Program::get();
  ::on_exit(program.self() == 0 ? finish : finish_elsewhere, nullptr);
  watch_loops();
  if (program.lends()) come_to_team_barriers(program);
  if (program.self() != 0) adopt_early_threads();
  if (program.self() != 0) program.serve();
  terrane::platform::start_without_signals([&] { program.serve(); }).detach();
  begin_offers();
  Record& main = program.control().records[0];
  terrane::runtime::Stack stack = program.stacks().take_for_main();
  std::at_quick_exit(finish_quickly);
  run_as(main, stack, run_program, nullptr);
  // main has called pthread_exit.
  destroy_values();
  bool last = false;
  {
    Holding hold(&program.control().lock);
    program.control().main_has_exited = 1;
    last = --program.control().live == 0;
  }
  if (!last)
    program.node().take_units(count_of(&program.control().all_ended), {},
                              terrane::frontend::pages::kForEver);
  ::exit(0);
}

// Whether this process is the program that `terrane threads` started: not what runs before it,
// such as env(1), which hands the library on.
bool is_the_program() {
  return std::getenv("TERRANE_THREADS") != nullptr && terrane::frontend::is_in_front_of_program();
}

}  // namespace

namespace terrane::frontend::threads {

bool is_before_program() { return the_process == 0 && is_the_program(); }

void end_program(int code) {
  become_ender();
  next<"exit">(::exit)(code);
  __builtin_unreachable();
}

void ask_for_end(int code) {
  Program::get()->send(0, {Command::kExit, static_cast<std::uint32_t>(code)});
  wait_for_end();
}

void end_at_once(int code) {
  Program::get()->node().end(code & 0xff);
  next<"_exit">(::_exit)(code);
  __builtin_unreachable();
}

}  // namespace terrane::frontend::threads

terrane::frontend::threads::Arguments terrane::frontend::threads::arguments_of_main() {
  return {the_start.argc, the_start.argv};
}

#pragma GCC visibility push(default)
extern "C" {

int __libc_start_main(MainFunction* main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  auto* call = reinterpret_cast<StartFunction*>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  if (!is_the_program()) return call(main, argc, argv, init, fini, rtld_fini, stack_end);
  ::unsetenv("TERRANE_THREADS");
  const char* bind = std::getenv("LD_BIND_NOW");
  if (bind != nullptr && std::string_view(bind) == "terrane") ::unsetenv("LD_BIND_NOW");
  the_process = terrane::base::own_process();
  end_early_threads();
  the_start = {call, main, argc, argv, init, fini, stack_end};
  start_program();
}

void exit(int code) noexcept {
  if (Program::get() == nullptr) next<"exit">(::exit)(code);
  end_program(code);
}

void quick_exit(int code) noexcept {
  Program* program = Program::get();
  if (program != nullptr && program->self() != 0) {
    program->send(0, {Command::kQuickExit, static_cast<std::uint32_t>(code)});
    wait_for_end();
  }
  quick_exit_code = code & 0xff;
  next<"quick_exit">(::quick_exit)(code);
  __builtin_unreachable();
}

void _exit(int code) {
  bool programs = Program::get() != nullptr && this_thread().record != nullptr &&
                  terrane::base::own_process() == the_process;  // not of a child of vfork
  if (!programs) next<"_exit">(::_exit)(code);
  end_at_once(code);
}

void _Exit(int code) noexcept { _exit(code); }

// Handlers and static objects of the program on other nodes than 0 are ended on node 0; those of
// libraries that each node has for itself are not.
int __cxa_atexit(PlainHandler* function, void* argument, void* module) noexcept {
  using Call = int(PlainHandler*, void*, void*);
  static auto* const call = reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, "__cxa_atexit"));
  if (!is_for_node_0(__builtin_return_address(0))) return call(function, argument, module);
  return call_on_node_0(call, function, argument, module);
}

int on_exit(CodeHandler* function, void* argument) noexcept {
  auto* call = next<"on_exit">(::on_exit);
  if (!is_for_node_0(__builtin_return_address(0))) return call(function, argument);
  return call_on_node_0(call, function, argument);
}

int __cxa_at_quick_exit(PlainHandler* function, void* module) noexcept {
  using Call = int(PlainHandler*, void*);
  static auto* const call = reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, "__cxa_at_quick_exit"));
  if (!is_for_node_0(__builtin_return_address(0))) return call(function, module);
  return call_on_node_0(call, function, module);
}

}  // extern "C"

// Standard streams stay those of the C library, whose buffers are flushed on every node.
bool terrane_sync_with_stdio(bool) __asm__("_ZNSt8ios_base15sync_with_stdioEb");
bool terrane_sync_with_stdio(bool) { return true; }
#pragma GCC visibility pop
