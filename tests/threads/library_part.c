// What library_opened.c needs: opened together with it.
static long total = 1000;

long add_to_total(long amount) { return total += amount; }
