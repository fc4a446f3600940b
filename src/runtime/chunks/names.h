#pragma once

#include <string>
#include <string_view>

namespace terrane::runtime::chunks {

// What the names of chunks begin with that programs do not see. A program cannot give such a name
// unless it means harm.
inline constexpr std::string_view kLockPrefix = "\1lock ";
inline constexpr std::string_view kBarrierPrefix = "\1barrier ";
inline constexpr std::string_view kSignalPrefix = "\1signal ";
inline constexpr std::string_view kChainPrefix = "\1chain ";
// Of the chunk that tells the type of another chunk's elements.
inline constexpr std::string_view kTypePrefix = "\1type ";
// Of the signal that a chain has all its pieces.
inline constexpr std::string_view kChainMadePrefix = "\1chain made ";

// How messages name the chunk of that name: "chunk 'x'", or "lock 'x'" where it carries a lock.
std::string title_of(std::string_view name);

}  // namespace terrane::runtime::chunks
