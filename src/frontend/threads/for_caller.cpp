// Functions of the C library that allocate what their caller is to free: it lies in the caller's
// heap, so that threads of other nodes can read it.
#include "frontend/interpose/for_caller.h"

#include <mntent.h>
#include <stdio.h>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::ForCaller;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;

#pragma GCC visibility push(default)
extern "C" {

ssize_t getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  if (is_elsewhere(stream))
    return call_elsewhere(stream, ::getdelim, line, room, delimiter, stream);
  // The kernel writes into the stream's buffer, which is no part of what the caller gets.
  if (stream->_IO_buf_base == nullptr) {
    int byte = next<"fgetc">(::fgetc)(stream);
    if (byte != EOF) next<"ungetc">(::ungetc)(byte, stream);
  }
  ForCaller memory;
  return next<"getdelim">(::getdelim)(line, room, delimiter, stream);
}

int endmntent(FILE* stream) noexcept {
  if (stream != nullptr && is_elsewhere(stream)) return call_elsewhere(stream, ::endmntent, stream);
  return next<"endmntent">(::endmntent)(stream);
}

}  // extern "C"
#pragma GCC visibility pop
