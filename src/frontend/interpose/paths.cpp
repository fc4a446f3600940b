// More calls that take paths: those that take two folders, or fill in a name, and streams.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"

using namespace terrane::frontend;

namespace {

// Of two folders one that is elsewhere; -1: none is.
int elsewhere_of(int one, int other) {
  return is_elsewhere(one) ? one : is_elsewhere(other) ? other : -1;
}

// Whether one node has both; the current folder is that of all nodes. Else the call is refused.
bool same_node(const char* call, int one, int other) {
  Elsewhere& elsewhere = *Elsewhere::get();
  bool same = one < 0 || other < 0 || elsewhere.node_of(one) == elsewhere.node_of(other);
  if (!same) elsewhere.refuse(call, is_elsewhere(one) ? one : other);
  return same;
}

// The name that a template becomes is the program's afterwards. call(text) is one of the mkstemp
// family, result.ok() whether it made the file.
template <typename Call>
auto make_named(char* name, Call call) {
  if (!SharedRange::contains(name)) return call(name);
  char own[PATH_MAX];
  if (!terrane::platform::guarded_copy_string(own, name, sizeof own)) return call(name);
  auto result = call(own);
  terrane::platform::guarded_copy(name, own, std::strlen(own) + 1);
  return result;
}

// A standard stream keeps its number, by which the program's children have it.
FILE* reopened(FILE* stream) {
  if (stream == nullptr || stream->_fileno > STDERR_FILENO) return adopt(stream);
  if (Elsewhere* elsewhere = Elsewhere::get()) elsewhere->redirected(stream->_fileno);
  return stream;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (int folder = elsewhere_of(from_folder, to_folder); folder >= 0)
    return same_node("linkat", from_folder, to_folder)
               ? call_elsewhere(folder, ::linkat, from_folder, from, to_folder, to, flags)
               : -1;
  auto* call = next<"linkat">(::linkat);
  return call(from_folder, InPath(from).get(), to_folder, InPath(to).get(), flags);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (int folder = elsewhere_of(from_folder, to_folder); folder >= 0)
    return same_node("renameat", from_folder, to_folder)
               ? call_elsewhere(folder, ::renameat, from_folder, from, to_folder, to)
               : -1;
  auto* call = next<"renameat">(::renameat);
  return call(from_folder, InPath(from).get(), to_folder, InPath(to).get());
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  if (int folder = elsewhere_of(from_folder, to_folder); folder >= 0)
    return same_node("renameat2", from_folder, to_folder)
               ? call_elsewhere(folder, ::renameat2, from_folder, from, to_folder, to, flags)
               : -1;
  auto* call = next<"renameat2">(::renameat2);
  return call(from_folder, InPath(from).get(), to_folder, InPath(to).get(), flags);
}

int mkstemp(char* name) { return adopt(make_named(name, next<"mkstemp">(::mkstemp))); }

int mkostemp(char* name, int flags) {
  auto* call = next<"mkostemp">(::mkostemp);
  return adopt(make_named(name, [=](char* own) { return call(own, flags); }));
}

int mkstemps(char* name, int suffix) {
  auto* call = next<"mkstemps">(::mkstemps);
  return adopt(make_named(name, [=](char* own) { return call(own, suffix); }));
}

int mkostemps(char* name, int suffix, int flags) {
  auto* call = next<"mkostemps">(::mkostemps);
  return adopt(make_named(name, [=](char* own) { return call(own, suffix, flags); }));
}

char* mkdtemp(char* name) noexcept {
  auto* call = next<"mkdtemp">(::mkdtemp);
  return make_named(name, [=](char* own) { return call(own) != nullptr ? name : nullptr; });
}

char* realpath(const char* path, char* resolved) noexcept {
  auto* call = next<"realpath">(::realpath);
  InPath own(path);
  if (!SharedRange::contains(resolved)) {
    ForCaller memory;
    return call(own.get(), resolved);
  }
  char text[PATH_MAX];
  if (call(own.get(), text) == nullptr) return nullptr;
  if (terrane::platform::guarded_copy(resolved, text, std::strlen(text) + 1)) return resolved;
  errno = EFAULT;
  return nullptr;
}

FILE* freopen(const char* path, const char* mode, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::freopen, path, mode, stream);
  return reopened(next<"freopen">(::freopen)(InPath(path).get(), mode, stream));
}

FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::freopen64, path, mode, stream);
  return reopened(next<"freopen64">(::freopen64)(InPath(path).get(), mode, stream));
}

static_assert(sizeof(dirent) == sizeof(dirent64));
int scandirat64(int folder, const char* path, dirent64*** names, int (*wanted)(const dirent64*),
                int (*order)(const dirent64**, const dirent64**)) {
  return scandirat(folder, path, reinterpret_cast<dirent***>(names),
                   reinterpret_cast<int (*)(const dirent*)>(wanted),
                   reinterpret_cast<int (*)(const dirent**, const dirent**)>(order));
}

}  // extern "C"
#pragma GCC visibility pop
