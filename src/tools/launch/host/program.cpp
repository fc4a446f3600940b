#include "tools/launch/host/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "tools/launch/exit_codes.h"

namespace terrane::tools {
namespace {

bool is_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

ProgramLookup refuse(int code, base::Error error) { return {"", code, std::move(error)}; }

ProgramLookup check_path(const std::string& name) {
  struct stat status {};
  if (::stat(name.c_str(), &status) != 0) {
    return refuse(errno == EACCES ? kExitNotExecutable : kExitNotFound,
                  base::error("cannot start {}: {}", name, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    return refuse(kExitNotExecutable, base::error("cannot start {}: it is a folder", name));
  }
  if (::access(name.c_str(), X_OK) != 0) {
    return refuse(kExitNotExecutable,
                  base::error("cannot start {}: it is not executable (chmod +x {})", name, name));
  }
  return {name, 0, {}};
}

}  // namespace

ProgramLookup find_program(const std::string& name, const std::string& search_path) {
  if (name.empty()) return refuse(kExitNotFound, base::error("the program's name is empty"));
  if (name.find('/') != std::string::npos) return check_path(name);
  std::istringstream folders(search_path);
  std::string folder, found;
  while (std::getline(folders, folder, ':')) {
    std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (!is_file(path)) continue;
    if (::access(path.c_str(), X_OK) == 0) return {path, 0, {}};
    found = path;
  }
  if (!found.empty()) return check_path(found);
  std::string hint = is_file(name) ? fmt::format("; there is one in this folder: ./{}", name) : "";
  return refuse(kExitNotFound, base::error("cannot find a program {} in PATH{}", name, hint));
}

}  // namespace terrane::tools
