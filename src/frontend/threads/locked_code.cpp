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
#include "frontend/threads/for_teams.h"
#include "frontend/threads/program.h"
#include "frontend/threads/seen_accesses.h"
#include "frontend/threads/served_pages.h"
#include "patch/apply.h"
#include "patch/entries.h"
#include "patch/kept_plans.h"
#include "platform/fault_signal.h"
#include "platform/trap_signal.h"
#include "runtime/before_operations.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend::threads {
namespace {

// The instruction that follows finds the word in a synchronisation page; a fence is the flush of
// OpenMP. A program's handler that has interrupted an operation of ours may not begin another one.
void enter(std::uintptr_t address, std::uint64_t bytes) {
  int saved = errno;
  bool is_free = !runtime::is_in_operation() && !platform::is_in_fault_handler();
  if (is_free && bytes == 0) {
    terrane_program_flush();
  } else if (is_free) {
    runtime::begin_operation();
    if (is_unserved_word(address)) note_served(address, ServedFor::kAtomic);
    auto outcome = pages::node()->promote(reinterpret_cast<const void*>(address), bytes);
    if (!outcome.ok()) pages::node()->fail(outcome.message);
  }
  errno = saved;
}

// With --atomics=relaxed: in the word's home, where it has one. The thread sees nothing but the
// word, and its node's copy of the page stays where it is.
bool change(std::uintptr_t address, const patch::WordChange& wanted, std::uint64_t& before) {
  using protocol::AtomicKind;
  constexpr AtomicKind kKinds[] = {AtomicKind::kLoad,       AtomicKind::kStore, AtomicKind::kAdd,
                                   AtomicKind::kAnd,        AtomicKind::kOr,    AtomicKind::kXor,
                                   AtomicKind::kCompareSwap};
  bool is_free = !runtime::is_in_operation() && !platform::is_in_fault_handler();
  if (!is_free || !is_unserved_word(address)) return false;
  int saved = errno;
  protocol::AtomicOp op{.kind = kKinds[static_cast<std::size_t>(wanted.kind)],
                        .size = wanted.bytes,
                        .operand = wanted.operand,
                        .expected = wanted.expected};
  auto outcome = pages::node()->atomic(reinterpret_cast<const void*>(address), op, before);
  if (!outcome.ok()) pages::node()->fail(outcome.message);
  errno = saved;
  return true;
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

std::string setting(const char* name) {
  const char* asked = std::getenv(name);
  return asked == nullptr ? "" : asked;
}

// Not of the environment later on, which is the program's.
const std::string& way_of_atomics() {
  static const std::string way = setting("TERRANE_ATOMICS");
  return way;
}

// Whether a fence of the program is OpenMP's flush.
bool serves_fences() {
  static const bool serves = !setting("TERRANE_FENCES").empty();
  return serves;
}

// A library may count on the order that its instructions have (locks, std::shared_ptr).
patch::Changes changes_of(const platform::Module& module) {
  bool is_program = module.path.empty();
  return is_program && way_of_atomics() == "relaxed" ? patch::Changes::kByService
                                                     : patch::Changes::kInPlace;
}

std::uintptr_t trampoline_of(std::uintptr_t site) {
  std::uintptr_t locked = patch::trampoline_of(site);
  return locked != 0 || !sees_accesses() ? locked : trampoline_of_access(site);
}

const std::string& path_of(const platform::Module& module) {
  static const std::string own = "/proc/self/exe";
  return module.path.empty() ? own : module.path;
}

// An error: it cannot be served.
base::Result<patch::Plan> plan_of(const patch::KeptPlans::Wanted& wanted, const std::string& name) {
  auto file = patch::ElfCode::open(wanted.path);
  if (!file) return file.error();
  patch::Plan plan = patch::make_plan(file.value(), wanted.without_jumps, wanted.fences);
  if (file.value().has_text_relocations() && !plan.sites.empty())
    return base::error("{}: the loader changes its code (text relocations)", name);
  if (plan.doubts.empty()) return plan;
  std::string function = file.value().function_at(plan.doubts[0]);
  return base::error("{} has data among its code at {:#x}{}{}, which may be a locked instruction",
                     name, plan.doubts[0], function.empty() ? "" : " in ", function);
}

void watch_reads(const platform::Module& module, const std::string& name) {
  auto file = patch::ElfCode::open(path_of(module));
  base::Result<> seen =
      file.ok() ? see_accesses(file.value(), module.address, name) : base::Result<>(file.error());
  if (seen) return;
  base::log("--check=races=reads: {}", seen.error().message);
  std::_Exit(1);
}

// sees: whether what it reads may be looked at.
void serve_module(const platform::Module& module, bool sees) {
  static const patch::KeptPlans kept(patch::folder_of_plans());
  std::string name = module.path.empty() ? "the program" : module.path;
  patch::KeptPlans::Wanted wanted{path_of(module),
                                  way_of_atomics() == "trap",
                                  serves_fences() ? patch::Fences::kFind : patch::Fences::kLeave,
                                  module.address,
                                  {}};
  for (const platform::CodePages& pages : module.code)
    wanted.code.push_back({pages.begin, pages.end});
  auto plan = kept.plan(wanted, [&] { return plan_of(wanted, name); });
  if (!plan) refuse(plan.error().message);
  if (auto applied = patch::apply(plan.value(), module.address, name, changes_of(module)); !applied)
    refuse(applied.error().message);
  if (sees && sees_accesses()) watch_reads(module, name);
}

bool is_known(const Libraries* known, const platform::Module& module) {
  return known != nullptr &&
         std::any_of(known->modules.begin(), known->modules.end(), [&](const auto& one) {
           return one.address == module.address && one.path == module.path;
         });
}

}  // namespace

bool serves_atomics() { return !way_of_atomics().empty(); }

void serve_locked_code(const Libraries& found, const Libraries* known) {
  if (!serves_atomics()) return;
  if (known == nullptr) {
    patch::set_service({is_served_word, enter, change});
    if (auto served = platform::serve_traps(trampoline_of); !served) refuse(served.error().message);
  }
  for (std::size_t i = 0; i < found.modules.size(); ++i)
    if (!is_known(known, found.modules[i]) && is_patched(found.modules[i], found.owners[i]))
      serve_module(found.modules[i], found.owners[i] != platform::ModuleOwner::kLanguage);
}

}  // namespace terrane::frontend::threads
