#pragma once

#include <string>
#include <string_view>

namespace terrane::runtime::chunks {

// Prefixes of the names of chunks that programs do not see. A program uses such a name only if it
// means harm.
inline constexpr std::string_view kLockPrefix = "\1lock ";
inline constexpr std::string_view kBarrierPrefix = "\1barrier ";
inline constexpr std::string_view kSignalPrefix = "\1signal ";
inline constexpr std::string_view kChainPrefix = "\1chain ";
// Of a chunk that has the type of another chunk's elements.
inline constexpr std::string_view kTypePrefix = "\1type ";
// Of the signal that a chain has all its pieces.
inline constexpr std::string_view kChainMadePrefix = "\1chain made ";

// How messages name the chunk of that name: "chunk 'x'", or "lock 'x'" if it implements a lock.
std::string title_of(std::string_view name);

}  // namespace terrane::runtime::chunks
