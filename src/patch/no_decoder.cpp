// In place of the decoder and of what needs it, where Zydis is missing and on other machines than
// x86-64: nothing is patched.
#include "patch/accesses.h"
#include "patch/apply.h"
#include "patch/entries.h"
#include "patch/locked_instruction.h"
#include "patch/operands.h"

namespace terrane::patch {

bool can_decode() { return false; }

Decoded decode(std::span<const std::uint8_t>, std::uint64_t address, Fences, Until) {
  Decoded none;
  none.end = address;
  none.is_good = false;
  return none;
}

std::size_t next_candidate(std::span<const std::uint8_t> code, std::size_t, Fences) {
  return code.size();
}

std::size_t padding(std::span<const std::uint8_t>) { return 0; }

std::vector<Operand> operands_of(std::uintptr_t, const greg_t*) { return {}; }

void set_service(const Service&) {}

base::Result<> apply(const Plan&, std::uint64_t, const std::string& name, Changes) {
  return base::error("{}: Terrane was built without Zydis", name);
}

std::uintptr_t trampoline_of(std::uintptr_t) { return 0; }

std::vector<MemoryAccess> find_accesses(std::span<const std::uint8_t>, std::uint64_t) { return {}; }

void set_access_note(NoteAccess) {}

base::Result<> watch_accesses(const ElfCode&, std::uint64_t, const std::string& name) {
  return base::error("{}: Terrane was built without Zydis", name);
}

std::span<const AccessSite> access_sites() { return {}; }
void disarm(const AccessSite&) {}
void arm(const AccessSite&) {}
const AccessSite* access_site_at(std::uintptr_t) { return nullptr; }

}  // namespace terrane::patch
