#include "frontend/omp/dependences.h"

#include <cstdlib>
#include <utility>

#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {

Dependences::Dependences(void* const* list) {
  if (list != nullptr) read(list);
}

Dependences::Dependences(Dependences&& other) noexcept
    : all_(std::exchange(other.all_, nullptr)), count_(std::exchange(other.count_, 0)) {}

Dependences& Dependences::operator=(Dependences&& other) noexcept {
  std::swap(all_, other.all_);
  std::swap(count_, other.count_);
  return *this;
}

Dependences::~Dependences() { std::free(all_); }

// Two forms: how many there are, how many of them are out or inout, then the addresses; or 0, how
// many there are, how many are out or inout, mutexinoutset, in, and the others are depobj.
void Dependences::read(void* const* list) {
  auto number = [list](std::size_t i) { return reinterpret_cast<std::size_t>(list[i]); };
  bool is_long = number(0) == 0;
  std::size_t count = number(is_long ? 1 : 0), outs = number(is_long ? 2 : 1);
  std::size_t mutexes = is_long ? number(3) : 0;
  std::size_t ins = is_long ? number(4) : count - outs;
  void* const* next = list + (is_long ? 5 : 2);
  all_ = static_cast<One*>(std::calloc(count + 1, sizeof(One)));
  if (all_ == nullptr) terrane_program_fail("no memory for the dependences of a task");
  for (; count_ < count; ++count_, ++next) {
    Kind kind = count_ < outs ? kInOut : count_ < outs + mutexes ? kMutex : kIn;
    if (count_ < outs + mutexes + ins) {
      all_[count_] = {*next, kind};
    } else {
      auto* object = static_cast<void* const*>(*next);
      all_[count_] = {object[0], static_cast<Kind>(reinterpret_cast<std::uintptr_t>(object[1]))};
    }
  }
}

bool Dependences::conflict(const One& later, const One& earlier) {
  bool is_same = later.address == earlier.address;
  if (!is_same && later.address != nullptr && earlier.address != nullptr) return false;
  bool may_run_together = later.kind == kIn || later.kind == kInOutSet;
  return later.kind != earlier.kind || !may_run_together;
}

bool Dependences::wait_for(const Dependences& earlier) const {
  for (std::size_t i = 0; i < count_; ++i)
    for (std::size_t k = 0; k < earlier.count_; ++k)
      if (conflict(all_[i], earlier.all_[k])) return true;
  return false;
}

}  // namespace terrane::frontend::omp
