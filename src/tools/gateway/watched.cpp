#include "tools/gateway/watched.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/loop.h"

namespace terrane::tools {
namespace {

// True: there was a sign. False: nothing came, or nothing ever comes.
bool take_signs(int fd, bool& ended) {
  char bytes[64];
  ssize_t got = ::read(fd, bytes, sizeof bytes);
  ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  return got > 0;
}

void watch(pid_t child, int fd, std::uint64_t limit_ms, const std::string& subject) {
  Vigil vigil(1, limit_ms);
  for (bool ended = false; !ended;) {
    pollfd ready{fd, POLLIN, 0};
    bool has_news = ::poll(&ready, 1, static_cast<int>(vigil.period_ms())) > 0;
    if (has_news && take_signs(fd, ended)) vigil.heard(0, now_ms());
    if (vigil.look(now_ms()).empty()) continue;
    base::log_line(
        fmt::format("{} was stopped or got no processor for {:.1f} s, and is being ended", subject,
                    static_cast<double>(limit_ms) / 1000));
    ::kill(child, SIGKILL);
    return;
  }
}

}  // namespace

int run_watched(std::uint64_t limit_ms, const std::string& subject,
                const std::function<int(base::UniqueFd signs)>& work) {
  int pipe[2];
  if (limit_ms == 0 || ::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0) return work(base::UniqueFd());
  base::UniqueFd signs_read(pipe[0]), signs_write(pipe[1]);
  pid_t parent = ::getpid();
  pid_t child = ::fork();
  if (child < 0) return work(base::UniqueFd());
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kExitFailure);
    signs_read.reset();
    ::prctl(PR_SET_NAME, "gateway");
    int code = work(std::move(signs_write));
    ::kill(parent, SIGCONT);  // a stopped one would stay when the job has ended
    ::_exit(code);
  }
  signs_write.reset();
  watch(child, signs_read.get(), limit_ms, subject);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? kExitSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace terrane::tools
