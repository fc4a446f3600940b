#include "frontend/threads/program.h"

#include <link.h>
#include <sched.h>
#include <sys/resource.h>
#include <terrane/pages.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/cancel.h"
#include "frontend/threads/crash.h"
#include "frontend/threads/execute.h"
#include "frontend/threads/function_addresses.h"
#include "frontend/threads/libraries.h"
#include "frontend/threads/locked_code.h"
#include "frontend/threads/noted_blocks.h"
#include "frontend/threads/opening.h"
#include "frontend/threads/output.h"
#include "frontend/threads/polled_words.h"
#include "frontend/threads/polling.h"
#include "frontend/threads/process_signals.h"
#include "frontend/threads/race_names.h"
#include "frontend/threads/seen_accesses.h"
#include "platform/fault_signal.h"
#include "platform/view_rights.h"

namespace terrane::frontend::threads {
namespace {

constexpr BarrierId kStartBarrier{0xfffffffeu};

// The part of a node's memory that large blocks may keep after the program has freed them.
constexpr std::uint64_t kKeptPart = 8;
constexpr const char* kUcxEvents = "UCX_MEM_EVENTS";

Program* the_program = nullptr;

std::uint32_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0
             ? static_cast<std::uint32_t>(std::max(CPU_COUNT(&set), 1))
             : 1;
}

std::uint32_t most_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<std::uint32_t>(std::min<rlim_t>(limit.rlim_max, 1u << 20));
}

// The C library enlarges the list that its setenv has made, in private memory by now. It forgets
// that list here: in a program that names environ the next one is for all nodes.
void disown_environment() {
  std::size_t count = 0;
  while (environ[count] != nullptr) ++count;
  auto** list = new char*[count + 1];
  std::copy_n(environ, count + 1, list);
  ::clearenv();
  environ = list;
}

// Whether the program or a library wants to run code on its stacks, as nested functions of gcc do.
bool wants_executable_stacks() {
  auto wants = [](dl_phdr_info* info, std::size_t, void*) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      if (part.p_type == PT_GNU_STACK && (part.p_flags & PF_X) != 0) return 1;
    }
    return 0;
  };
  return ::dl_iterate_phdr(wants, nullptr) != 0;
}

// How many of the nodes run threads of the program: the last ones may be there for their memory
// alone (--lend).
std::uint32_t count_working(std::uint32_t nodes) {
  const char* text = std::getenv("TERRANE_LENDERS");
  std::uint64_t lending = text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
  return nodes - static_cast<std::uint32_t>(std::min<std::uint64_t>(lending, nodes - 1));
}

// A node that lends has no thread that computes: its own sleep at once, and reports of long waits
// would be of waits for the others' barriers.
void prepare_to_lend() {
  auto number = [](const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0u : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
  };
  std::uint32_t nodes = std::max(number("TERRANE_NODES"), 1u);
  if (number("TERRANE_NODE") < count_working(nodes)) return;
  ::setenv("TERRANE_WAIT", "sleep", 1);
  ::setenv("TERRANE_PATIENCE", "0", 1);
}

[[noreturn]] void refuse(const std::string& sentence) {
  base::log("{}", sentence);
  std::_Exit(1);
}

}  // namespace

ThreadState& this_thread() {
  static thread_local constinit ThreadState state __attribute__((tls_model("initial-exec"))) = {};
  return state;
}

bool is_in_program() {
  const ThreadState& me = this_thread();
  return me.record != nullptr && me.keeps_private == 0 && !runtime::is_in_operation() &&
         !platform::is_in_fault_handler();
}

Program* Program::get() { return the_program; }

void Program::start() {
  Private ours;
  const Libraries before = Libraries::now(nullptr);
  set_libraries(before);
  if (std::string hidden = hidden_by(); !hidden.empty()) refuse(hidden);
  separate_function_addresses();
  serve_locked_code(before, nullptr);
  if (wants_executable_stacks()) platform::make_views_executable();
  // UCX would put functions of its own in front of the program's mmap.
  bool set = ::setenv(kUcxEvents, "n", 0) == 0 && std::string_view(::getenv(kUcxEvents)) == "n";
  prepare_to_lend();
  if (terrane_init() != TERRANE_OK) refuse(terrane_error());
  static const runtime::SynchronisationMap served = pages::node()->looks().synchronisation_pages();
  serve_words_beside(served);
  if (auto* accesses = pages::node()->looks().accesses())
    if (serves_atomics()) accesses->set_source(seen_accesses());
  pages::serve_atomics_on_pages();
  if (set) ::unsetenv(kUcxEvents);
  set_libraries(Libraries::now(&before));
  begin_noting_blocks(pages::node()->self().value);
  disown_environment();
  static auto* program = new Program();
  program->node_ = pages::node();
  program->self_ = program->node_->self().value;
  program->nodes_ = program->node_->nodes();
  program->working_ = count_working(program->nodes_);
  if (std::string both = libraries().used_by_both(); !both.empty() && program->self_ == 0)
    base::log(
        "{}: used by the program, and by a library that Terrane loads; each node has its own data "
        "there",
        both);
  program->share_control();
  program->share_image();
  program->heap_ = std::make_unique<runtime::Heap>(program->self_, program->nodes_, *program,
                                                   program->node_->memory_bytes() / kKeptPart);
  program->stacks_ = std::make_unique<runtime::Stacks>(*program->node_);
  the_program = program;
  prepare_opening();
  share_files(*program);
  share_use(*program);
  share_notices(*program);
  share_polled_words();
  if (program->nodes_ > 1) share_output();
  remember_rights();
  begin_cancelling();
  begin_signals(*program);
  begin_executing();
  report_crashes();
  runtime::set_names(*program->node_, live_names());
}

void Program::share_control() {
  if (nodes_ > kMostNodes)
    node_->fail(fmt::format("a program runs on {} nodes at most", kMostNodes));
  void* at = nullptr;
  runtime::Allocation options;
  options.collective = true;
  options.name = "program";
  auto allocated = node_->allocate(Control::bytes(nodes_), options, at);
  if (!allocated.ok()) node_->fail(allocated.message);
  control_ = static_cast<Control*>(at);
  if (self_ == 0) share_process(*control_);
}

void Program::share_image() {
  runtime::Image image(libraries().modules, libraries().owners);
  Control::Card& own = control_->cards[self_];
  own.build = image.card();
  program_tls_ = thread_locals();
  own.thread_locals = program_tls_.empty() ? 0 : program_tls_[0].address;
  own.most_files = most_files();
  for (int fd : {STDOUT_FILENO, STDERR_FILENO}) own.outputs[fd] = output_file(fd);
  own.processors = std::max(processors() / node_->nodes_on_host(), 1u);
  node_->barrier(kStartBarrier, 1);
  compare_builds();
  void* region = nullptr;
  runtime::Allocation options;
  options.collective = true;
  options.name = "static data";
  options.sparse = true;
  auto allocated = node_->allocate(std::max<std::uint64_t>(image.bytes(), 1), options, region);
  if (!allocated.ok()) node_->fail(allocated.message);
  if (self_ == 0) {
    if (auto saved = image.save(); !saved) node_->fail(saved.error().message);
  }
  SharedRange::set_panes(&panes_);
  if (std::string wrong = place(image.panes(region)); !wrong.empty()) node_->fail(wrong);
  take_room_for_late_data();
  if (self_ == 0) {
    if (auto stored = image.store(); !stored) node_->fail(stored.error().message);
    place_threads();
  }
  node_->barrier(kStartBarrier, 1);
}

std::string Program::place(const std::vector<runtime::Pane>& panes) {
  if (panes_.size() + panes.size() > platform::Panes::kMost)
    return fmt::format("the program and its libraries have more than {} parts of static data",
                       platform::Panes::kMost);
  if (auto placed = node_->place(panes); !placed.ok()) return placed.message;
  auto base = reinterpret_cast<std::uintptr_t>(node_->shared_base());
  for (const runtime::Pane& pane : panes)
    panes_.add({{reinterpret_cast<std::uintptr_t>(pane.region) - base, pane.bytes},
                static_cast<std::byte*>(pane.address)});
  return {};
}

// Address space alone. Where there is little, a library with data of its own cannot be opened
// later.
void Program::take_room_for_late_data() {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20, kPart = 64;
  std::uint64_t bytes =
      std::min(kMost, node_->shared_bytes() / kPart) / node_->block_bytes() * node_->block_bytes();
  void* region = nullptr;
  runtime::Allocation options;
  options.collective = true;
  options.name = "data of libraries";
  options.sparse = true;
  if (bytes == 0 || !node_->allocate(bytes, options, region).ok()) return;
  late_data_ = reinterpret_cast<std::uintptr_t>(region);
  late_end_ = late_data_ + bytes;
}

void* Program::take_late_data(std::uint64_t bytes) {
  if (bytes > late_end_ - late_data_) return nullptr;
  auto* taken = reinterpret_cast<void*>(late_data_);
  late_data_ += bytes;
  return taken;
}

std::uintptr_t Program::address_of(std::uint64_t block) const {
  return reinterpret_cast<std::uintptr_t>(node_->address_of(block));
}

std::uint64_t Program::block_of(const void* address) const {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(node_->shared_base());
  if (const platform::Pane* pane = panes_.at_address(at))
    offset = pane->span.offset + (at - reinterpret_cast<std::uintptr_t>(pane->address));
  return offset / node_->block_bytes();
}

void Program::compare_builds() {
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    std::string other = control_->cards[0].build.difference(control_->cards[n].build);
    if (other.empty() && control_->cards[0].thread_locals != control_->cards[n].thread_locals)
      other = "its first thread with thread-local variables at another address than node 0";
    if (other.empty()) continue;
    if (self_ == n)
      node_->fail(fmt::format("node {} ({}) runs {}", n, node_->host_name(NodeId{n}), other));
    ::pause();  // until the launcher has ended the job
  }
}

// The places that threads are put into, by node: as many as it has processors in a row, or one
// after the other over the nodes.
void Program::place_threads() {
  const char* asked = std::getenv("TERRANE_PLACEMENT");
  std::string placement = asked != nullptr ? asked : "block";
  std::uint32_t fixed = 0;
  if (placement != "block" && placement != "cyclic") fixed = std::strtoul(asked, nullptr, 10);
  Control& control = *control_;
  if (placement == "cyclic") fixed = 1;
  for (std::uint32_t n = 0; n < working_; ++n) {
    std::uint32_t places = fixed != 0 ? fixed : control.cards[n].processors;
    for (std::uint32_t i = 0; i < places && control.slots < kMostThreads; ++i)
      control.node_of[control.slots++] = n;
  }
  Record& main = control.records[0];
  main.state = Record::kRunning;
  main.generation = 1;
  control.load[0] = 1;
  control.live = 1;
  control.next_record = 1;
}

bool Program::allocates_shared(const void* caller) const {
  // Instructions in shared memory are those that the program has written itself.
  return libraries().allocates_shared(caller) || SharedRange::contains(caller);
}

bool Program::is_own(const void* code) const { return libraries().is_own(code); }

void Program::send(std::uint32_t node, Command command) {
  Mail& mail = control_->mail(node);
  {
    Holding hold(&mail);
    if (mail.count == Mail::kRoom)
      node_->fail("a node has more threads to start and to cancel than there can be");
    mail.ring[(mail.first + mail.count++) % Mail::kRoom] = command;
  }
  node_->change_count(count_of(&mail.bell), protocol::CountOp::kAdd, 1);
}

void Program::serve() {
  Mail& mail = control_->mail(self_);
  node_->set_role("starter");
  begin_relaying();
  for (;;) {
    relay_signals();
    if (!node_->take_units(count_of(&mail.bell), {}, {wake_cancelled(), has_relayed_signals}))
      continue;
    Command command;
    {
      Holding hold(&mail);
      command = mail.ring[mail.first];
      mail.first = (mail.first + 1) % Mail::kRoom;
      --mail.count;
    }
    switch (command.kind) {
      case Command::kStart:
        if (int error = start_here(control_->records[command.number]); error != 0)
          node_->fail(
              fmt::format("cannot start a thread of the program: {}", std::strerror(error)));
        break;
      case Command::kCancel:
        mark_cancelled(command.number, command.generation);
        break;
      case Command::kAction:
      case Command::kSignal:
      case Command::kRelay:
      case Command::kThreadSignal:
      case Command::kOffer:
      case Command::kAccept:
      case Command::kAccepted:
        serve_signal(command);
        break;
      case Command::kExit:
        std::exit(static_cast<int>(command.number));
      case Command::kQuickExit:
        std::quick_exit(static_cast<int>(command.number));
      case Command::kExecute:
        serve_execution(command);
      case Command::kLeave:
        flush_output();
        stop_watching();
        node_->leave();
        next<"_exit">(::_exit)(0);
    }
  }
}

void* Program::take_region(std::uint64_t bytes, const protocol::RegionPolicy& policy,
                           const std::string& name, bool sparse) {
  Private ours;
  static std::atomic_flag said;
  std::string place = name;
  if (place.empty()) place = bytes == runtime::Heap::kChunk ? kSmallBlocks : place_of_call();
  void* at = nullptr;
  runtime::Allocation options;
  if (place.empty()) place = "heap";
  options.name = place;
  options.policy = policy;
  options.sparse = sparse;
  runtime::Outcome allocated = node_->allocate(bytes, options, at);
  if (!allocated.ok())
    pages::refuse(said, ENOMEM, "malloc: {}. The call fails with ENOMEM", allocated.message);
  return at;
}

void Program::give_region(void* region) {
  Private ours;
  node_->free(region);
}

std::uint64_t Program::most_bytes() const {
  std::uint64_t bytes = node_->memory_bytes();
  return bytes > ~std::uint64_t{0} / nodes_ ? ~std::uint64_t{0} : bytes * nodes_;
}

runtime::HeapMail& Program::lock_mail(std::uint32_t node) {
  runtime::HeapMail& mail = control_->heap_mail(node, nodes_);
  ++this_thread().keeps_output;
  node_->lock_until(lock_of(&mail), pages::kForEver);
  return mail;
}

void Program::unlock_mail(std::uint32_t node) {
  node_->unlock_held(lock_of(&control_->heap_mail(node, nodes_)));
  --this_thread().keeps_output;
}

}  // namespace terrane::frontend::threads
