// Conversions of character sets and catalogues of messages: each is good on the node that has
// opened it. The program has a handle in shared memory that says which node that is, and a call
// about it is made there.
#include <iconv.h>
#include <nl_types.h>

#include <cerrno>

#include "frontend/interpose/arguments.h"
#include "frontend/threads/copies.h"

using terrane::frontend::call_on;
using terrane::frontend::InPath;
using terrane::frontend::next;
using terrane::frontend::SharedRange;
using namespace terrane::frontend::threads;

namespace {

struct Handle {
  std::uint32_t node;
  void* own;  // of the C library
};

const auto kNone = reinterpret_cast<void*>(-1);

bool is_handle(const void* of) { return of != kNone && SharedRange::contains(of); }
Handle& handle(void* of) { return *static_cast<Handle*>(of); }
bool is_here(void* of) { return handle(of).node == Program::get()->self(); }

// kNone: there is no memory; `close` has closed it again.
template <typename Close>
void* handle_for(void* own, Close close) {
  if (own == kNone) return kNone;
  auto* made = static_cast<Handle*>(Program::get()->heap().allocate(sizeof(Handle)));
  if (made == nullptr) {
    close(own);
    errno = ENOMEM;
    return kNone;
  }
  *made = {Program::get()->self(), own};
  return made;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

iconv_t iconv_open(const char* to, const char* from) {
  auto* call = next<"iconv_open">(::iconv_open);
  if (!concerns_all_nodes()) return call(to, from);
  return handle_for(in_library(call, to, from), next<"iconv_close">(::iconv_close));
}

size_t iconv(iconv_t conversion, char** in, size_t* in_bytes, char** out, size_t* out_bytes) {
  auto* call = next<"iconv">(::iconv);
  if (!is_handle(conversion)) return call(conversion, in, in_bytes, out, out_bytes);
  if (!is_here(conversion))
    return call_on(handle(conversion).node, ::iconv, conversion, in, in_bytes, out, out_bytes);
  return call(handle(conversion).own, in, in_bytes, out, out_bytes);
}

int iconv_close(iconv_t conversion) {
  auto* call = next<"iconv_close">(::iconv_close);
  if (!is_handle(conversion)) return call(conversion);
  if (!is_here(conversion)) return call_on(handle(conversion).node, ::iconv_close, conversion);
  int result = in_library(call, handle(conversion).own);
  Program::get()->heap().free(conversion);
  return result;
}

nl_catd catopen(const char* name, int flag) {
  auto open = +[](const char* path, int way) {
    return next<"catopen">(::catopen)(InPath(path).get(), way);
  };
  if (!concerns_all_nodes()) return open(name, flag);
  return handle_for(in_library(open, name, flag), next<"catclose">(::catclose));
}

char* catgets(nl_catd catalogue, int set, int number, const char* otherwise) noexcept {
  auto* call = next<"catgets">(::catgets);
  if (!is_handle(catalogue)) return call(catalogue, set, number, otherwise);
  if (!is_here(catalogue))
    return call_on(handle(catalogue).node, ::catgets, catalogue, set, number, otherwise);
  char* text = call(handle(catalogue).own, set, number, otherwise);
  return text == otherwise ? text : shared_text(text);
}

int catclose(nl_catd catalogue) noexcept {
  auto* call = next<"catclose">(::catclose);
  if (!is_handle(catalogue)) return call(catalogue);
  if (!is_here(catalogue)) return call_on(handle(catalogue).node, ::catclose, catalogue);
  int result = in_library(call, handle(catalogue).own);
  Program::get()->heap().free(catalogue);
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
