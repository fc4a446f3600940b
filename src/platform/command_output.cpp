#include "platform/command_output.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace terrane::platform {

std::string command_output(const char* const* command, char* const* variables) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  int failed = ::posix_spawnp(&child, command[0], &actions, nullptr,
                              const_cast<char* const*>(command), variables);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string output;
  char part[512];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;)
    output.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  if (failed == 0) ::waitpid(child, nullptr, 0);
  return output;
}

}  // namespace terrane::platform
