// What a child of posix_spawn does with its files: the program's list lies in shared memory. Its
// child, which cannot reach that, has the C library's own list of the same (Elsewhere).
#include <spawn.h>

#include <cerrno>
#include <cstring>

#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

using Actions = posix_spawn_file_actions_t;

constexpr int kShared = 0x7e44a9e;  // in the last word of a list that is ours

struct Action {
  enum Kind { kClose, kDuplicate, kOpen, kFolder, kFolderOf, kCloseFrom, kTerminal };
  Kind kind;
  int fd, other;
  mode_t mode;
  char* path;
};

bool is_ours(const Actions* list) { return list->__pad[15] == kShared; }

Action* actions_of(const Actions* list) { return reinterpret_cast<Action*>(list->__actions); }

// An error number, or 0.
int add(Actions* list, Action action) {
  if (action.kind != Action::kFolder && action.fd < 0) return EBADF;
  terrane::runtime::Heap& heap = Program::get()->heap();
  if (list->__used == list->__allocated) {
    int room = 2 * list->__allocated + 4;
    std::size_t bytes = static_cast<std::size_t>(room) * sizeof(Action);
    void* grown =
        list->__actions == nullptr ? heap.allocate(bytes) : heap.resize(list->__actions, bytes);
    if (grown == nullptr) return ENOMEM;
    list->__actions = static_cast<__spawn_action*>(grown);
    list->__allocated = room;
  }
  if (action.path != nullptr) {
    std::size_t bytes = std::strlen(action.path) + 1;
    auto* copy = static_cast<char*>(heap.allocate(bytes));
    if (copy == nullptr) return ENOMEM;
    action.path = static_cast<char*>(std::memcpy(copy, action.path, bytes));
  }
  actions_of(list)[list->__used++] = action;
  return 0;
}

int add_to_library(Actions* to, const Action& one) {
  switch (one.kind) {
    case Action::kClose:
      return next<"posix_spawn_file_actions_addclose">(::posix_spawn_file_actions_addclose)(to,
                                                                                            one.fd);
    case Action::kDuplicate:
      return next<"posix_spawn_file_actions_adddup2">(::posix_spawn_file_actions_adddup2)(
          to, one.fd, one.other);
    case Action::kOpen:
      return next<"posix_spawn_file_actions_addopen">(::posix_spawn_file_actions_addopen)(
          to, one.fd, one.path, one.other, one.mode);
    case Action::kFolder:
      return next<"posix_spawn_file_actions_addchdir_np">(::posix_spawn_file_actions_addchdir_np)(
          to, one.path);
    case Action::kFolderOf:
      return next<"posix_spawn_file_actions_addfchdir_np">(::posix_spawn_file_actions_addfchdir_np)(
          to, one.fd);
    case Action::kCloseFrom:
      return next<"posix_spawn_file_actions_addclosefrom_np">(
          ::posix_spawn_file_actions_addclosefrom_np)(to, one.fd);
    case Action::kTerminal:
      return next<"posix_spawn_file_actions_addtcsetpgrp_np">(
          ::posix_spawn_file_actions_addtcsetpgrp_np)(to, one.fd);
  }
  return EINVAL;
}

}  // namespace

namespace terrane::frontend::threads {

bool copy_spawn_actions(const Actions& from, Actions& to) {
  if (!is_ours(&from)) return false;
  next<"posix_spawn_file_actions_init">(::posix_spawn_file_actions_init)(&to);
  for (int i = 0; i < from.__used; ++i) add_to_library(&to, actions_of(&from)[i]);
  return true;
}

}  // namespace terrane::frontend::threads

#pragma GCC visibility push(default)
extern "C" {

int posix_spawn_file_actions_init(Actions* list) noexcept {
  auto* call = next<"posix_spawn_file_actions_init">(::posix_spawn_file_actions_init);
  int error = call(list);
  if (error == 0) list->__pad[15] = concerns_all_nodes() ? kShared : 0;
  return error;
}

int posix_spawn_file_actions_destroy(Actions* list) noexcept {
  auto* call = next<"posix_spawn_file_actions_destroy">(::posix_spawn_file_actions_destroy);
  if (!is_ours(list)) return call(list);
  terrane::runtime::Heap& heap = Program::get()->heap();
  for (int i = 0; i < list->__used; ++i)
    if (actions_of(list)[i].path != nullptr) heap.free(actions_of(list)[i].path);
  if (list->__actions != nullptr) heap.free(list->__actions);
  std::memset(list, 0, sizeof *list);
  return 0;
}

int posix_spawn_file_actions_addclose(Actions* list, int fd) noexcept {
  Action one{Action::kClose, fd, 0, 0, nullptr};
  return is_ours(list) ? add(list, one) : add_to_library(list, one);
}

int posix_spawn_file_actions_adddup2(Actions* list, int fd, int to) noexcept {
  Action one{Action::kDuplicate, fd, to, 0, nullptr};
  if (to < 0) return EBADF;
  return is_ours(list) ? add(list, one) : add_to_library(list, one);
}

int posix_spawn_file_actions_addopen(Actions* list, int fd, const char* path, int flags,
                                     mode_t mode) noexcept {
  Action one{Action::kOpen, fd, flags, mode, const_cast<char*>(path)};
  return is_ours(list) ? add(list, one) : add_to_library(list, one);
}

int posix_spawn_file_actions_addchdir_np(Actions* list, const char* path) noexcept {
  Action one{Action::kFolder, 0, 0, 0, const_cast<char*>(path)};
  return is_ours(list) ? add(list, one) : add_to_library(list, one);
}

int posix_spawn_file_actions_addfchdir_np(Actions* list, int fd) noexcept {
  Action one{Action::kFolderOf, fd, 0, 0, nullptr};
  return is_ours(list) ? add(list, one) : add_to_library(list, one);
}

int posix_spawn_file_actions_addclosefrom_np(Actions* list, int fd) noexcept {
  Action one{Action::kCloseFrom, fd, 0, 0, nullptr};
  return is_ours(list) ? add(list, one) : add_to_library(list, one);
}

int posix_spawn_file_actions_addtcsetpgrp_np(Actions* list, int fd) noexcept {
  Action one{Action::kTerminal, fd, 0, 0, nullptr};
  return is_ours(list) ? add(list, one) : add_to_library(list, one);
}

}  // extern "C"
#pragma GCC visibility pop
