#include "forked_nodes.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>

#include "card_exchange.h"
#include "platform/mapping.h"
#include "test_gateways.h"

namespace terrane::conformance {
namespace {

constexpr int kFailedExit = 2;

struct Child {
  pid_t pid = -1;
  int socket = -1;
};

void pause_briefly() { ::usleep(100); }

// Memfds for the node's regions, mapped here too.
std::vector<transport::ExportedRegion> make_regions(const JobOptions& options,
                                                    std::vector<std::byte*>& mapped) {
  std::vector<transport::ExportedRegion> regions;
  for (std::uint64_t bytes : options.region_bytes) {
    auto fd = platform::create_memfd(bytes, "conformance-region");
    require(fd.ok(), "a memory file for a region");
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.value(), 0);
    require(data != MAP_FAILED, "a mapping of our region");
    mapped.push_back(static_cast<std::byte*>(data));
    regions.push_back({fd.value(), bytes, options.one_sided ? mapped.back() : nullptr});
  }
  return regions;
}

// The transport that a name of JobOptions means.
std::string_view base_name(const std::string& name) {
  if (name == "mixed_near" || name == "mixed_routed") return "mixed";
  return name == "routed_tls" ? "routed" : name;
}

std::unique_ptr<transport::Transport> connect(const JobOptions& options, NodeId self, int socket,
                                              const TestGateways* gateways,
                                              std::vector<std::byte*>& mapped,
                                              std::vector<transport::Card>& bytes) {
  auto placement = transport::Placement::on_one_host(self, options.nodes);
  bool two_hosts = options.transport == "mixed" || options.transport == "mixed_routed";
  for (std::uint32_t node = 0; two_hosts && node < options.nodes; ++node) {
    placement.host_of[node] = 2 * node / options.nodes;
  }
  if (options.transport == "mixed_routed") placement.cluster_of = placement.host_of;
  transport::TransportOptions settings{.net = "lo", .extra_latency_ns = options.extra_latency_ns};
  if (gateways != nullptr) settings.routes = gateways->routes_of(self);
  auto factory = transport::make_transport(base_name(options.transport), placement, settings);
  require(factory.ok(), factory.ok() ? "" : factory.error().message);
  auto regions = make_regions(options, mapped);
  auto card = factory.value()->open(placement, regions);
  require(card.ok(), card.ok() ? "" : card.error().message);
  require(send_card(socket, card.value()), "our card goes out");
  close_card(card.value());
  std::vector<transport::Card> cards(options.nodes);
  for (auto& one : cards) require(receive_card(socket, one), "everyone's card comes in");
  ::close(socket);
  for (const auto& one : cards) bytes.push_back({one.bytes, {}});
  auto connected = factory.value()->connect(std::move(cards));
  require(connected.ok(), connected.ok() ? "" : connected.error().message);
  for (const auto& region : regions) ::close(region.fd);
  return std::move(connected).value();
}

[[noreturn]] void live(const JobOptions& options, NodeId self, int socket,
                       const TestGateways* gateways, Board& board,
                       const std::function<void(Node&)>& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(options.timeout_s);
  std::size_t descriptors = open_descriptors();
  {
    std::vector<std::byte*> regions;
    std::vector<transport::Card> cards;
    auto transport = connect(options, self, socket, gateways, regions, cards);
    Node node{self, options.nodes, *transport, board, regions, cards};
    body(node);
  }
  // All that the transport opened is closed; so is the socket that was there before.
  require(open_descriptors() == descriptors - 1, "descriptors are left behind");
  ::_exit(0);
}

// Passes all cards to all nodes; false when one has failed already.
bool deal_cards(const std::vector<Child>& children) {
  std::vector<transport::Card> cards(children.size());
  bool dealt = true;
  for (std::size_t i = 0; i < children.size(); ++i) {
    dealt = dealt && receive_card(children[i].socket, cards[i]);
  }
  for (const Child& child : children) {
    for (const auto& card : cards) dealt = dealt && send_card(child.socket, card);
  }
  for (auto& card : cards) close_card(card);
  return dealt;
}

std::string describe_end(std::size_t node, int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return fmt::format("node {} did not finish in time\n", node);
  }
  if (WIFSIGNALED(status)) return fmt::format("node {}: signal {}\n", node, WTERMSIG(status));
  return fmt::format("node {}: exit code {}\n", node, WEXITSTATUS(status));
}

std::string reap(const JobOptions& options, const std::vector<Child>& children) {
  std::string wrong;
  for (std::size_t left = children.size(); left > 0; --left) {
    int status = 0;
    pid_t pid = ::waitpid(-1, &status, 0);
    auto child = std::find_if(children.begin(), children.end(),
                              [&](const Child& one) { return one.pid == pid; });
    if (child == children.end()) return wrong + "an unknown process ended\n";
    auto node = static_cast<std::uint32_t>(child - children.begin());
    bool doomed = std::count(options.doomed.begin(), options.doomed.end(), NodeId{node}) != 0;
    bool in_order = doomed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : status == 0;
    if (in_order) continue;
    if (wrong.empty()) {
      wrong = describe_end(node, status);
      for (const Child& other : children) {
        if (other.pid != pid) ::kill(other.pid, SIGKILL);
      }
    }
  }
  return wrong;
}

Child fork_node(const JobOptions& options, NodeId self, const TestGateways* gateways, Board& board,
                const std::vector<Child>& others, const std::function<void(Node&)>& body) {
  int sockets[2];
  require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0, "a socket pair");
  pid_t pid = ::fork();
  require(pid >= 0, "a process for each node");
  if (pid == 0) {
    ::close(sockets[0]);
    for (const Child& other : others) ::close(other.socket);
    live(options, self, sockets[1], gateways, board, body);
  }
  ::close(sockets[1]);
  return {pid, sockets[0]};
}

}  // namespace

void Node::barrier() {
  std::uint32_t round = board.rounds.load();
  if (board.arrived.fetch_add(1) + 1 == nodes) {
    board.arrived.store(0);
    board.rounds.store(round + 1);
  }
  while (board.rounds.load() == round) pause_briefly();
}

std::string run_job(const JobOptions& options, const std::function<void(Node&)>& body,
                    const std::function<void(Board&)>& after) {
  void* memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "memory for the board");
  Board& board = *new (memory) Board{};
  std::optional<TestGateways> gateways;
  if (options.transport.find("routed") != std::string::npos)
    gateways.emplace(options.transport == "routed_tls");
  std::vector<Child> children;
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    children.push_back(
        fork_node(options, NodeId{i}, gateways ? &*gateways : nullptr, board, children, body));
  }
  deal_cards(children);
  for (const Child& child : children) ::close(child.socket);
  std::string wrong = reap(options, children);
  if (after) after(board);
  ::munmap(memory, sizeof(Board));
  return wrong;
}

void require(bool claim, const std::string& what, std::source_location where) {
  if (claim) return;
  fmt::print(stderr, "{}:{}: {}\n", where.file_name(), where.line(), what);
  ::_exit(kFailedExit);
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

}  // namespace terrane::conformance
