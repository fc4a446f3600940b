#include "bootstrap/adopting_engine.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bootstrap/card.h"
#include "bootstrap/packet.h"

namespace terrane::bootstrap {
namespace {

constexpr int kPatienceMs = 30'000;

// The file that holds this code.
std::filesystem::path own_file() {
  Dl_info info{};
  std::error_code ignored;
  if (::dladdr(reinterpret_cast<const void*>(&own_terrane), &info) == 0 || !info.dli_fname)
    return {};
  return std::filesystem::canonical(info.dli_fname, ignored);
}

class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;

  // A session of its own: what the launcher sends to the node's process group is not for the
  // engine. `order` becomes its standard input; only standard error stays what it is here.
  void set(int order) {
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    ::posix_spawn_file_actions_adddup2(&actions_, order, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
  }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

// The process that is started forks the engine and ends, so that the engine is nobody's child.
base::Result<> spawn(const std::string& terrane, int order) {
  SpawnSettings settings;
  settings.set(order);
  std::string program = terrane, command = "adopt";
  char* argv[] = {program.data(), command.data(), nullptr};
  pid_t pid = 0;
  errno = ::posix_spawn(&pid, terrane.c_str(), settings.actions(), settings.attributes(), argv,
                        environ);
  if (errno != 0) return base::errno_error(fmt::format("cannot start {} adopt", terrane));
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return {};
}

base::Result<std::string> await_ready(int socket) {
  pollfd ready{socket, POLLIN, 0};
  int count = 0;
  do {
    count = ::poll(&ready, 1, kPatienceMs);
  } while (count < 0 && errno == EINTR);
  PacketReader reader;
  PacketStatus status = count > 0 ? reader.receive(socket, MSG_DONTWAIT) : PacketStatus::kAgain;
  if (status == PacketStatus::kDone && reader.header().kind == MessageKind::kReady) {
    return std::string(reader.text());
  }
  if (status == PacketStatus::kDone && reader.header().kind == MessageKind::kRefused) {
    return base::Error{std::string(reader.text())};
  }
  if (status == PacketStatus::kAgain) {
    return base::error("`terrane adopt` has said nothing for {} s", kPatienceMs / 1000);
  }
  return base::error("`terrane adopt` ended at once: is that command of another version?");
}

}  // namespace

base::Result<std::string> own_terrane() {
  std::filesystem::path tried;
  if (const char* prefix = std::getenv("TERRANE_PREFIX")) {
    tried = std::filesystem::path(prefix) / "bin/terrane";
    if (::access(tried.c_str(), X_OK) == 0) return tried.string();
  } else {
    std::filesystem::path folder = own_file().parent_path();
    for (const char* relative :
         {"../bin/terrane", "../../bin/terrane", "../../../bin/terrane", "terrane"}) {
      tried = folder / relative;
      if (::access(tried.c_str(), X_OK) == 0) return tried.lexically_normal().string();
    }
    tried = (folder / "../bin/terrane").lexically_normal();
  }
  return base::error(
      "a job that mpirun or srun starts needs the command `terrane` on every host, and there is no "
      "{}; set TERRANE_PREFIX to the folder that Terrane is installed in",
      tried.string());
}

base::Result<std::string> start_adopting_engine(const AdoptionOrder& order, const Door& door) {
  auto terrane = own_terrane();
  if (!terrane) return terrane.error();
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
    return base::errno_error("cannot make a socket to start the engine of this host");
  }
  base::UniqueFd ours(pair[0]), engines(pair[1]);
  if (auto started = spawn(terrane.value(), engines.get()); !started) return started.error();
  engines.reset();
  std::vector<std::byte> bytes = encode_order(order);
  const int fds[1] = {door.socket.get()};
  CardSender sender(0, bytes, fds, MessageKind::kAdopt);
  if (sender.send(ours.get(), 0) == PacketStatus::kFailed) {
    return base::errno_error("cannot tell the engine of this host what to do");
  }
  return await_ready(ours.get());
}

}  // namespace terrane::bootstrap
