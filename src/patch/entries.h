#pragma once

#include <cstdint>

namespace terrane::patch {

// Added to the number of bytes of an instruction that locks are taken by.
inline constexpr std::uint64_t kMayTakeLock = 64;

// What is asked of whoever owns shared memory. All are called in the thread that performs the
// operation, on its stack, with errno as the program left it, which they keep.
struct Service {
  // Whether a word at this address is shared. It may use general registers alone, and what it calls
  // must, too: vector registers hold the program's numbers.
  bool (*is_shared)(std::uintptr_t address) = nullptr;
  // Before and after the instruction changes a shared word of so many bytes (and kMayTakeLock). No
  // other thread of the job is to change it in between, and each sees what the one before it has
  // done.
  void (*enter)(std::uintptr_t address, std::uint64_t bytes) = nullptr;
  void (*leave)() = nullptr;
};

// Before anything is patched; again only while no patched code runs.
void set_service(const Service& service);

// Code that trampolines call (emit.h), by its address.
std::uintptr_t check_entry();
std::uintptr_t check_flags_entry();
std::uintptr_t enter_entry();
std::uintptr_t leave_entry();

}  // namespace terrane::patch
