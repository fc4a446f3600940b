// Locales, conversions and catalogues: made in one thread, used in threads of other nodes.
#define _GNU_SOURCE
#include <ctype.h>
#include <iconv.h>
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <nl_types.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

static int wrong;

static void check(int condition, const char* what) {
  if (condition) return;
  printf("%s is wrong\n", what);
  ++wrong;
}

static void in_thread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, argument);
  pthread_join(thread, NULL);
}

// An a with two dots: one byte in ISO 8859-1, two in UTF-8.
static iconv_t conversion;

static void* convert(void* unused) {
  char in[] = "\xe4", out[8] = "", *from = in, *to = out;
  size_t left = 1, room = sizeof out - 1;
  check(iconv(conversion, &from, &left, &to, &room) == 0 && strcmp(out, "\xc3\xa4") == 0, "iconv");
  return unused;
}

static void* open_conversion(void* unused) {
  conversion = iconv_open("UTF-8", "ISO-8859-1");
  check(conversion != (iconv_t)-1, "iconv_open");
  return unused;
}

static void* close_conversion(void* unused) {
  check(iconv_close(conversion) == 0, "iconv_close");
  return unused;
}

static void conversions(void) {
  check(iconv_open("no such code", "UTF-8") == (iconv_t)-1, "an unknown code");
  for (int round = 0; round < 2; ++round) {
    if (round == 0) open_conversion(NULL);
    if (round == 1) in_thread(open_conversion, NULL);
    convert(NULL);
    for (int i = 0; i < 3; ++i) in_thread(convert, NULL);
    if (round == 0) in_thread(close_conversion, NULL);
    if (round == 1) close_conversion(NULL);
  }
}

static int characters_of(const char* text) { return (int)mbstowcs(NULL, text, 0); }

static locale_t locale;

static void* use_locale(void* unused) {
  check(strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0, "nl_langinfo_l");
  check(characters_of("\xc3\xa4") == -1, "the locale of a new thread");
  locale_t before = uselocale(locale);
  check(before == LC_GLOBAL_LOCALE && characters_of("\xc3\xa4") == 1, "uselocale");
  check(isalpha_l('a', locale) && toupper_l('a', locale) == 'A', "isalpha_l");
  check(uselocale(before) == locale, "uselocale of what was before");
  return unused;
}

static void* copy_locale(void* unused) {
  locale_t copy = duplocale(locale);
  freelocale(locale);
  locale = newlocale(LC_TIME_MASK, "C", copy);
  check(locale != NULL, "newlocale with a base");
  return unused;
}

static void* free_locale(void* unused) {
  freelocale(locale);
  return unused;
}

static void locales(void) {
  check(newlocale(LC_ALL_MASK, "no such locale", NULL) == NULL, "an unknown locale");
  for (int round = 0; round < 30; ++round) {
    locale = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
    if (locale == NULL) return check(0, "newlocale");
    if (round > 1) {  // places are given back
      freelocale(locale);
      continue;
    }
    in_thread(use_locale, NULL);
    use_locale(NULL);
    in_thread(copy_locale, NULL);
    for (int i = 0; i < 2; ++i) in_thread(use_locale, NULL);
    in_thread(free_locale, NULL);
  }
}

static const char* name;

static void* look_at_global(void* unused) {
  check(strcmp(setlocale(LC_ALL, NULL), name) == 0, "setlocale");
  check(characters_of("\xc3\xa4") == (strcmp(name, "C.UTF-8") == 0 ? 1 : -1), "the locale");
  return unused;
}

static void* set_global(void* wanted) {
  name = setlocale(LC_ALL, wanted);
  check(name != NULL && strcmp(name, wanted) == 0, "the result of setlocale");
  return NULL;
}

static void global_locale(void) {
  check(setlocale(LC_ALL, "no such locale") == NULL, "setlocale to an unknown locale");
  set_global("C.UTF-8");
  for (int i = 0; i < 2; ++i) in_thread(look_at_global, NULL);
  in_thread(set_global, "C");
  look_at_global(NULL);
  for (int i = 0; i < 2; ++i) in_thread(look_at_global, NULL);
}

static void* look_at_domain(void* unused) {
  check(strcmp(textdomain(NULL), "a_program") == 0, "textdomain");
  check(strcmp(bindtextdomain("a_program", NULL), "/a/folder") == 0, "bindtextdomain");
  check(strcmp(bind_textdomain_codeset("a_program", NULL), "UTF-8") == 0, "its code");
  check(strcmp(gettext("a message"), "a message") == 0, "gettext");
  return unused;
}

static void domains(void) {
  textdomain("a_program");
  bindtextdomain("a_program", "/a/folder");
  bind_textdomain_codeset("a_program", "UTF-8");
  look_at_domain(NULL);
  for (int i = 0; i < 2; ++i) in_thread(look_at_domain, NULL);
}

int main(void) {
  conversions();
  locales();
  global_locale();
  domains();
  check(catopen("no such catalogue", NL_CAT_LOCALE) == (nl_catd)-1, "catopen");
  printf("%s\n", wrong == 0 ? "good" : "BAD");
  return wrong != 0;
}
