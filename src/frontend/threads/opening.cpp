#include "frontend/threads/opening.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/libraries.h"
#include "frontend/threads/library_constructors.h"
#include "frontend/threads/library_window.h"
#include "frontend/threads/locked_code.h"
#include "frontend/threads/program.h"
#include "platform/loader_calls.h"
#include "runtime/program/image.h"

namespace terrane::frontend::threads {
namespace {

// What one node tells the others of a library. In shared memory.
struct Opening {
  char file[PATH_MAX];
  bool names_program;  // dlopen(nullptr)
  int mode;
  std::uintptr_t place;  // of its first part
  void* handle;          // of node 0
  void* region;          // for the data
  runtime::BuildCard card;
  bool failed;
  bool is_plain;  // one node has it as without Terrane
};

struct Handles {
  std::mutex mutex;
  std::vector<std::pair<void*, void*>> own;  // by that of node 0
};
Handles& handles() {
  static auto* one = new Handles();
  return *one;
}

// Initial-exec: dlopen may be what a constructor of the loader calls.
thread_local constinit bool loads __attribute__((tls_model("initial-exec"))) = false;
// Nested calls of dlopen, in constructors.
thread_local constinit std::uint32_t depth __attribute__((tls_model("initial-exec"))) = 0;

void know_handle(void* first, void* own) {
  std::pair<void*, void*> both{first, own};
  std::lock_guard hold(handles().mutex);
  auto& all = handles().own;
  if (std::find(all.begin(), all.end(), both) == all.end()) all.push_back(both);
}

// The file that a name without a folder means for the library or program that calls: the loader
// itself would look for it from where it is called, which is here. As it is where none is found.
std::string file_meant(std::string_view name, const void* caller) {
  std::string as_given(name);
  Dl_info info{};
  link_map* map = nullptr;
  bool known = name.find('/') == std::string_view::npos &&
               ::dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  Dl_serinfo size{};
  if (!known || next<"dlinfo">(::dlinfo)(map, RTLD_DI_SERINFOSIZE, &size) != 0) return as_given;
  std::vector<std::max_align_t> room(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* list = reinterpret_cast<Dl_serinfo*>(room.data());
  list->dls_size = size.dls_size;
  list->dls_cnt = size.dls_cnt;
  if (next<"dlinfo">(::dlinfo)(map, RTLD_DI_SERINFO, list) != 0) return as_given;
  for (unsigned i = 0; i < list->dls_cnt; ++i) {
    std::string path = fmt::format("{}/{}", list->dls_serpath[i].dls_name, name);
    if (next<"access">(::access)(path.c_str(), R_OK) == 0) return path;
  }
  return as_given;
}

// What lies in the window and is not known yet, as the program's.
Libraries opened_now() {
  const Libraries& known = libraries();
  Libraries found;
  for (platform::Module& module : platform::loaded_modules()) {
    bool is_new = std::none_of(known.modules.begin(), known.modules.end(), [&](const auto& one) {
      return one.address == module.address && one.path == module.path;
    });
    if (!is_new || !library_window::contains(reinterpret_cast<void*>(module.address))) continue;
    auto owner = platform::ModuleOwner::kProgram;
    if (platform::is_language_library(module.name)) owner = platform::ModuleOwner::kLanguage;
    if (platform::is_node_library(module.path)) owner = platform::ModuleOwner::kNode;
    found.add(std::move(module), owner, owner != platform::ModuleOwner::kNode);
  }
  return found;
}

void add_to_known(const Libraries& found) {
  Libraries all = libraries();
  all.modules.insert(all.modules.end(), found.modules.begin(), found.modules.end());
  all.owners.insert(all.owners.end(), found.owners.begin(), found.owners.end());
  all.own.insert(all.own.end(), found.own.begin(), found.own.end());
  all.nodes.insert(all.nodes.end(), found.nodes.begin(), found.nodes.end());
  all.allocating.insert(all.allocating.end(), found.allocating.begin(), found.allocating.end());
  set_libraries(std::move(all));
}

// Whether a handle's library is known: where it was loaded before, or lies in the window.
bool lies_right(void* handle) {
  auto address = reinterpret_cast<link_map*>(handle)->l_addr;
  if (library_window::contains(reinterpret_cast<void*>(address))) return true;
  const auto& known = libraries().modules;
  return std::any_of(known.begin(), known.end(),
                     [&](const auto& one) { return one.address == address; });
}

constexpr std::size_t kLoadingStack = std::size_t{512} << 10;  // of what runs in the loader

// What one call of the loader has brought, on one node.
struct Loaded {
  void* handle = nullptr;
  std::uintptr_t next = 0;  // the place behind it
  Libraries found;
  std::vector<platform::Constructors> constructors;
  bool has_place = false;  // of its own in the window
  std::string wrong;       // what no node can do, or not this one
};

// The loader's own call, in the window. Constructors of libraries that each node has for itself run
// here.
Loaded load(const Opening& opening) {
  Loaded loaded;
  if (!library_window::is_reserved()) {
    loaded.wrong = "this node uses the addresses that are for it";
    return loaded;
  }
  {
    platform::LoaderCalls calls(opening.place, library_window::kEnd);
    if (auto begun = calls.begin(); !begun) {
      loaded.wrong = begun.error().message;
      return loaded;
    }
    loaded.has_place = true;
    loads = true;
    int mode = (opening.mode & ~RTLD_LAZY) | RTLD_NOW;  // what is bound is the same on all nodes
    loaded.handle = next<"dlopen">(::dlopen)(opening.names_program ? nullptr : opening.file, mode);
    loads = false;
    loaded.next = calls.next();
    loaded.constructors = calls.constructors();
    if (calls.has_missed()) loaded.wrong = "its parts do not lie as the loader's do";
  }
  if (loaded.handle == nullptr) return loaded;
  loaded.found = opened_now();
  for (auto owner : {platform::ModuleOwner::kLanguage, platform::ModuleOwner::kNode})
    run_constructors(constructors_of(owner, loaded.found, loaded.constructors));
  return loaded;
}

// On another node than 0.
void load_here(Opening* opening) {
  auto* told = new Opening(*opening);
  Program& program = *Program::get();
  Loaded loaded = load(*told);
  std::string& wrong = loaded.wrong;
  if (wrong.empty() && loaded.handle == nullptr) {
    const char* error = next<"dlerror">(::dlerror)();
    wrong = error != nullptr ? error : "dlopen failed";
  }
  if (wrong.empty()) {
    runtime::Image image(loaded.found.modules, loaded.found.owners);
    wrong = told->card.difference(image.card());
    if (!wrong.empty()) wrong = "it is another file, or lies at another address, than on node 0";
    if (wrong.empty() && image.bytes() > 0) wrong = program.place(image.panes(told->region));
    if (wrong.empty()) serve_locked_code(loaded.found, &libraries());
    add_to_known(loaded.found);
  }
  if (!wrong.empty())
    program.node().fail(
        fmt::format("cannot load {} on node {}: {}; let the program link it, or start it with "
                    "LD_PRELOAD={}",
                    told->file, program.self(), wrong, told->file));
  know_handle(told->handle, loaded.handle);
  delete told;
}

void warn_of_private(const Libraries& found) {
  const Libraries& known = libraries();
  for (const platform::Module& module : found.modules) {
    for (std::size_t i = 0; i < known.modules.size(); ++i) {
      const platform::Module& other = known.modules[i];
      bool needs = std::any_of(module.needed.begin(), module.needed.end(), [&](const auto& name) {
        return name == other.soname || name == other.name;
      });
      if (needs && known.owners[i] == platform::ModuleOwner::kTerrane &&
          !platform::keeps_nothing(other))
        base::log("{}: used by {}, and by Terrane; each node has its own data there", other.name,
                  module.name);
    }
  }
}

// On the private stack, as the loader wants it. Operations of the node, which run there as well,
// begin below.
void load_on_private_stack(const Opening& opening, Loaded& loaded) {
  struct Call {
    const Opening& opening;
    Loaded& loaded;
  } call{opening, loaded};
  runtime::OwnStack& own = runtime::own_stack();
  std::byte* top = own.top;
  own.top = top - kLoadingStack;
  runtime::call_on_stack(
      top,
      [](void* raw) {
        auto& made = *static_cast<Call*>(raw);
        made.loaded = load(made.opening);
      },
      &call);
  own.top = top;
}

// Where the next library goes. On node 0, with the lock.
std::uintptr_t next_place = library_window::kBase;

// Makes its data the shared ones on this node. What is wrong, or nothing.
std::string share_data(Opening& opening, runtime::Image& image) {
  Program& program = *Program::get();
  if (image.bytes() == 0) return {};
  opening.region = program.take_late_data(image.bytes());
  if (opening.region == nullptr)
    return fmt::format("no room is left for its {} bytes of data", image.bytes());
  if (auto saved = image.save(); !saved) return saved.error().message;
  return program.place(image.panes(opening.region));
}

// On node 0, with the lock. False: the file cannot be loaded on any node.
bool load_first(Opening& opening, Loaded& loaded, std::unique_ptr<runtime::Image>& image) {
  opening.place = next_place;
  auto told = std::make_unique<Opening>(opening);
  load_on_private_stack(*told, loaded);
  std::string& wrong = loaded.wrong;
  opening.handle = loaded.handle;
  opening.is_plain = !loaded.has_place && Program::get()->node().nodes() == 1;
  if (opening.is_plain) return false;
  opening.failed = wrong.empty() && loaded.handle == nullptr;
  if (opening.failed) return false;
  if (wrong.empty() && !lies_right(loaded.handle))
    wrong = "it found no place where all nodes have it";
  if (wrong.empty()) {
    next_place = loaded.next;
    warn_of_private(loaded.found);
    image = std::make_unique<runtime::Image>(loaded.found.modules, loaded.found.owners);
    opening.card = image->card();
    wrong = share_data(opening, *image);
  }
  if (!wrong.empty())
    Program::get()->node().fail(
        fmt::format("cannot load {}: {}; let the program link it", told->file, wrong));
  serve_locked_code(loaded.found, &libraries());
  add_to_known(loaded.found);
  return true;
}

void load_on_others(Opening& opening) {
  Program& program = *Program::get();
  for (std::uint32_t n = 1; n < program.node().nodes(); ++n) {
    int error = run_on(
        n,
        [](void* raw) -> void* {
          auto* told = static_cast<Opening*>(raw);
          static_cast<void>(*static_cast<volatile char*>(raw));
          runtime::on_own_stack([told] {
            Private ours;
            load_here(told);
          });
          return nullptr;
        },
        &opening);
    if (error != 0)
      program.node().fail(
          fmt::format("cannot load {} on node {}: {}", opening.file, n, std::strerror(error)));
  }
}

// Loads it on all nodes. What there is to construct then; nullptr: it cannot be loaded.
const std::vector<platform::Constructors>* load_on_all(Opening& opening) {
  std::unique_ptr<runtime::Image> image;
  Loaded loaded;
  {
    Private ours;
    if (!load_first(opening, loaded, image)) return nullptr;
  }
  load_on_others(opening);
  Private ours;
  if (auto stored = image->store(); !stored) Program::get()->node().fail(stored.error().message);
  image.reset();
  know_handle(opening.handle, opening.handle);
  auto own = constructors_of(platform::ModuleOwner::kProgram, loaded.found, loaded.constructors);
  loaded = {};
  return new std::vector<platform::Constructors>(std::move(own));
}

// On node 0. Its constructors are code of the program as any other: every node has the library, and
// its data are shared. They may open others. As the loader does, it keeps other threads from
// opening libraries until they have run.
void open_on_all(Opening& opening) {
  std::optional<Holding> hold;
  if (depth++ == 0) hold.emplace(&Program::get()->control().libraries);
  if (const auto* constructors = load_on_all(opening); constructors != nullptr) {
    run_constructors(*constructors);
    Private ours;
    delete constructors;
  }
  --depth;
}

}  // namespace

void prepare_opening() {
  Private ours;
  if (!library_window::reserve())
    base::log("the program can open no libraries later: {}", std::strerror(errno));
}

void* open_everywhere(const char* file, int mode, const void* caller) {
  auto* opening = static_cast<Opening*>(Program::get()->heap().allocate(sizeof(Opening)));
  if (opening == nullptr) return nullptr;
  opening->names_program = file == nullptr;
  opening->mode = mode;
  opening->handle = opening->region = nullptr;
  opening->card = {};
  opening->failed = opening->is_plain = false;
  {
    Private ours;
    std::string given = file == nullptr ? "" : file;
    std::string meant = given.empty() ? given : file_meant(given, caller);
    meant.resize(std::min(meant.size(), sizeof opening->file - 1));
    std::memcpy(opening->file, meant.c_str(), meant.size() + 1);
  }
  if (Program::get()->self() == 0) {
    open_on_all(*opening);
    if (opening->is_plain) opening->handle = next<"dlopen">(::dlopen)(file, mode);
  } else {
    int error = run_on(
        0,
        [](void* raw) -> void* {
          open_on_all(*static_cast<Opening*>(raw));
          return nullptr;
        },
        opening);
    // The same failure here: of what dlerror is to tell.
    if (error != 0 || opening->failed) {
      opening->failed = true;
      std::string name;
      {
        Private ours;
        name = opening->file;
      }
      runtime::on_own_stack([&name] { next<"dlopen">(::dlopen)(name.c_str(), RTLD_NOW); });
    }
  }
  void* handle = opening->failed ? nullptr : opening->handle;
  Program::get()->heap().free(opening);
  return handle;
}

void* own_handle(void* handle) {
  Program* program = Program::get();
  if (program == nullptr || program->self() == 0) return handle;
  std::lock_guard hold(handles().mutex);
  for (auto [first, own] : handles().own)
    if (first == handle) return own;
  return handle;
}

bool was_opened_everywhere(void* handle) {
  if (Program::get() == nullptr) return false;
  std::lock_guard hold(handles().mutex);
  return std::any_of(handles().own.begin(), handles().own.end(),
                     [handle](const auto& one) { return one.first == handle; });
}

bool is_loading() { return loads; }

}  // namespace terrane::frontend::threads
