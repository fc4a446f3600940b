#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace terrane::cluster_test {

// What a command did.
struct Outcome {
  int exit_code = -1;  // 128 + signal when it was killed
  std::string out, err;
  bool timed_out = false;
};

// One command under test with its output caught. Owns the process; ends everything that carries its
// mark.
class Launched {
 public:
  struct Options {
    std::vector<std::string> environment;  // NAME=VALUE
    std::string input;
    bool as_nobody = false;
    bool keep_input_open = false;
    std::function<void()> before_exec;  // in the child
  };

  explicit Launched(std::vector<std::string> command) : Launched(std::move(command), Options()) {}
  Launched(std::vector<std::string> command, Options options);
  ~Launched();

  // Reads until the command has ended and its output is at an end; not longer than 60 s.
  Outcome finish();
  // Reads until its output, of both kinds, holds the text `times` times. False: it did not come
  // within 10 s.
  bool wait_for(const std::string& text, int times = 1);

  pid_t pid() const { return pid_; }
  const std::string& out() const { return outcome_.out; }
  const std::string& err() const { return outcome_.err; }
  // Every process but the command's own that carries the mark of this test.
  std::vector<pid_t> marked_processes() const;
  // Waits until no process carries the mark; the milliseconds that it took, or -1 after 5 s.
  int ms_until_all_gone() const;

 private:
  void read_some(int timeout_ms);
  void close_all();

  std::string mark_;
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1, input_ = -1;
  Outcome outcome_;
};

bool is_root();
// How often `part` is in the text.
int count(const std::string& text, const std::string& part);

// Runs `terrane run ARGUMENTS`, whose output (both kinds as one: Outcome::out) must say each of
// `sentences`. Then it makes the file whose name the environment has as HEARD, for which the
// program waits.
Outcome run_until_said(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& sentences);

// terrane run [options] -- node_program [actions], each a string of words.
std::vector<std::string> run_nodes(const std::string& options, const std::string& actions);
std::vector<std::string> words(const std::string& text);
Outcome run(const std::string& options, const std::string& actions,
            Launched::Options launch_options = {});

extern const char* const kTerrane;      // the command under test
extern const char* const kNodeProgram;  // node_program.cpp

}  // namespace terrane::cluster_test
