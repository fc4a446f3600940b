#include "frontend/threads/locked_code.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/program.h"
#include "patch/apply.h"
#include "patch/entries.h"
#include "platform/fault_signal.h"
#include "platform/trap_signal.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend::threads {
namespace {

using pages::ObjectKind;

// What the calling thread holds between enter and leave. Initial-exec: it is read in code that the
// program has not called.
struct Held {
  LockId sections[2];
  std::uint32_t count;
  std::uint32_t depth;  // a handler of a fault may have its own
};
thread_local constinit Held held __attribute__((tls_model("initial-exec"))) = {};

// Words of any size in the same 8 bytes have one section, as those of the calls have.
constexpr std::uintptr_t kSectionBytes = 8;

// A thread that does one operation on one word again and again, and changes nothing, waits: for
// another thread to store there, which may be a plain store (the end of a spin lock is one). No
// section says so.
struct Spin {
  std::uintptr_t address;
  std::uint64_t value;  // of the word's eight bytes
  std::uint32_t times;
};
thread_local constinit Spin spin __attribute__((tls_model("initial-exec"))) = {};
constexpr std::uint32_t kTriesUntilLook = 16;

bool has_spun(std::uintptr_t address) {
  return spin.address == address && spin.times >= kTriesUntilLook &&
         this_thread().record != nullptr;
}

// All that threads of other nodes have stored is seen here from now on.
void see_all_stores() {
  run_on_others([](void*) -> void* { return nullptr; }, nullptr);
  next<"sched_yield">(::sched_yield)();
}

// What is stored in the word's eight bytes, which are in the section.
std::uint64_t value_at(std::uintptr_t granule) {
  return *reinterpret_cast<const volatile std::uint64_t*>(granule);
}

// In the section. A plain store may be seen before what its thread has stored earlier, and a lock
// that is free may have been freed by one. What has made the word what it is is seen after a look
// that does not change it.
void note_try(std::uintptr_t address, bool looks) {
  std::uintptr_t granule = address & ~(kSectionBytes - 1);
  std::uint64_t value = value_at(granule);
  bool is_same = spin.address == address && spin.value == value;
  for (bool changed = looks; changed;) {
    std::uint64_t before = value;
    see_all_stores();
    value = value_at(granule);
    changed = value != before;
  }
  spin = {address, value, is_same && !looks ? spin.times + 1 : 0};
}

void enter(std::uintptr_t address, std::uint64_t bytes) {
  int saved = errno;
  bool is_ours = runtime::is_in_operation() || platform::is_in_fault_handler();
  if (held.depth++ == 0 && !is_ours) {
    bool looks = this_thread().record != nullptr &&
                 (has_spun(address) || (bytes & patch::kMayTakeLock) != 0);
    bytes %= patch::kMayTakeLock;
    std::uintptr_t first = address & ~(kSectionBytes - 1);
    std::uintptr_t last = (address + bytes - 1) & ~(kSectionBytes - 1);
    held.count = 0;
    for (std::uintptr_t at = first; at <= last; at += kSectionBytes) {
      LockId section = protocol::object_id(ObjectKind::kAtomic, at);
      pages::node()->lock_until(section, pages::kForEver);
      held.sections[held.count++] = section;
    }
    ++runtime::own_stack().holds;
    note_try(address, looks);
  }
  errno = saved;
}

void leave() {
  int saved = errno;
  if (--held.depth == 0 && held.count != 0) {
    while (held.count != 0) pages::node()->unlock_held(held.sections[--held.count]);
    --runtime::own_stack().holds;
    runtime::take_signals_after_operation();
  }
  errno = saved;
}

// The C library's functions are served one by one, and so are its threads' objects.
bool is_patched(const platform::Module& module, platform::ModuleOwner owner) {
  using platform::ModuleOwner;
  if (owner == ModuleOwner::kProgram || owner == ModuleOwner::kBoth) return true;
  constexpr std::string_view kRuntimes[] = {"libstdc++.", "libc++", "libgcc_s", "libgfortran",
                                            "libquadmath"};
  return owner == ModuleOwner::kLanguage &&
         std::any_of(std::begin(kRuntimes), std::end(kRuntimes),
                     [&](auto name) { return module.name.starts_with(name); });
}

[[noreturn]] void refuse(const std::string& sentence) {
  base::log(
      "{}; give --atomics=refuse to see the functions, or --allow-inline-atomics where none "
      "of them is used by threads of two nodes",
      sentence);
  std::_Exit(1);
}

void serve_module(const platform::Module& module, bool without_jumps) {
  std::string path = module.path.empty() ? "/proc/self/exe" : module.path;
  auto file = patch::ElfCode::open(path);
  if (!file) refuse(file.error().message);
  patch::Plan plan = patch::make_plan(file.value(), without_jumps);
  std::string name = module.path.empty() ? "the program" : module.path;
  if (file.value().has_text_relocations() && !plan.sites.empty())
    refuse(fmt::format("{}: the loader changes its code (text relocations)", name));
  if (!plan.doubts.empty()) {
    std::string function = file.value().function_at(plan.doubts[0]);
    refuse(fmt::format("{} has data among its code at {:#x}{}{}, which may be a locked instruction",
                       name, plan.doubts[0], function.empty() ? "" : " in ", function));
  }
  if (auto applied = patch::apply(plan, module.address, name); !applied)
    refuse(applied.error().message);
}

bool is_known(const Libraries* known, const platform::Module& module) {
  return known != nullptr &&
         std::any_of(known->modules.begin(), known->modules.end(), [&](const auto& one) {
           return one.address == module.address && one.path == module.path;
         });
}

}  // namespace

void serve_locked_code(const Libraries& found, const Libraries* known) {
  // Not of the environment later on, which is the program's.
  static const std::string way = [] {
    const char* asked = std::getenv("TERRANE_ATOMICS");
    return std::string(asked == nullptr ? "" : asked);
  }();
  if (way.empty()) return;
  if (known == nullptr) {
    patch::set_service({is_shared_word, enter, leave});
    if (auto served = platform::serve_traps(patch::trampoline_of); !served)
      refuse(served.error().message);
  }
  for (std::size_t i = 0; i < found.modules.size(); ++i)
    if (!is_known(known, found.modules[i]) && is_patched(found.modules[i], found.owners[i]))
      serve_module(found.modules[i], way == "trap");
}

}  // namespace terrane::frontend::threads
