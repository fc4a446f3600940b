#include "platform/module_owners.h"

#include <algorithm>

namespace terrane::platform {
namespace {

// Beginnings of the names of libraries that are a language's: their functions are served one by
// one, and their data are each node's own.
constexpr std::string_view kLanguages[] = {
    "ld-",         "ld64.",      "libc.",       "libc-",       "libm.",    "libm-",
    "libmvec",     "libpthread", "libdl.",      "libdl-",      "librt.",   "librt-",
    "libutil.",    "libutil-",   "libanl.",     "libanl-",     "libnss_",  "libstdc++.",
    "libc++",      "libgcc_s",   "libgfortran", "libquadmath", "libgomp.", "libomp.",
    "libatomic.",  "libasan.",   "libtsan.",    "libubsan.",   "liblsan.", "libhwasan.",
    "libclang_rt", "linux-vdso", "linux-gate",  "vgpreload_",
};

// Parts of the paths of libraries that each node has for itself.
constexpr std::string_view kOfNodes[] = {"openblas", "/libblis", "/blis-"};
// Other OpenMP libraries than Terrane's, also under the names that wheels of Python give them.
constexpr std::string_view kOpenMp[] = {"/libgomp.", "/libgomp-", "/libomp.", "/libomp-",
                                        "/libiomp5."};
// Installed, and in the folder of a build.
constexpr std::string_view kOpenMpOfTerrane = "/terrane/omp/", kOpenMpOfBuild = "/frontend/omp/";

using Marks = std::vector<bool>;

bool is_terranes(const Module& module) { return module.name.starts_with("libterrane"); }

bool satisfies(const Module& module, const std::string& needed) {
  return needed == (module.soname.empty() ? module.name : module.soname) || needed == module.name;
}

bool needs(const Module& one, const Module& other) {
  return std::any_of(one.needed.begin(), one.needed.end(),
                     [&](const std::string& name) { return satisfies(other, name); });
}

// Marks what marked modules need, but for languages; not what Terrane's own libraries need, unless
// `through_terrane`.
void add_needed(const std::vector<Module>& modules, Marks& marks, bool through_terrane) {
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = 0; i < modules.size(); ++i) {
      if (!marks[i] || (!through_terrane && is_terranes(modules[i]))) continue;
      for (std::size_t j = 0; j < modules.size(); ++j) {
        if (marks[j] || is_language_library(modules[j].name) || !needs(modules[i], modules[j]))
          continue;
        marks[j] = grows = true;
      }
    }
  }
}

// Marks what needs a module that Terrane alone has opened, such as the parts that UCX opens in
// turn.
void add_dependents(const std::vector<Module>& modules, const Marks& by_program, Marks& by_us) {
  const Marks opened = by_us;
  for (std::size_t i = 1; i < modules.size(); ++i)
    for (std::size_t j = 1; j < modules.size(); ++j)
      if (opened[j] && !by_program[j] && needs(modules[i], modules[j])) by_us[i] = true;
}

}  // namespace

bool is_language_library(std::string_view name) {
  return std::any_of(std::begin(kLanguages), std::end(kLanguages),
                     [name](std::string_view language) { return name.starts_with(language); });
}

bool is_node_library(std::string_view path) {
  auto is_in_path = [path](std::string_view part) { return path.find(part) != path.npos; };
  if (std::any_of(std::begin(kOfNodes), std::end(kOfNodes), is_in_path)) return true;
  return std::any_of(std::begin(kOpenMp), std::end(kOpenMp), is_in_path) &&
         !is_in_path(kOpenMpOfTerrane) && !is_in_path(kOpenMpOfBuild);
}

std::vector<ModuleOwner> owners_of(const std::vector<Module>& modules,
                                   const std::function<bool(const Module&)>& opened) {
  std::size_t count = modules.size();
  Marks by_program(count), by_us(count);
  if (count > 0) by_program[0] = true;
  add_needed(modules, by_program, false);
  for (std::size_t i = 1; i < count; ++i)
    by_us[i] = !is_language_library(modules[i].name) && opened(modules[i]);
  add_needed(modules, by_us, true);
  add_dependents(modules, by_program, by_us);
  for (std::size_t i = 1; i < count; ++i)
    if (is_terranes(modules[i])) by_us[i] = true;
  add_needed(modules, by_us, true);
  // The rest was opened by the program, or put in front of it by its user.
  for (std::size_t i = 1; i < count; ++i)
    if (!by_us[i]) by_program[i] = true;
  add_needed(modules, by_program, false);

  std::vector<ModuleOwner> owners;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0 && is_language_library(modules[i].name) && !is_node_library(modules[i].path)) {
      owners.push_back(ModuleOwner::kLanguage);
    } else if (is_terranes(modules[i]) || !by_program[i]) {
      owners.push_back(ModuleOwner::kTerrane);
    } else if (i != 0 && is_node_library(modules[i].path)) {
      owners.push_back(ModuleOwner::kNode);
    } else {
      owners.push_back(by_us[i] ? ModuleOwner::kBoth : ModuleOwner::kProgram);
    }
  }
  return owners;
}

}  // namespace terrane::platform
