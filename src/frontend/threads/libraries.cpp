#include "frontend/threads/libraries.h"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "frontend/threads/library_window.h"

namespace terrane::frontend::threads {
namespace {

using platform::ModuleOwner;

std::atomic<const Libraries*> current{nullptr};

// Languages whose code allocates what the program goes on to use.
constexpr std::string_view kAllocating[] = {"libstdc++.", "libc++.", "libgfortran.", "libgomp."};

bool contains(const std::vector<platform::CodePages>& pages, const void* code) {
  auto at = reinterpret_cast<std::uintptr_t>(code);
  return std::any_of(pages.begin(), pages.end(),
                     [at](const auto& one) { return at - one.begin < one.end - one.begin; });
}

}  // namespace

void Libraries::add(platform::Module module, ModuleOwner owner, bool allocates) {
  auto add_to = [&](std::vector<platform::CodePages>& pages) {
    pages.insert(pages.end(), module.code.begin(), module.code.end());
  };
  if (owner == ModuleOwner::kProgram) add_to(own);
  if (owner == ModuleOwner::kNode) add_to(nodes);
  if (allocates) add_to(allocating);
  modules.push_back(std::move(module));
  owners.push_back(owner);
}

Libraries Libraries::now(const Libraries* before) {
  Libraries found;
  std::vector<platform::Module> modules = platform::loaded_modules();
  std::vector<ModuleOwner> owners =
      platform::owners_of(modules, [&](const platform::Module& module) {
        return before != nullptr &&
               std::none_of(before->modules.begin(), before->modules.end(), [&](const auto& known) {
                 return known.address == module.address && known.path == module.path;
               });
      });
  for (std::size_t i = 0; i < modules.size(); ++i) {
    platform::Module& module = modules[i];
    // A library that keeps nothing is good for both: the program's calls give the program memory.
    bool serves_both = owners[i] != ModuleOwner::kNode && owners[i] != ModuleOwner::kLanguage &&
                       !module.name.starts_with("libterrane") && platform::keeps_nothing(module);
    bool allocates = owners[i] == ModuleOwner::kProgram || serves_both ||
                     (owners[i] != ModuleOwner::kNode &&
                      std::any_of(std::begin(kAllocating), std::end(kAllocating),
                                  [&](auto name) { return module.name.starts_with(name); }));
    found.add(std::move(module), owners[i], allocates);
  }
  return found;
}

// A library in the window may run constructors before it is known.
bool Libraries::allocates_shared(const void* caller) const {
  return contains(allocating, caller) ||
         (library_window::contains(caller) && !contains(nodes, caller));
}

bool Libraries::is_own(const void* code) const {
  return contains(own, code) || (library_window::contains(code) && !contains(nodes, code));
}

bool Libraries::is_nodes(const void* code) const { return contains(nodes, code); }

platform::ModuleOwner Libraries::owner_at(std::uintptr_t address) const {
  for (std::size_t i = 0; i < modules.size(); ++i)
    if (modules[i].address == address) return owners[i];
  return ModuleOwner::kTerrane;
}

std::string Libraries::used_by_both() const {
  std::string names;
  for (std::size_t i = 0; i < modules.size(); ++i)
    if (owners[i] == ModuleOwner::kBoth && !platform::keeps_nothing(modules[i]))
      names += (names.empty() ? "" : " ") + modules[i].name;
  return names;
}

const Libraries& libraries() { return *current.load(std::memory_order_acquire); }

void set_libraries(Libraries libraries) {
  current.store(new Libraries(std::move(libraries)), std::memory_order_release);
}

}  // namespace terrane::frontend::threads
