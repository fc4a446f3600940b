// The calls of terrane/omp.h, which terrane-gcc links into a program. The program also runs by
// itself: there a mapping does nothing.
#include <dlfcn.h>
#include <terrane/omp.h>

#include <cstdint>

namespace {

constexpr unsigned kMostDimensions = 7;

// libgomp's part, of Terrane's (src/frontend/omp/map.cpp). `problem`: what is wrong with the call
// already, or nullptr.
using Map = void(const void*, std::size_t, unsigned, const std::size_t*, const int*, const char*);

void map(const void* array, std::size_t element_bytes, unsigned dimensions,
         const std::size_t* extents, const int* distributions, const char* problem) {
  static Map* served = reinterpret_cast<Map*>(::dlsym(RTLD_DEFAULT, "terrane_omp_map"));
  if (served != nullptr) served(array, element_bytes, dimensions, extents, distributions, problem);
}

// How gfortran describes an array that it passes to an assumed-rank dummy (CFI_cdesc_t of
// ISO_Fortran_binding.h, which is not there without gfortran).
struct FortranArray {
  struct Dimension {
    std::ptrdiff_t lower_bound, extent, stride_bytes;
  };
  const void* base;
  std::size_t element_bytes;
  int version;
  signed char rank, attribute;
  short type;
  Dimension dimensions[kMostDimensions];
};

}  // namespace

extern "C" {

void terrane_map_array(const void* array, std::size_t element_bytes, unsigned dimensions,
                       const std::size_t* extents, const int* distributions) noexcept {
  map(array, element_bytes, dimensions, extents, distributions, nullptr);
}

void terrane_map_whole(const void* place, const void* array, std::size_t element_bytes,
                       unsigned dimensions, const std::size_t* extents,
                       const int* distributions) noexcept {
  map(array, element_bytes, dimensions, extents, distributions,
      place == array ? nullptr : "it is a pointer, not an array: call terrane_map_array");
}

// terrane_map of terrane/fortran/omp.inc: the first dimension is contiguous, and a word for each
// dimension comes by address.
[[gnu::visibility("default")]] void terrane_map_fortran(const FortranArray* array, const int* d1,
                                                        const int* d2, const int* d3, const int* d4,
                                                        const int* d5, const int* d6,
                                                        const int* d7) noexcept {
  const int* words[kMostDimensions] = {d1, d2, d3, d4, d5, d6, d7};
  unsigned rank = array->rank > 0 ? static_cast<unsigned>(array->rank) : 0, given = 0;
  while (given < kMostDimensions && words[given] != nullptr) ++given;
  const char* problem = nullptr;
  if (rank != given) problem = "it must have one word for each of the array's dimensions";
  std::size_t extents[kMostDimensions] = {};
  int distributions[kMostDimensions] = {};
  auto stride = static_cast<std::ptrdiff_t>(array->element_bytes);
  for (unsigned i = 0; i < rank && problem == nullptr; ++i) {
    const FortranArray::Dimension& dimension = array->dimensions[i];
    if (dimension.stride_bytes != stride) problem = "it is a part of an array: map the whole one";
    extents[rank - 1 - i] = static_cast<std::size_t>(dimension.extent < 0 ? 0 : dimension.extent);
    distributions[rank - 1 - i] = *words[i];
    stride *= dimension.extent;
  }
  map(array->base, array->element_bytes, rank, extents, distributions, problem);
}

}  // extern "C"
