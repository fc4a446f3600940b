#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

// Texts that threads of other nodes have written to a stream of this one, and that wait in shared
// memory until this node uses the stream, or there are many: what its buffer is to the threads of
// one process. They are in the order in which the program has written them (decision 0064).
namespace terrane::frontend::threads {

// Texts for one stream. In shared memory, for ever; under the lock of its address.
struct WaitingTexts {
  static constexpr std::size_t kRoom = 16 << 10;
  std::uint32_t is_open;  // 0: the stream is closed, or keeps nothing in a buffer
  std::uint32_t used;
  int error;  // of earlier texts, which were not written; 0: none
  char text[kRoom];
};

// Of a stream of this node that has a buffer: texts for it may wait there from now on. nullptr:
// there is no memory.
WaitingTexts* open_waiting_texts(std::FILE* stream);
// False: it does not fit, or the stream was closed: the text is to be sent. `error`: of earlier
// texts.
bool add_waiting_text(WaitingTexts& waiting, const char* text, std::size_t bytes, int& error);
// Before a call of this node about a stream of its own: what waits for it is written.
void write_waiting_texts(std::FILE* stream);
// The same before the stream is closed: no text waits any more.
void close_waiting_texts(std::FILE* stream);
// What waits for any stream of this node.
void write_all_waiting_texts();

}  // namespace terrane::frontend::threads
