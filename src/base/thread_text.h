#pragma once

#include <string>

namespace terrane::base {

// The calling thread's text of a kind: one for each `Tag`, "" at first. It may be used as long as
// the thread lives, also by functions of atexit and on_exit, which run when the thread's objects
// are destroyed already: these use one text of the process. Any thread.
template <typename Tag>
std::string& thread_text() {
  static auto* at_exit = new std::string();  // never destroyed
  thread_local bool is_destroyed = false;
  struct Text {
    std::string text;
    ~Text() { is_destroyed = true; }
  };
  if (is_destroyed) return *at_exit;
  thread_local Text own;
  return own.text;
}

}  // namespace terrane::base
