#pragma once

namespace terrane::platform {

// What `terrane run` sets for a node that has libterrane by LD_PRELOAD: the file of the library,
// and that of the program that is to have it. libterrane takes itself out of LD_PRELOAD in that
// program, so that its children do not have it.
inline constexpr const char* kPreloadedLibraryVariable = "TERRANE_PRELOADED_LIBRARY";
inline constexpr const char* kPreloadedProgramVariable = "TERRANE_PRELOADED_PROGRAM";

}  // namespace terrane::platform
