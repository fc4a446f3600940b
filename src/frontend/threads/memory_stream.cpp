// open_memstream: a stream of this node whose text lies in the program's heap, so that threads of
// every node can read it and free it.
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

// The text behind such a stream. Private memory of the stream's node.
class Text {
 public:
  Text(char** out, size_t* bytes) : out_(out), bytes_(bytes) {}

  // False: there is no memory.
  bool begin() {
    if (!reserve(kFirst)) return false;
    text_[0] = '\0';
    publish();
    return true;
  }

  ssize_t write(const char* from, size_t bytes) {
    if (!reserve(place_ + bytes + 1)) return 0;  // a stream takes that for an error
    if (place_ > length_) memset(text_ + length_, 0, place_ - length_);
    memcpy(text_ + place_, from, bytes);
    place_ += bytes;
    length_ = std::max(length_, place_);
    text_[length_] = '\0';
    publish();
    return static_cast<ssize_t>(bytes);
  }

  int seek(off64_t* offset, int from) {
    off64_t base = from == SEEK_SET   ? 0
                   : from == SEEK_CUR ? static_cast<off64_t>(place_)
                                      : static_cast<off64_t>(length_);
    if (base + *offset < 0) return -1;
    *offset += base;
    place_ = static_cast<size_t>(*offset);
    publish();
    return 0;
  }

 private:
  static constexpr size_t kFirst = 128;

  bool reserve(size_t bytes) {
    if (bytes <= room_) return true;
    size_t room = std::max(bytes, 2 * room_);
    auto& heap = Program::get()->heap();
    void* text = text_ == nullptr ? heap.allocate(room) : heap.resize(text_, room);
    if (text == nullptr) return false;
    text_ = static_cast<char*>(text);
    room_ = room;
    return true;
  }

  void publish() {
    *out_ = text_;
    *bytes_ = std::min(length_, place_);
  }

  char** out_;
  size_t* bytes_;
  char* text_ = nullptr;
  size_t room_ = 0, length_ = 0, place_ = 0;
};

ssize_t write_text(void* text, const char* from, size_t bytes) {
  return static_cast<Text*>(text)->write(from, bytes);
}
int seek_text(void* text, off64_t* offset, int from) {
  return static_cast<Text*>(text)->seek(offset, from);
}
int close_text(void* text) {
  delete static_cast<Text*>(text);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

FILE* open_memstream(char** out, size_t* bytes) noexcept {
  if (Program::get() == nullptr || !is_in_program())
    return next<"open_memstream">(::open_memstream)(out, bytes);
  auto* text = new (std::nothrow) Text(out, bytes);
  FILE* stream = nullptr;
  if (text != nullptr && text->begin())
    stream = fopencookie(text, "w", {nullptr, write_text, seek_text, close_text});
  if (stream != nullptr) return stream;
  delete text;
  errno = ENOMEM;
  return nullptr;
}

}  // extern "C"
#pragma GCC visibility pop
