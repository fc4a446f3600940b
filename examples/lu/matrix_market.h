#pragma once

#include <cstdio>
#include <string>

#include "matrix.h"
#include "outcome.h"

namespace lu {

// Reads a square matrix in the Matrix Market exchange format (Boisvert, Pozo, Remington 1996):
// coordinate or array; real, integer or pattern (its entries are 1); general, symmetric or
// skew-symmetric. Entries of one place are added up. Holds one line of the file at a time, and
// takes no more memory than the entries that it has read. A Failure names the file, the line, what
// is wrong there.
Outcome<Matrix> read_matrix(const std::string& path);
// The same from an open file, whose name is only for the sentences.
Outcome<Matrix> parse_matrix(std::FILE* file, const std::string& name);

// Reads a column of `size` numbers: an n x 1 matrix of the same format.
Outcome<Vector> read_vector(const std::string& path, std::uint32_t size);
Outcome<Vector> parse_vector(std::FILE* file, const std::string& name, std::uint32_t size);

// Write numbers with 17 digits: they read back as the same bits.
Outcome<> write_matrix(const std::string& path, const Matrix& matrix, const std::string& comment);
Outcome<> write_vector(const std::string& path, const Vector& vector);

}  // namespace lu
