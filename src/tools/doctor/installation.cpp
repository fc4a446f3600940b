#include <fmt/format.h>

#include <filesystem>

#include "tools/doctor/checks.h"
#include "tools/doctor/gather.h"
#include "tools/doctor/system_text.h"

namespace terrane::tools {

namespace fs = std::filesystem;

InstallationFacts installation_of(const std::string& command) {
  InstallationFacts facts;
  std::error_code ignored;
  facts.version = TERRANE_VERSION;
  fs::path folder = fs::path(command).parent_path().parent_path();  // of .../bin/terrane
  facts.folder = folder;
  facts.build_tree = fs::exists(folder / "CMakeCache.txt", ignored);
  facts.package = first_line(folder / "share/terrane/installed_by").value_or("");
  return facts;
}

InstallationFacts gather_installation() {
  std::error_code unknown;
  fs::path command = fs::read_symlink("/proc/self/exe", unknown);
  InstallationFacts facts = installation_of(command);
  std::string other = in_path("terrane");
  if (!other.empty() && !fs::equivalent(other, command, unknown)) facts.other = other;
  return facts;
}

void check_installation(const InstallationFacts& installation, Findings& out) {
  std::string how = installation.build_tree        ? "build tree, not installed"
                    : installation.package.empty() ? "installation by hand; it may be moved"
                                                   : installation.package;
  std::string text = fmt::format("{}, {} ({})", installation.version, how, installation.folder);
  if (!installation.other.empty()) text += fmt::format("; PATH finds {}", installation.other);
  out.push_back({Level::kOk, "Terrane", text});
}

}  // namespace terrane::tools
