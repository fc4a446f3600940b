#include "frontend/threads/opening.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/libraries.h"
#include "frontend/threads/library_window.h"
#include "frontend/threads/locked_code.h"
#include "frontend/threads/program.h"
#include "runtime/program/image.h"

namespace terrane::frontend::threads {
namespace {

constexpr std::size_t kLoadingStack = std::size_t{512} << 10;  // of what runs in the loader

// What one node tells the others of a library. In shared memory.
struct Opening {
  char file[PATH_MAX];
  bool names_program;  // dlopen(nullptr)
  int mode;
  void* handle;  // of node 0
  void* region;  // for the data
  runtime::BuildCard card;
  bool failed;
};

struct Handles {
  std::mutex mutex;
  std::vector<std::pair<void*, void*>> own;  // by that of node 0
};
Handles& handles() {
  static auto* one = new Handles();
  return *one;
}

thread_local constinit const char* being_opened __attribute__((tls_model("initial-exec"))) =
    nullptr;

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
    bool language = platform::is_language_library(module.name);
    found.owners.push_back(language ? platform::ModuleOwner::kLanguage
                                    : platform::ModuleOwner::kProgram);
    auto& code = module.code;
    if (!language) found.own.insert(found.own.end(), code.begin(), code.end());
    found.allocating.insert(found.allocating.end(), code.begin(), code.end());
    found.modules.push_back(std::move(module));
  }
  return found;
}

void add_to_known(const Libraries& found) {
  Libraries all = libraries();
  all.modules.insert(all.modules.end(), found.modules.begin(), found.modules.end());
  all.owners.insert(all.owners.end(), found.owners.begin(), found.owners.end());
  all.own.insert(all.own.end(), found.own.begin(), found.own.end());
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

// The loader's own call, in the window. The loader reads files into buffers on the stack: the
// thread's private one.
void* load(const Opening& opening) {
  void* handle = nullptr;
  char file[PATH_MAX];  // private, as the loader wants it
  std::memcpy(file, opening.file, sizeof file);
  being_opened = file;
  {
    library_window::Opened window;
    int mode = (opening.mode & ~RTLD_LAZY) | RTLD_NOW;  // what is bound is the same on all nodes
    handle = next<"dlopen">(::dlopen)(opening.names_program ? nullptr : file, mode);
  }
  being_opened = nullptr;
  return handle;
}

// As program code, whose memory is shared, but on the private stack. Operations of the node, which
// run there as well, begin below.
void* load_as_program(const Opening& opening) {
  struct Call {
    const Opening& opening;
    void* handle;
  } call{opening, nullptr};
  runtime::OwnStack& own = runtime::own_stack();
  std::byte* top = own.top;
  own.top = top - kLoadingStack;
  runtime::call_on_stack(
      top,
      [](void* raw) {
        auto& made = *static_cast<Call*>(raw);
        made.handle = load(made.opening);
      },
      &call);
  own.top = top;
  return call.handle;
}

// On another node than 0. The constructors' changes of static data are replaced by those of node 0.
void load_here(Opening* opening) {
  auto* told = new Opening(*opening);
  Program& program = *Program::get();
  void* handle = load(*told);
  std::string wrong;
  if (handle == nullptr) {
    const char* error = next<"dlerror">(::dlerror)();
    wrong = error != nullptr ? error : "dlopen failed";
  } else {
    Libraries found = opened_now();
    runtime::Image image(found.modules, found.owners);
    wrong = told->card.difference(image.card());
    if (!wrong.empty()) wrong = "it is another file, or lies at another address, than on node 0";
    if (wrong.empty() && image.bytes() > 0) wrong = program.place(image.panes(told->region));
    if (wrong.empty()) serve_locked_code(found, &libraries());
    add_to_known(found);
  }
  if (!wrong.empty())
    program.node().fail(
        fmt::format("cannot load {} on node {}: {}; let the program link it, or start it with "
                    "LD_PRELOAD={}",
                    told->file, program.self(), wrong, told->file));
  know_handle(told->handle, handle);
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

// The calling thread is one of the program, on node 0, and holds the lock. False: the file cannot
// be loaded on any node.
bool load_first(Opening& opening, runtime::Image*& image) {
  opening.handle = load_as_program(opening);
  Private ours;
  if (opening.handle == nullptr) {
    opening.failed = true;
    return false;
  }
  Libraries found = opened_now();
  warn_of_private(found);
  image = new runtime::Image(found.modules, found.owners);
  opening.card = image->card();
  Program& program = *Program::get();
  std::string wrong;
  if (!lies_right(opening.handle))
    wrong = "it found no place where all nodes have it";
  else if (image->bytes() > 0) {
    opening.region = program.take_late_data(image->bytes());
    if (opening.region == nullptr)
      wrong = fmt::format("no room is left for its {} bytes of data", image->bytes());
  }
  if (wrong.empty() && image->bytes() > 0) {
    if (auto saved = image->save(); !saved) wrong = saved.error().message;
    if (wrong.empty()) wrong = program.place(image->panes(opening.region));
  }
  if (!wrong.empty())
    program.node().fail(
        fmt::format("cannot load {}: {}; let the program link it", opening.file, wrong));
  serve_locked_code(found, &libraries());
  add_to_known(found);
  return true;
}

// On node 0.
void open_on_all(Opening& opening) {
  Program& program = *Program::get();
  Holding hold(&program.control().libraries);
  runtime::Image* image = nullptr;
  if (!load_first(opening, image)) return;
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
  if (auto stored = image->store(); !stored) program.node().fail(stored.error().message);
  Private ours;
  delete image;
  know_handle(opening.handle, opening.handle);
}

}  // namespace

void prepare_opening() {
  Private ours;
  if (!library_window::reserve())
    base::log("libraries that the program opens later lie where it happens: {}",
              std::strerror(errno));
  // The loader keeps its list of libraries from the first search on: not in the window.
  static_cast<void>(next<"dlopen">(::dlopen)("libterrane-none.so", RTLD_LAZY));
  next<"dlerror">(::dlerror)();
}

void* open_everywhere(const char* file, int mode, const void* caller) {
  auto* opening = static_cast<Opening*>(Program::get()->heap().allocate(sizeof(Opening)));
  if (opening == nullptr) return nullptr;
  opening->names_program = file == nullptr;
  opening->mode = mode;
  opening->handle = opening->region = nullptr;
  opening->card = {};
  opening->failed = false;
  {
    Private ours;
    std::string given = file == nullptr ? "" : file;
    std::string meant = given.empty() ? given : file_meant(given, caller);
    meant.resize(std::min(meant.size(), sizeof opening->file - 1));
    std::memcpy(opening->file, meant.c_str(), meant.size() + 1);
  }
  if (Program::get()->self() == 0) {
    open_on_all(*opening);
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

const char* library_being_opened() { return being_opened; }

}  // namespace terrane::frontend::threads
