#include "frontend/threads/library_constructors.h"

#include <unistd.h>

#include <algorithm>

#include "frontend/threads/opening.h"

namespace terrane::frontend::threads {
namespace {

using platform::Constructors;
using platform::Module;

// The modules' numbers, each behind those of the modules that it needs.
class Order {
 public:
  explicit Order(const std::vector<Module>& modules)
      : modules_(modules), seen_(modules.size(), false) {
    for (std::size_t i = 0; i < modules.size(); ++i) visit(i);
  }
  const std::vector<std::size_t>& numbers() const { return numbers_; }

 private:
  void visit(std::size_t number) {
    if (seen_[number]) return;
    seen_[number] = true;
    for (const std::string& name : modules_[number].needed)
      for (std::size_t i = 0; i < modules_.size(); ++i)
        if (modules_[i].soname == name || modules_[i].name == name) visit(i);
    numbers_.push_back(number);
  }

  const std::vector<Module>& modules_;
  std::vector<bool> seen_;
  std::vector<std::size_t> numbers_;
};

}  // namespace

std::vector<Constructors> constructors_of(platform::ModuleOwner owner, const Libraries& found,
                                          const std::vector<Constructors>& all) {
  std::vector<Constructors> own;
  Order order(found.modules);
  for (std::size_t number : order.numbers()) {
    if (found.owners[number] != owner) continue;
    std::uintptr_t address = found.modules[number].address;
    auto one = std::find_if(all.begin(), all.end(),
                            [&](const auto& each) { return each.address == address; });
    if (one != all.end()) own.push_back(*one);
  }
  return own;
}

void run_constructors(const std::vector<Constructors>& constructors) {
  using Constructor = void(int, char**, char**);
  Arguments main = arguments_of_main();
  for (const Constructors& one : constructors) {
    if (one.first != 0) reinterpret_cast<Constructor*>(one.first)(main.count, main.list, environ);
    const auto* list = reinterpret_cast<Constructor* const*>(one.list);
    for (std::size_t i = 0; i < one.count; ++i) list[i](main.count, main.list, environ);
  }
}

}  // namespace terrane::frontend::threads
