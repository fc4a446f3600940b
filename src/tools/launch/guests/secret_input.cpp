#include "tools/launch/guests/secret_input.h"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tools/launch/host/agent_command.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kMaxLine = 256;
constexpr int kInputTimeoutMs = 30'000;

// The first line of the standard input, without its end; what comes after it is not read.
std::string read_line() {
  std::string line;
  for (char c = 0; line.size() < kMaxLine;) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    if (::poll(&ready, 1, kInputTimeoutMs) <= 0 || ::read(STDIN_FILENO, &c, 1) != 1) break;
    if (c == '\n') break;
    if (c != '\r') line += c;
  }
  return line;
}

}  // namespace

std::optional<stream::Secret> take_secret(int& lifeline) {
  if (const char* text = std::getenv(kSecretVariable)) {
    auto secret = stream::Secret::parse(text);
    ::unsetenv(kSecretVariable);
    return secret;
  }
  lifeline = STDIN_FILENO;
  return stream::Secret::parse(read_line());
}

}  // namespace terrane::tools
