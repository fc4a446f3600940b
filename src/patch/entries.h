#pragma once

#include <cstdint>

namespace terrane::patch {

// What is asked of whoever owns shared memory. All are called in the thread that performs the
// operation, on its stack, with errno as the program left it, which they keep.
struct Service {
  // Whether enter is to be called for a word at this address. It may use general registers alone,
  // and what it calls must, too: vector registers hold the program's numbers.
  bool (*is_served)(std::uintptr_t address) = nullptr;
  // Before the instruction changes a word of so many bytes; 0 bytes: before a fence.
  void (*enter)(std::uintptr_t address, std::uint64_t bytes) = nullptr;
};

// Before anything is patched; again only while no patched code runs.
void set_service(const Service& service);

// Code that trampolines call (emit.h), by its address.
std::uintptr_t check_entry();
std::uintptr_t check_flags_entry();
std::uintptr_t enter_entry();

}  // namespace terrane::patch
