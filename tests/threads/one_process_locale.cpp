// The locale that streams of C++ begin with is one for the program, as main has set it.
#include <cstdio>
#include <locale>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

class Grouped : public std::numpunct<char> {
  char do_thousands_sep() const override { return '\''; }
  char do_decimal_point() const override { return ','; }
  std::string do_grouping() const override { return "\3"; }
};

std::string written() {
  std::ostringstream text;
  text << 1234567 << " " << 0.5;
  return text.str() + " " + std::locale().name();
}

void show(const std::locale& kept) {
  const auto& of_main = std::use_facet<std::ctype<wchar_t>>(kept);
  std::printf("%s %d\n", written().c_str(), of_main.is(std::ctype_base::alpha, L'\u00e9'));
  std::fflush(stdout);
}

template <typename Work>
void in_threads(Work work) {
  for (int i = 0; i < 3; ++i) std::thread(work).join();
}

}  // namespace

int main() {
  std::locale::global(std::locale("C.UTF-8"));
  const std::locale kept;
  in_threads([&] { show(kept); });
  std::locale::global(std::locale(kept, new Grouped));
  in_threads([&] { show(kept); });
  // Many copies at once, on all nodes.
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      std::string first = written();
      for (int round = 0; round < 2000; ++round)
        if (written() != first) std::printf("another locale\n");
    });
  for (std::thread& thread : threads) thread.join();
  // A thread of another node sets it back.
  in_threads([] { std::locale::global(std::locale::classic()); });
  show(kept);
  in_threads([&] { show(kept); });
}
