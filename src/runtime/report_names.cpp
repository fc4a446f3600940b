#include "runtime/report_names.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/unique_fd.h"
#include "protocol/core/object_ids.h"
#include "runtime/wait_reports.h"

namespace terrane::runtime {
namespace {

bool write_file(const std::string& path, std::string_view text) {
  base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return false;
  while (!text.empty()) {
    ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

NamedVariable variable_of(std::uint64_t offset, const PageSpace& space, Engine& engine,
                          const ProgramNames& names) {
  std::uint64_t unit = space.unit();
  auto address = reinterpret_cast<std::uintptr_t>(space.address_of(offset / unit)) + offset % unit;
  if (names.variable) {
    NamedVariable named = names.variable(address);
    if (!named.name.empty()) return named;
  }
  protocol::Region region = engine.allocation_of(offset / unit);
  if (region.blocks.count == 0) return {fmt::format("memory at {:#x}", address), 0};
  std::string name = region.name;
  if (names.allocation) name = names.allocation(name);
  if (name.empty()) name = "an allocation";
  return {std::move(name), offset - region.blocks.first * unit};
}

std::string name_of_lock(std::uint64_t token, const ProgramNames& names) {
  LockId lock{token};
  if (names.variable && protocol::is_object(lock)) {
    NamedVariable variable = names.variable(protocol::address_of(lock));
    if (!variable.name.empty())
      return variable.offset == 0
                 ? fmt::format("the lock {}", variable.name)
                 : fmt::format("the lock {}+{:#x}", variable.name, variable.offset);
  }
  return name_of_token(lock);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void write_check_output(const std::string& path, std::string_view text) {
  if (!path.empty() && !write_file(path, text))
    base::log("--check-output {}: cannot write it: {}", path, std::strerror(errno));
}

}  // namespace terrane::runtime
