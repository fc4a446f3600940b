// Where in the program something is: the place of an allocation, and functions that hide ours.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unwind.h>

#include <string>
#include <string_view>

#include "base/log.h"
#include "frontend/threads/libraries.h"
#include "frontend/threads/program.h"
#include "frontend/threads/symbols.h"

namespace terrane::frontend::threads {
namespace {

std::string_view file_name(const Dl_info& info) {
  std::string_view path = info.dli_fname == nullptr ? "" : info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

// As addr2line(1) takes it: for a file that is not at fixed addresses, from its begin.
std::uintptr_t address_in(const Dl_info& info, std::uintptr_t at) {
  const auto* head = static_cast<const ElfW(Ehdr)*>(info.dli_fbase);
  return head->e_type == ET_EXEC ? at : at - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
}

// What a whole program's memory and threads need of the functions in front of the C library's.
constexpr const char* kServed[] = {"malloc",
                                   "calloc",
                                   "realloc",
                                   "free",
                                   "pthread_create",
                                   "pthread_join",
                                   "pthread_mutex_lock",
                                   "pthread_cond_wait",
                                   "pthread_barrier_wait",
                                   "sem_wait",
                                   "read",
                                   "write",
                                   "exit"};

Dl_info object_of(const void* address) {
  Dl_info info{};
  return address != nullptr && ::dladdr(address, &info) != 0 ? info : Dl_info{};
}

bool is_programs_file(const Dl_info& info) {
  const Dl_info main = object_of(reinterpret_cast<const void*>(::getauxval(AT_PHDR)));
  return main.dli_fbase != nullptr && main.dli_fbase == info.dli_fbase;
}

// A library of the program that has such a function for threads: its own calls may go there, and
// its locks are no locks to others. An allocator is no harm behind ours. Empty: none.
std::string library_with_copy() {
  std::string found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* raw) {
        std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        bool programs = libraries().owner_at(info->dlpi_addr) == platform::ModuleOwner::kProgram;
        if (path.empty() || !programs) return 0;
        void* library = ::dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        for (std::string_view name : kServed) {
          if (!name.starts_with("pthread_") && !name.starts_with("sem_")) continue;
          const Dl_info own =
              object_of(library == nullptr ? nullptr : ::dlsym(library, name.data()));
          if (own.dli_fname == nullptr || path != own.dli_fname) continue;
          *static_cast<std::string*>(raw) = fmt::format(
              "the library {} has a function {} of its own, which its calls may reach in place of "
              "Terrane's: link the library without it (a copy of the C library)",
              path, name);
        }
        if (library != nullptr) ::dlclose(library);
        return static_cast<std::string*>(raw)->empty() ? 0 : 1;
      },
      &found);
  return found;
}

}  // namespace

std::string place_of_call() {
  std::string found;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* raw) {
        std::uintptr_t at = _Unwind_GetIP(context);
        Dl_info info{};
        if (::dladdr(reinterpret_cast<const void*>(at), &info) == 0) return _URC_NO_REASON;
        std::string_view name = file_name(info);
        if (!libraries().is_own(reinterpret_cast<const void*>(at - 1))) return _URC_NO_REASON;
        *static_cast<std::string*>(raw) =
            fmt::format("{}:{:#x}", name.substr(0, 18), address_in(info, at - 1));
        return _URC_END_OF_STACK;
      },
      &found);
  return found;
}

std::string hidden_by() {
  Dl_info ours{};
  ::dladdr(reinterpret_cast<const void*>(&hidden_by), &ours);
  for (const char* name : kServed) {
    const Dl_info first = object_of(::dlsym(RTLD_DEFAULT, name));
    if (first.dli_fbase == nullptr || first.dli_fbase == ours.dli_fbase) continue;
    if (is_programs_file(first) && !program_defines(name)) continue;
    return fmt::format(
        "{} has a function {} of its own, which hides Terrane's from the program: link the program "
        "without it (an allocator, a tool or a copy of the C library)",
        first.dli_fname == nullptr ? "the program" : first.dli_fname, name);
  }
  if (std::string copy = library_with_copy(); !copy.empty()) return copy;
  // Under `terrane omp` ours has this function.
  if (const Dl_info other = object_of(::dlsym(RTLD_DEFAULT, "__kmpc_fork_call"));
      other.dli_fname != nullptr) {
    std::string_view file = other.dli_fname;
    file.remove_prefix(file.rfind('/') + 1);
    if (file.starts_with("libomp.so") || file.starts_with("libiomp5"))
      return fmt::format(
          "the program uses {}, an OpenMP library that knows one node: start it by terrane omp",
          file);
  }
  return {};
}

}  // namespace terrane::frontend::threads
