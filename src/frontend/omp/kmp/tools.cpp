// What a program asks of tools and of objects of foreign runtime libraries: there are none. Source:
// OpenMP 5.1, sections 3.12 (interoperability) and 3.14 (tool control), and omp.h of clang.
#include <cstdint>

namespace {

constexpr int kNoTool = -2, kEmpty = -1;

template <typename Value>
Value nothing(int* code) {
  if (code != nullptr) *code = kEmpty;
  return Value{};
}

}  // namespace

extern "C" {

int omp_control_tool(int, int, void*) { return kNoTool; }
int omp_control_tool_(const int*, const int*, void*) { return kNoTool; }

int omp_get_num_interop_properties(const void*) { return 0; }
std::intptr_t omp_get_interop_int(const void*, int, int* code) {
  return nothing<std::intptr_t>(code);
}
void* omp_get_interop_ptr(const void*, int, int* code) { return nothing<void*>(code); }
const char* omp_get_interop_str(const void*, int, int* code) { return nothing<const char*>(code); }
const char* omp_get_interop_name(const void*, int) { return nullptr; }
const char* omp_get_interop_type_desc(const void*, int) { return nullptr; }
const char* omp_get_interop_rc_desc(const void*, int) { return nullptr; }

}  // extern "C"
