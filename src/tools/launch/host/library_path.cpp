#include "tools/launch/host/library_path.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace terrane::tools {
namespace {

std::vector<std::string> folders_of(const std::string& path) {
  std::vector<std::string> folders;
  std::istringstream text(path);
  for (std::string folder; std::getline(text, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

// What the loader puts in the place of $ORIGIN: the folder of the program.
std::string with_origin(std::string folder, const std::string& program) {
  std::string origin = program.substr(0, program.rfind('/'));
  for (std::string name : {"${ORIGIN}", "$ORIGIN"}) {
    std::size_t at = folder.find(name);
    if (at != std::string::npos) folder.replace(at, name.size(), origin);
  }
  return folder;
}

bool is_in(const std::string& library, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return ::access((folder + "/" + library).c_str(), R_OK) == 0;
  });
}

// Whether the loader finds every library of Terrane that the program is linked with.
bool finds_libraries(const ProgramFile& program, const std::string& now) {
  std::vector<std::string> folders = folders_of(now);
  for (const std::string& folder : folders_of(program.own_path))
    folders.push_back(with_origin(folder, program.path));
  return std::all_of(program.terrane_libraries.begin(), program.terrane_libraries.end(),
                     [&](const std::string& library) { return is_in(library, folders); });
}

}  // namespace

std::string library_path(const ProgramFile& program, const std::string& now,
                         const std::string& folder) {
  if (folder.empty()) return now;
  std::vector<std::string> folders = folders_of(now);
  if (std::find(folders.begin(), folders.end(), folder) != folders.end()) return now;
  if (!program.terrane_libraries.empty() && finds_libraries(program, now)) return now;
  return now.empty() ? folder : now + ":" + folder;
}

std::string installed_library_folder() {
  std::string library = installed_library("/libterrane_runtime.so.0");
  return library.substr(0, library.rfind('/') + (library.empty() ? 1 : 0));
}

}  // namespace terrane::tools
