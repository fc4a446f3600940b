// Ends of programs in C++, in main or in a thread (actor.h).
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <vector>

#include "actor.h"

namespace {

bool is_asked(const std::string& what) {
  const char* asked = std::getenv("ENDS_IN");
  return asked != nullptr && what == asked;
}

// A static object, whose making or end may be the program's.
struct Whole {
  Whole() {
    if (is_asked("object_throw")) throw std::runtime_error("in a constructor");
    if (is_asked("object_exit")) std::exit(91);
    if (is_asked("object_terminate")) std::terminate();
  }
  ~Whole() {
    if (is_asked("object_output")) std::puts("the end of a static object");
    if (is_asked("object_stream")) std::cout << "the end of a static object, no newline";
    if (is_asked("object_end_exit")) std::exit(92);
    if (is_asked("object_end_quick")) std::fflush(stdout), std::_Exit(93);
    if (is_asked("object_end_abort")) std::abort();
  }
} whole;

struct Local {
  const char* name;
  ~Local() { say(name); }
};

thread_local Local of_thread{"the end of a thread_local object"};

struct ThrowsAtEnd {
  ~ThrowsAtEnd() noexcept(false) { throw std::runtime_error("in a destructor"); }
};

struct Base {
  explicit Base(bool calls) {
    if (calls) call();
  }
  virtual ~Base() = default;
  void call() { work(); }
  virtual void work() = 0;
};
struct Derived : Base {
  Derived() : Base(true) {}
  void work() override {}
};

int throw_error(int) { throw std::runtime_error("nobody catches this"); }
int throw_number(int number) { throw number; }
int throw_system(int number) { throw std::system_error(number, std::generic_category(), "a call"); }
int throw_again(int) {
  try {
    throw std::logic_error("again");
  } catch (...) {
    throw;
  }
}
int throw_nothing(int) { throw; }
int throw_past_noexcept(int) {
  [](bool throws) noexcept {
    if (throws) throw 1;
  }(true);
  return 0;
}
int throw_in_destructor(int) {
  ThrowsAtEnd first;
  throw 2;
}
int catch_all(int code) {
  try {
    throw_error(0);
  } catch (const std::exception& error) {
    std::cout << "caught: " << error.what() << std::endl;
  }
  return code;
}
int terminate(int) { std::terminate(); }
int terminate_by_handler(int code) {
  static int kept = 0;
  kept = code;
  std::set_terminate([] {
    say("the program's terminate");
    if (kept == 0) std::abort();
    if (kept < 50) std::_Exit(kept);
    std::exit(kept);
  });
  throw 3;
}
int name_of_exception(int code) {
  static int kept = 0;
  kept = code;
  std::set_terminate([] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::exception& error) {
      say(error.what());
    }
    std::_Exit(kept);
  });
  throw std::out_of_range("out of range");
}
int call_pure(int) {
  Derived derived;
  return 0;
}
int forget_thread(int) {
  std::thread one([] {});
  return 0;
}
int throw_in_thread(int) {
  std::thread one([] { throw std::runtime_error("in a std::thread"); });
  one.join();
  return 0;
}
int exit_in_thread(int code) {
  std::thread one([code] { std::exit(code); });
  one.join();
  return 0;
}
int exit_in_frame(int code) {
  Local local{"an end that never comes"};
  std::exit(code);
}
int return_from_frame(int code) {
  Local local{"the end of a local object"};
  return code;
}
int pthread_exit_in_frame(int code) {
  Local local{"the end of a local object"};
  tell(code);
  pthread_exit(nullptr);
}
int no_memory(int) {
  std::vector<char*> all;
  for (;;) all.push_back(new char[std::size_t{1} << 60]);
}
int out_of_range(int at) { return std::vector<int>(3).at(static_cast<std::size_t>(at)); }
int empty_function(int) { return std::function<int()>()(); }
int bad_cast(int) {
  struct One {
    virtual ~One() = default;
  } one;
  struct Other : One {};
  return dynamic_cast<Other&>(one), 0;
}
int no_number(int) { return std::stoi("no number"); }
int exit_by(int code) { std::exit(code); }
int quick_exit_by(int code) {
  std::at_quick_exit([] { say("a handler of quick_exit"); });
  std::quick_exit(code);
}
int use_thread_local(int code) { return of_thread.name != nullptr ? code : 0; }
int exit_with_thread_local(int code) {
  if (of_thread.name != nullptr) std::exit(code);
  return 0;
}
int print_by_streams(int code) {
  std::cout << "cout without an end of line";
  std::cerr << "cerr\n";
  std::clog << "clog\n";
  return code;
}
int print_and_throw(int) {
  std::cout << "cout, flushed" << std::flush;
  throw std::runtime_error("after output");
}
int fail_stream(int) {
  std::cout.exceptions(std::ios::badbit | std::ios::failbit);
  for (int i = 0; i < 100000; ++i) std::cout << "a line of many\n";
  std::cout.flush();
  return 0;
}
int check_stream(int) {
  for (int i = 0; i < 100000; ++i) std::cout << "a line of many\n";
  return std::cout.flush() ? 0 : 1;
}
int read_stream(int code) {
  std::string word;
  int words = 0;
  while (std::cin >> word) ++words;
  std::cout << words << " words, at the end " << std::cin.eof() << "\n";
  return code;
}
int read_lines_of_stream(int code) {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << line << "\n";
  return code;
}

constexpr Way kWays[] = {{"throw", throw_error},
                         {"throw_number", throw_number},
                         {"throw_system", throw_system},
                         {"throw_again", throw_again},
                         {"throw_nothing", throw_nothing},
                         {"throw_past_noexcept", throw_past_noexcept},
                         {"throw_in_destructor", throw_in_destructor},
                         {"catch", catch_all},
                         {"terminate", terminate},
                         {"terminate_by_handler", terminate_by_handler},
                         {"name_of_exception", name_of_exception},
                         {"pure", call_pure},
                         {"forget_thread", forget_thread},
                         {"throw_in_thread", throw_in_thread},
                         {"exit_in_thread", exit_in_thread},
                         {"exit_in_frame", exit_in_frame},
                         {"return_from_frame", return_from_frame},
                         {"pthread_exit_in_frame", pthread_exit_in_frame},
                         {"no_memory", no_memory},
                         {"out_of_range", out_of_range},
                         {"empty_function", empty_function},
                         {"bad_cast", bad_cast},
                         {"no_number", no_number},
                         {"exit", exit_by},
                         {"quick_exit", quick_exit_by},
                         {"thread_local", use_thread_local},
                         {"exit_thread_local", exit_with_thread_local},
                         {"streams", print_by_streams},
                         {"print_and_throw", print_and_throw},
                         {"fail_stream", fail_stream},
                         {"check_stream", check_stream},
                         {"read_stream", read_stream},
                         {"read_lines", read_lines_of_stream},
                         {nullptr, nullptr}};

}  // namespace

int main(int argc, char** argv) { return run_way(kWays, argc, argv); }
