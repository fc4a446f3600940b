/* A library that programs open at run time. */
long opened_word = 77;
