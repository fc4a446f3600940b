// Memory that the C library makes for its caller, and what it goes on with at later calls: made in
// one thread, used in threads of other nodes, and freed there. argv[1]: memory or later.
#define _GNU_SOURCE
#include <argz.h>
#include <arpa/inet.h>
#include <envz.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <obstack.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

enum { kThreads = 3 };

static int wrong;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void check(int condition, const char* what) {
  if (condition) return;
  pthread_mutex_lock(&lock);
  printf("%s is wrong\n", what);
  ++wrong;
  pthread_mutex_unlock(&lock);
}

static void in_thread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, argument);
  pthread_join(thread, NULL);
}

static struct addrinfo* addresses;
static struct ifaddrs* interfaces;
static struct if_nameindex* indexes;
static char loopback[IF_NAMESIZE];
static char* words;
static size_t words_bytes;
static char* variables;
static size_t variables_bytes;
static char** places;
static struct hsearch_data table;

static void* make(void* unused) {
  struct addrinfo wanted = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM};
  check(getaddrinfo("127.0.0.1", "80", &wanted, &addresses) == 0, "getaddrinfo");
  check(getifaddrs(&interfaces) == 0, "getifaddrs");
  indexes = if_nameindex();
  if_indextoname(1, loopback);
  argz_create_sep("one,two,three", ',', &words, &words_bytes);
  argz_add(&words, &words_bytes, "four");
  envz_add(&variables, &variables_bytes, "NAME", "value");
  void* at[1] = {(void*)make};
  places = backtrace_symbols(at, 1);
  hcreate_r(40, &table);
  return unused;
}

static void look_at_interfaces(void) {
  int found = 0;
  for (struct ifaddrs* one = interfaces; one != NULL; one = one->ifa_next) {
    if (strcmp(one->ifa_name, loopback) != 0 || one->ifa_addr == NULL) continue;
    struct sockaddr_in* address = (struct sockaddr_in*)one->ifa_addr;
    found += one->ifa_addr->sa_family == AF_PACKET && one->ifa_data != NULL;
    found += one->ifa_addr->sa_family == AF_INET && ntohl(address->sin_addr.s_addr) >> 24 == 127;
  }
  check(interfaces != NULL && found >= 1, "what getifaddrs gave");
}

static void* use(void* number) {
  struct sockaddr_in* address = (struct sockaddr_in*)addresses->ai_addr;
  check(ntohs(address->sin_port) == 80 && ntohl(address->sin_addr.s_addr) == INADDR_LOOPBACK &&
            strcmp(addresses->ai_canonname, "127.0.0.1") == 0,
        "what getaddrinfo gave");
  look_at_interfaces();
  check(indexes[0].if_index != 0 && strlen(indexes[0].if_name) > 0, "what if_nameindex gave");
  check(strcmp(argz_next(words, words_bytes, words), "two") == 0, "argz");
  check(strcmp(envz_get(variables, variables_bytes, "NAME"), "value") == 0, "envz");
  check(strstr(places[0], "0x") != NULL, "backtrace_symbols");
  char key[8];
  snprintf(key, sizeof key, "%ld", (long)number);
  ENTRY entry = {strdup(key), number}, *found = NULL;
  check(hsearch_r(entry, ENTER, &found, &table) != 0, "hsearch_r");
  argz_add(&words, &words_bytes, key);
  return NULL;
}

static void* destroy(void* unused) {
  ENTRY entry = {"2", NULL}, *found = NULL;
  check(hsearch_r(entry, FIND, &found, &table) != 0 && found->data == (void*)2, "an entry");
  check(argz_count(words, words_bytes) == 4 + kThreads, "words");
  freeaddrinfo(addresses);
  freeifaddrs(interfaces);
  if_freenameindex(indexes);
  free(words);
  free(variables);
  free(places);
  hdestroy_r(&table);
  return unused;
}

static int memory(void) {
  for (int round = 0; round < 2; ++round) {
    if (round == 0) make(NULL);
    if (round == 1) in_thread(make, NULL);
    for (long i = 0; i < kThreads; ++i) in_thread(use, (void*)i);
    if (round == 0) in_thread(destroy, NULL);
    if (round == 1) destroy(NULL);
    words = variables = NULL;
    words_bytes = variables_bytes = 0;
    memset(&table, 0, sizeof table);
  }
  return wrong;
}

static char output[100];
static char sentence[] = "one two three four five";
static regex_t pattern;
static struct obstack stack;
static char* object;

static void* next_word(void* place) {
  *(char**)place = strtok(NULL, " ");
  return NULL;
}

static void* search(void* number) {
  char key[8];
  snprintf(key, sizeof key, "k%ld", (long)number);
  ENTRY entry = {strdup(key), number};
  check(hsearch(entry, ENTER) != NULL, "hsearch");
  ENTRY first = {"k0", NULL}, *found = hsearch(first, FIND);
  check(found != NULL && found->data == NULL, "an entry of another thread");
  return NULL;
}

static void* match(void* unused) {
  regmatch_t found[2];
  for (int i = 0; i < 200; ++i) {
    char text[100];
    snprintf(text, sizeof text, "%*s name%d=%dvalue", i % 40, "", i, i * 7);
    check(regexec(&pattern, text, 2, found, 0) == 0 && text[found[1].rm_so] == '0' + i * 7 % 10,
          "regexec");
  }
  return unused;
}

static void* grow(void* unused) {
  for (int i = 0; i < 600; ++i) obstack_printf(&stack, "%d,", i);
  obstack_1grow(&stack, '\0');
  object = obstack_finish(&stack);
  return unused;
}

static void* look_at_object(void* unused) {
  check(strncmp(object, "0,1,2,", 6) == 0 && strstr(object, ",599,") != NULL, "obstack");
  return unused;
}

// The child of each thread writes to a file in a folder, as the list says.
static posix_spawn_file_actions_t actions;

static void* spawn(void* unused) {
  char* arguments[] = {"sh", "-c", "echo $PWD; echo to 5 >&5", NULL};
  char text[100] = "";
  pid_t child;
  int status = -1;
  check(posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, environ) == 0, "posix_spawn");
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
  FILE* file = fopen(output, "r");
  check(file != NULL && fread(text, 1, sizeof text - 1, file) > 0, "its output");
  if (file != NULL) fclose(file);
  check(strcmp(text, "/\nto 5\n") == 0, text);
  return unused;
}

static void* list_actions(void* unused) {
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 5);
  posix_spawn_file_actions_addclosefrom_np(&actions, 6);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  check(posix_spawn_file_actions_addclose(&actions, -1) == EBADF, "a wrong descriptor");
  return unused;
}

static void children(void) {
  snprintf(output, sizeof output, "/tmp/terrane_child_%ld", (long)getpid());
  for (int round = 0; round < 2; ++round) {
    if (round == 0) list_actions(NULL);
    if (round == 1) in_thread(list_actions, NULL);
    spawn(NULL);
    for (int i = 0; i < 2; ++i) in_thread(spawn, NULL);
    posix_spawn_file_actions_destroy(&actions);
  }
  unlink(output);
}

static int later(void) {
  children();
  char* all[5] = {strtok(sentence, " ")};
  for (int i = 1; i < 5; ++i) in_thread(next_word, &all[i]);
  check(strcmp(all[1], "two") == 0 && strcmp(all[4], "five") == 0, "strtok");
  check(strtok(NULL, " ") == NULL, "the end of strtok");
  hcreate(100);
  for (long i = 0; i < kThreads; ++i) in_thread(search, (void*)i);
  hdestroy();
  check(regcomp(&pattern, "name[0-9]*=[0-9]*([0-9])value", REG_EXTENDED) == 0, "regcomp");
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, match, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  in_thread(match, NULL);
  regfree(&pattern);
  obstack_init(&stack);
  for (int i = 0; i < 2; ++i) {
    in_thread(grow, NULL);
    look_at_object(NULL);
    grow(NULL);
    in_thread(look_at_object, NULL);
  }
  obstack_free(&stack, NULL);
  return wrong;
}

int main(int argc, char** argv) {
  int bad = argc > 1 && strcmp(argv[1], "later") == 0 ? later() : memory();
  printf("%s\n", bad == 0 ? "good" : "BAD");
  return bad != 0;
}
