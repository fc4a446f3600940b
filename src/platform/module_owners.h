#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "platform/modules.h"

namespace terrane::platform {

// To whom the static data of a module belong.
enum class ModuleOwner : std::uint8_t {
  kProgram,   // the program, what it needs (DT_NEEDED), and what it opens
  kLanguage,  // the C library, the runtimes of compilers and sanitizers, the kernel's code
  kTerrane,   // Terrane, and what Terrane alone needs or opens
  kNode,      // a library of the program that each node has for itself: is_node_library()
  kBoth,      // the program and a library that Terrane opens need it: it stays private
};

// The owner of each module, in the order of `modules`. `opened` says of a module whether Terrane
// has opened it (UCX, OpenSSL, PMIx): these, what they need and what needs them is Terrane's, but
// for what the program reaches by itself. Pure.
std::vector<ModuleOwner> owners_of(const std::vector<Module>& modules,
                                   const std::function<bool(const Module&)>& opened);

// Whether a library by its name is one of a language.
bool is_language_library(std::string_view name);

// Whether a library, by its path, computes by threads of its own that wait for each other by plain
// loads and stores, in memory of its own: that is right on one node only. OpenBLAS, BLIS,
// and OpenMP libraries other than Terrane's.
bool is_node_library(std::string_view path);

}  // namespace terrane::platform
