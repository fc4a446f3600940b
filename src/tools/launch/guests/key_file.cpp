#include "tools/launch/guests/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/unique_fd.h"

namespace terrane::tools {

base::Result<stream::Secret> read_key(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return base::errno_error("--key " + path);
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return base::error("--key {}: others may read it; use: chmod 600 {}", path, path);
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  auto secret = stream::Secret::parse(text);
  if (!secret)
    return base::error("--key {}: is no key; copy the file that terrane run --key made", path);
  return *secret;
}

base::Result<stream::Secret> read_or_make_key(const std::string& path) {
  base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file && errno == EEXIST) return read_key(path);
  if (!file) return base::errno_error("--key " + path);
  auto secret = stream::Secret::random();
  if (!secret) return secret;
  std::string text = secret.value().hex() + "\n";
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return base::errno_error("--key " + path);
  return secret;
}

}  // namespace terrane::tools
