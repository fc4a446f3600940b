#include "platform/diff.h"

#include <cstdlib>
#include <vector>

#include "platform/diff_format.h"

namespace terrane::platform {
namespace {

std::vector<DiffKernels> find_kernels() {
  std::vector<DiffKernels> found{kScalarKernels};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
      __builtin_cpu_supports("bmi")) {
    found.push_back(kAvx2Kernels);
  }
  // Processors with AVX-512 BW have fast pext and pdep (BMI2) as well.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")) {
    found.push_back(kAvx512Kernels);
  }
#endif
  return found;
}

DiffKernels choose_kernels() {
  std::span<const DiffKernels> all = all_diff_kernels();
  if (const char* wanted = std::getenv("TERRANE_DIFF")) {
    for (const DiffKernels& kernels : all) {
      if (kernels.name == wanted) return kernels;
    }
  }
  return all.back();
}

}  // namespace

std::span<const DiffKernels> all_diff_kernels() {
  static const std::vector<DiffKernels> kernels = find_kernels();
  return kernels;
}

const DiffKernels& diff_kernels() {
  static const DiffKernels kernels = choose_kernels();
  return kernels;
}

}  // namespace terrane::platform
