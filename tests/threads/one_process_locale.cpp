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

// The classes of characters are in a table, which the locale knows by its address.
int read_sum() {
  std::istringstream text("  12 \t 30");
  int first = 0, second = 0;
  text >> first >> second;
  return first + second;
}

void show(const std::locale& kept) {
  const auto& of_main = std::use_facet<std::ctype<wchar_t>>(kept);
  bool is_letter = of_main.is(std::ctype_base::alpha, L'\u00e9');
  std::printf("%s %d %d\n", written().c_str(), is_letter, read_sum());
  std::fflush(stdout);
}

template <typename Work>
void in_threads(Work work) {
  for (int i = 0; i < 3; ++i) std::thread(work).join();
}

}  // namespace

// From here on this node's C library maps its files at other addresses than the others do.
void shift_mappings() {
#ifdef __x86_64__
  register long flags asm("r10") = 0x22;  // private, of no file
  register long file asm("r8") = -1, offset asm("r9") = 0;
  long result = 9;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(0L), "S"(1L << 20), "d"(0L), "r"(flags), "r"(file), "r"(offset)
               : "rcx", "r11", "memory");
  if (result < 0) std::printf("no memory\n");
#endif
}

int main() {
  std::thread(shift_mappings).join();
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
