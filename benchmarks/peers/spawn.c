/* Starts programs in turns and prints, for each, the nanoseconds from start to end of every round.
 *
 *   spawn ROUNDS INPUT PROGRAM [ARGUMENT ...] [-- INPUT PROGRAM ...] ...
 *
 * INPUT is a file that becomes the program's standard input; what it prints goes nowhere. One line of numbers for each
 * program; a program that cannot be started or is killed ends the run with status 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST = 16 };
extern char **environ;

static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static long long run(char **program) {
  posix_spawn_file_actions_t files;
  pid_t child;
  int status;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, program[0], O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  const long long start = now();
  const int failed = posix_spawn(&child, program[1], &files, NULL, program + 1, environ);
  if (failed != 0) {
    fprintf(stderr, "%s: %s\n", program[1], strerror(failed));
    exit(1);
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  const long long spent = now() - start;
  posix_spawn_file_actions_destroy(&files);
  if (!WIFEXITED(status)) {
    fprintf(stderr, "%s: killed\n", program[1]);
    exit(1);
  }
  return spent;
}

int main(int count, char **arguments) {
  char **programs[MOST];
  int n = 0;
  if (count < 4) return 2;
  const int rounds = atoi(arguments[1]);
  programs[n++] = arguments + 2;
  for (int i = 2; i < count; ++i) {
    if (strcmp(arguments[i], "--") != 0) continue;
    arguments[i] = NULL;
    if (n == MOST || i + 2 >= count) return 2;
    programs[n++] = arguments + i + 1;
  }
  long long *spent = calloc((size_t)n * (size_t)rounds, sizeof *spent);
  if (rounds < 1 || spent == NULL) return 2;
  for (int p = 0; p < n; ++p) run(programs[p]); /* files into the cache */
  for (int r = 0; r < rounds; ++r)
    for (int p = 0; p < n; ++p) spent[p * rounds + r] = run(programs[p]);
  for (int p = 0; p < n; ++p) {
    for (int r = 0; r < rounds; ++r) printf("%lld ", spent[p * rounds + r]);
    printf("\n");
  }
  return 0;
}
