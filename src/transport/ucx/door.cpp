#include "transport/ucx/door.h"

#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>

#include "base/unique_fd.h"
#include "platform/imports.h"

namespace terrane::transport::ucx {
namespace {

using Word = std::array<std::byte, 32>;

// The libraries of UCX: libucs has the calls today.
constexpr const char* kLibraries = "libuc";
// The kernel keeps a connection to itself until bytes have come, or so long.
constexpr int kDefer_s = 10;
// How long a peer's kernel may take to answer.
constexpr int kConnect_ms = 10'000;

struct Listener {
  const DoorKeeper* keeper;
  int fd;
  Word word;
  DoorPlace place;
};
struct Known {
  const DoorKeeper* keeper;
  DoorPlace place;
  Word word;
};

// What the functions below know, which UCX's thread calls, too.
struct Registry {
  std::mutex lock;
  std::vector<Listener> listeners;
  std::vector<Known> known;
  decltype(&::listen) listen = nullptr;  // as UCX would reach them
  decltype(&::accept) accept = nullptr;
  decltype(&::connect) connect = nullptr;

  static Registry& of_process() {
    static auto* one = new Registry();  // never destroyed: UCX's thread may run on
    return *one;
  }
};

thread_local const DoorKeeper* t_opening = nullptr;
thread_local const Word* t_word = nullptr;

std::optional<DoorPlace> place_of(const sockaddr* address, socklen_t bytes) {
  DoorPlace place;
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET && bytes >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    std::memcpy(place.address.data(), &v4.sin_addr, sizeof v4.sin_addr);
    place.port = v4.sin_port;
  } else if (address->sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    std::memcpy(place.address.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    place.port = v6.sin6_port;
  } else {
    return std::nullopt;
  }
  place.family = address->sa_family;
  return place;
}

std::optional<DoorPlace> place_of(int fd) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(fd, any, &bytes) != 0) return std::nullopt;
  return place_of(any, bytes);
}

// Takes the same time wherever they differ.
bool is_same(const Word& a, const Word& b) {
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned>(a[i] ^ b[i]);
  return differs == 0;
}

int listen_guarded(int fd, int most) noexcept {
  Registry& registry = Registry::of_process();
  if (t_opening == nullptr) return registry.listen(fd, most);
  auto place = place_of(fd);
  if (!place) return registry.listen(fd, most);  // no way from another host
  // UCX asks for a connection only when the first bytes of it are here.
  if (::setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &kDefer_s, sizeof kDefer_s) != 0) return -1;
  std::lock_guard hold(registry.lock);
  registry.listeners.push_back({t_opening, fd, *t_word, *place});
  return registry.listen(fd, most);
}

std::optional<Word> word_at(int fd) {
  Registry& registry = Registry::of_process();
  std::lock_guard hold(registry.lock);
  for (const Listener& one : registry.listeners)
    if (one.fd == fd) return one.word;
  return std::nullopt;
}

std::optional<Word> word_for(const sockaddr* address, socklen_t bytes) {
  auto place = place_of(address, bytes);
  return place ? DoorKeeper::word_shown_at(*place) : std::nullopt;
}

// A peer sends the word at once and in one piece, and the kernel has waited for it.
int accept_guarded(int fd, sockaddr* address, socklen_t* bytes) noexcept {
  auto accept = Registry::of_process().accept;
  auto word = word_at(fd);
  if (!word) return accept(fd, address, bytes);
  socklen_t room = bytes != nullptr ? *bytes : 0;
  for (;;) {
    if (bytes != nullptr) *bytes = room;
    base::UniqueFd one(accept(fd, address, bytes));
    if (!one) return -1;
    Word shown{};
    ssize_t got = ::recv(one.get(), shown.data(), shown.size(), MSG_DONTWAIT);
    if (got == static_cast<ssize_t>(shown.size()) && is_same(shown, *word)) return one.release();
  }
}

// Until it is connected. False: errno says why.
bool wait_for_connection(int fd) {
  pollfd watched{.fd = fd, .events = POLLOUT, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&watched, 1, kConnect_ms);
  } while (ready < 0 && errno == EINTR);
  int error = ready == 0 ? ETIMEDOUT : 0;
  socklen_t bytes = sizeof error;
  if (ready > 0 && ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  if (ready >= 0) errno = error;
  return ready > 0 && error == 0;
}

int connect_guarded(int fd, const sockaddr* address, socklen_t bytes) noexcept {
  auto connect = Registry::of_process().connect;
  auto word = word_for(address, bytes);
  if (!word) return connect(fd, address, bytes);
  if (connect(fd, address, bytes) != 0) {
    if (errno != EINPROGRESS) return -1;
    if (!wait_for_connection(fd)) return -1;
  }
  ssize_t sent = ::send(fd, word->data(), word->size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(word->size())) return 0;
  if (sent >= 0) errno = ECONNRESET;  // no kernel takes less of so little
  return -1;
}

std::array<platform::Redirection, 3> redirections() {
  return {{{"listen", reinterpret_cast<void*>(&listen_guarded)},
           {"accept", reinterpret_cast<void*>(&accept_guarded)},
           {"connect", reinterpret_cast<void*>(&connect_guarded)}}};
}

bool are_all_there(std::span<const platform::Redirection> functions) {
  return std::ranges::all_of(functions, [](const auto& one) { return one.places != 0; });
}

// UCX stays loaded, and with it pointers to the functions here.
void stay_loaded() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<void*>(&accept_guarded), &here) == 0) return;
  ::dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

bool redirect() {
  Registry& registry = Registry::of_process();
  std::lock_guard hold(registry.lock);
  if (registry.listen == nullptr) {
    stay_loaded();
    registry.listen = reinterpret_cast<decltype(&::listen)>(::dlsym(RTLD_DEFAULT, "listen"));
    registry.accept = reinterpret_cast<decltype(&::accept)>(::dlsym(RTLD_DEFAULT, "accept"));
    registry.connect = reinterpret_cast<decltype(&::connect)>(::dlsym(RTLD_DEFAULT, "connect"));
  }
  auto functions = redirections();
  platform::redirect_imports(kLibraries, functions);
  return are_all_there(functions);
}

}  // namespace

bool can_keep_doors() {
  auto functions = redirections();
  platform::count_imports(kLibraries, functions);
  return are_all_there(functions);
}

base::Result<std::unique_ptr<DoorKeeper>> DoorKeeper::create(const char* version) {
  std::unique_ptr<DoorKeeper> keeper(new DoorKeeper());
  auto bytes = static_cast<ssize_t>(keeper->word_.size());
  if (::getrandom(keeper->word_.data(), keeper->word_.size(), 0) != bytes)
    return base::errno_error("ucx: a random number");
  if (redirect()) return keeper;
  return base::error(
      "ucx: strangers cannot be kept from the sockets of this UCX ({}), which takes connections in "
      "a way that is not known here; start the job with: terrane run --encrypt",
      version);
}

DoorKeeper::~DoorKeeper() {
  Registry& registry = Registry::of_process();
  std::lock_guard hold(registry.lock);
  std::erase_if(registry.listeners, [this](const auto& one) { return one.keeper == this; });
  std::erase_if(registry.known, [this](const auto& one) { return one.keeper == this; });
}

DoorKeeper::Opening::Opening(DoorKeeper& keeper) {
  t_opening = &keeper;
  t_word = &keeper.word_;
}

DoorKeeper::Opening::~Opening() {
  t_opening = nullptr;
  t_word = nullptr;
}

Door DoorKeeper::door() const {
  Door door{word_, {}};
  Registry& registry = Registry::of_process();
  std::lock_guard hold(registry.lock);
  for (const Listener& one : registry.listeners)
    if (one.keeper == this) door.places.push_back(one.place);
  return door;
}

void DoorKeeper::know(const Door& peer) {
  Registry& registry = Registry::of_process();
  std::lock_guard hold(registry.lock);
  for (const DoorPlace& place : peer.places) {
    std::erase_if(registry.known, [&](const Known& one) { return one.place == place; });
    registry.known.push_back({this, place, peer.word});
  }
}

std::optional<Word> DoorKeeper::word_shown_at(const DoorPlace& place) {
  Registry& registry = Registry::of_process();
  std::lock_guard hold(registry.lock);
  for (const Known& one : registry.known)
    if (one.place == place) return one.word;
  return std::nullopt;
}

}  // namespace terrane::transport::ucx
