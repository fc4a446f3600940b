#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/engine.h"
#include "runtime/page_space.h"
#include "runtime/program_names.h"

namespace terrane::runtime {

// What holds the byte at this offset of shared memory. What the front-end cannot name is a part of
// an allocation.
NamedVariable variable_of(std::uint64_t offset, const PageSpace& space, Engine& engine,
                          const ProgramNames& names);

// A lock by its token: "the lock hot_lock", or by its kind and address or number.
std::string name_of_lock(std::uint64_t token, const ProgramNames& names);

// As a string of JSON.
std::string quoted(std::string_view text);

// Writes the file of --check-output, or logs why it cannot.
void write_check_output(const std::string& path, std::string_view text);

}  // namespace terrane::runtime
