// So that the library's version has something in it.
const int terrane_omp_other_name = 0;
