#include "platform/loader_calls.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "platform/libc_signals.h"
#include "platform/modules.h"
#include "platform/page_size.h"

namespace terrane::platform {

#if defined(__x86_64__)

namespace {

constexpr int kSetDispatch = 59;         // PR_SET_SYSCALL_USER_DISPATCH
constexpr int kDispatchedCode = 2;       // SYS_USER_DISPATCH
constexpr std::size_t kMostFiles = 512;  // in one call of dlopen
constexpr std::size_t kMostParts = 16;   // of one file
constexpr std::uintptr_t kTop = std::uintptr_t{1} << 47;

struct Range {
  std::uintptr_t begin, end;
  bool contains(std::uintptr_t from, std::uintptr_t to) const { return begin <= from && to <= end; }
};

// Of the thread that loads; its signal handler alone writes it.
struct State {
  Range left;                  // of the window
  std::uintptr_t header;       // of the file that is being mapped; 0: not known yet
  long file;                   // its descriptor
  Range writable[kMostParts];  // parts of it that are mapped for writing
  std::size_t parts;
  Constructors files[kMostFiles];
  std::size_t count;
  bool missed;
  std::uintptr_t window;  // where the window began
  struct sigaction before;
  std::atomic<pid_t> thread;
} state;

long call_kernel(long number, const long* arguments) {
  register long r10 asm("r10") = arguments[3];
  register long r8 asm("r8") = arguments[4];
  register long r9 asm("r9") = arguments[5];
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

bool has_failed(long result) { return result < 0 && result > -4096; }

bool is_in_window(std::uintptr_t from, std::uintptr_t to) {
  return Range{state.window, state.left.end}.contains(from, to);
}

// A mapping at an address that the loader leaves to the kernel. What is no file with code (the list
// of libraries) need not be the same on all nodes.
bool leaves_place_open(const long* arguments) {
  bool has_place = (arguments[3] & MAP_FIXED) != 0;
  auto file = static_cast<int>(arguments[4]);  // the upper half of the register is anything
  return !has_place && (file == -1 || (arguments[3] & MAP_DENYWRITE) != 0);
}

long map(const long* given) {
  long arguments[6];
  std::copy_n(given, 6, arguments);
  auto bytes = static_cast<std::uintptr_t>(arguments[1]);
  std::uintptr_t page = page_bytes(), whole = (bytes + page - 1) / page * page;
  bool open = leaves_place_open(given);
  if (open) {
    if (whole > state.left.end - state.left.begin || state.count == kMostFiles) return -ENOMEM;
    arguments[0] = static_cast<long>(state.left.begin);
    arguments[3] |= MAP_FIXED;
  }
  long result = call_kernel(SYS_mmap, arguments);
  if (has_failed(result)) return result;
  auto at = static_cast<std::uintptr_t>(result);
  if (open) state.left.begin += whole + page;
  // From glibc 2.41 on the reservation of a place for parts that are far apart has this flag, too.
  bool is_code = (given[3] & MAP_DENYWRITE) != 0 && (given[3] & MAP_ANONYMOUS) == 0;
  if (is_code && arguments[5] == 0 && state.header == 0) {
    state.header = at;
    state.file = arguments[4];
  }
  if (is_code && (arguments[2] & PROT_WRITE) != 0 && state.parts < kMostParts)
    state.writable[state.parts++] = {at, at + whole};
  return result;
}

// Other threads could get the addresses: they stay mapped.
long unmap(const long* given) {
  auto from = static_cast<std::uintptr_t>(given[0]);
  if (!is_in_window(from, from + static_cast<std::uintptr_t>(given[1])))
    return call_kernel(SYS_munmap, given);
  const long kept[6] = {given[0],  given[1],
                        PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                        -1,        0};
  long result = call_kernel(SYS_mmap, kept);
  return has_failed(result) ? result : 0;
}

void nothing() {}

// Takes the constructors of the file at `header` away from the loader, which reads where they are
// when it has relocated everything.
void take_constructors(std::uintptr_t header) {
  const auto& elf = *reinterpret_cast<const ElfW(Ehdr)*>(header);
  const auto* parts = reinterpret_cast<const ElfW(Phdr)*>(header + elf.e_phoff);
  const ElfW(Phdr)* dynamic = nullptr;
  for (unsigned i = 0; i < elf.e_phnum; ++i)
    if (parts[i].p_type == PT_DYNAMIC) dynamic = &parts[i];
  const auto* loaded = std::find_if(parts, parts + elf.e_phnum,
                                    [](const auto& part) { return part.p_type == PT_LOAD; });
  if (dynamic == nullptr || loaded == parts + elf.e_phnum) return;
  Constructors found;
  found.address = header - loaded->p_vaddr / page_bytes() * page_bytes();
  std::uintptr_t begin = found.address + dynamic->p_vaddr, end = begin + dynamic->p_memsz;
  auto* last = state.writable + state.parts;
  if (std::none_of(state.writable, last, [&](Range one) { return one.contains(begin, end); })) {
    state.missed = true;
    return;
  }
  for (auto* entry = reinterpret_cast<ElfW(Dyn)*>(begin); entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT && entry->d_un.d_ptr != 0) {
      found.first = found.address + entry->d_un.d_ptr;
      entry->d_un.d_ptr = reinterpret_cast<std::uintptr_t>(&nothing) - found.address;
    }
    if (entry->d_tag == DT_INIT_ARRAY) found.list = found.address + entry->d_un.d_ptr;
    if (entry->d_tag == DT_INIT_ARRAYSZ) {
      found.count = entry->d_un.d_val / sizeof(std::uintptr_t);
      entry->d_un.d_val = 0;
    }
  }
  if (state.count < kMostFiles) state.files[state.count++] = found;
}

long close_file(const long* given) {
  if (state.header != 0 && state.file == given[0]) {
    take_constructors(state.header);
    state.header = 0;
    state.parts = 0;
  }
  return call_kernel(SYS_close, given);
}

long answer(long number, const long* arguments) {
  switch (number) {
    case SYS_mmap:
      return map(arguments);
    case SYS_munmap:
      return unmap(arguments);
    case SYS_close:
      return close_file(arguments);
    default:
      return call_kernel(number, arguments);
  }
}

void on_call(int signal_number, siginfo_t* info, void* raw) {
  auto* registers = static_cast<ucontext_t*>(raw)->uc_mcontext.gregs;
  if (info->si_code != kDispatchedCode || state.thread.load() != ::gettid()) {
    if ((state.before.sa_flags & SA_SIGINFO) != 0)
      state.before.sa_sigaction(signal_number, info, raw);
    else if (state.before.sa_handler != SIG_DFL && state.before.sa_handler != SIG_IGN)
      state.before.sa_handler(signal_number);
    else if (libc_signals().sigaction(signal_number, &state.before, nullptr) == 0)
      ::raise(signal_number);
    return;
  }
  const long arguments[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                             registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  registers[REG_RAX] = answer(info->si_syscall, arguments);
}

// All code but the loader's: of addresses below or above it, whichever have the C library and this.
bool find_open_range(Range& open) {
  auto base = static_cast<std::uintptr_t>(_r_debug.r_ldbase);
  for (const Module& module : loaded_modules()) {
    if (module.address != base || module.code.empty()) continue;
    auto own = reinterpret_cast<std::uintptr_t>(&on_call);
    auto libc = reinterpret_cast<std::uintptr_t>(libc_signals().sigaction);
    std::uintptr_t begin = module.code.front().begin, end = module.code.back().end;
    if (std::max(own, libc) < begin) open = {page_bytes(), begin};
    if (std::min(own, libc) >= end) open = {end, kTop};
    return open.end != 0;
  }
  return false;
}

}  // namespace

LoaderCalls::LoaderCalls(std::uintptr_t next, std::uintptr_t end) {
  state.left = {next, end};
  state.window = next;
  state.header = 0;
  state.parts = 0;
  state.count = 0;
  state.missed = false;
}

base::Result<> LoaderCalls::begin() {
  Range open{};
  if (!find_open_range(open)) return base::Error{"the loader lies between the program's libraries"};
  struct sigaction action {};
  action.sa_sigaction = on_call;
  action.sa_flags = SA_SIGINFO;  // on the stack of the thread, which is not shared
  ::sigfillset(&action.sa_mask);
  sigset_t own;
  ::sigemptyset(&own);
  ::sigaddset(&own, SIGSYS);
  if (libc_signals().sigaction(SIGSYS, &action, &state.before) != 0)
    return base::errno_error("no handler of SIGSYS");
  libc_signals().set_mask(SIG_UNBLOCK, &own, nullptr);
  state.thread = ::gettid();
  if (::prctl(kSetDispatch, 1, open.begin, open.end - open.begin, 0) == 0) return {};
  auto error =
      base::errno_error("the kernel does not hand on the loader's calls (Linux 5.11 does)");
  state.thread = 0;
  libc_signals().sigaction(SIGSYS, &state.before, nullptr);
  return error;
}

LoaderCalls::~LoaderCalls() {
  if (state.thread.load() == 0) return;
  ::prctl(kSetDispatch, 0, 0, 0, 0);
  state.thread = 0;
  libc_signals().sigaction(SIGSYS, &state.before, nullptr);
}

std::uintptr_t LoaderCalls::next() const { return state.left.begin; }

std::vector<Constructors> LoaderCalls::constructors() const {
  return {state.files, state.files + state.count};
}

bool LoaderCalls::has_missed() const { return state.missed; }

#else

LoaderCalls::LoaderCalls(std::uintptr_t, std::uintptr_t) {}
LoaderCalls::~LoaderCalls() = default;
base::Result<> LoaderCalls::begin() {
  return base::Error{"the kernel does not hand on the loader's calls (on x86-64 it does)"};
}
std::uintptr_t LoaderCalls::next() const { return 0; }
std::vector<Constructors> LoaderCalls::constructors() const { return {}; }
bool LoaderCalls::has_missed() const { return false; }

#endif

}  // namespace terrane::platform
