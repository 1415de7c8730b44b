/* One static program of two kinds. Under the name of a destructive program it appends one record of its call to
 * /log/calls, in one write. As `recorder ROOT PATH...` it enters namespaces, or a chroot alone where they are refused, and runs
 * what it reads from its input: each time in the same small tree of PATHs, with limits, until nothing of it runs.
 *
 * A record: the number of arguments, the folder, the arguments, the environment's variables, an empty text; each ends
 * with NUL. A request: the number of words, then each word's length and bytes (32 bits, native order). A reply: the
 * status (or -1: limits), the length of the log, the log. A file of the tree that was changed is a record of the
 * program ">" with its path. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kRecord = 1 << 18, kMostWords = 64, kSeconds = 3 };
static const char kText[] = "print('kept')\n";
static char buffer[kRecord];
static int has_pids;

static size_t put(size_t at, const char* text) {
  const size_t size = strlen(text) + 1;
  if (at + size > sizeof buffer) return at;
  memcpy(buffer + at, text, size);
  return at + size;
}

static size_t record(size_t at, const char* folder, int count, char** words, char** environment) {
  char number[16];
  snprintf(number, sizeof number, "%d", count);
  at = put(put(at, number), folder);
  for (int i = 0; i < count; ++i) at = put(at, words[i]);
  for (; environment != NULL && *environment != NULL; ++environment) at = put(at, *environment);
  return put(at, "");
}

static int stub(int argc, char** argv, char** environment) {
  char folder[4096];
  if (getcwd(folder, sizeof folder) == NULL) strcpy(folder, "?");
  const size_t size = record(0, folder, argc, argv, environment);
  const int log = open("/log/calls", O_WRONLY | O_APPEND);
  return log < 0 || write(log, buffer, size) != (ssize_t)size;
}

static void fail(const char* what) {
  fprintf(stderr, "recorder: %s: %s\n", what, strerror(errno));
  exit(3);
}

static void put_file(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, text, strlen(text)) < 0) fail(path);
  close(file);
}

static int drop(const char* path, const struct stat* status, int flag, struct FTW* walk) {
  (void)status, (void)flag, (void)walk;
  remove(path);
  return 0;
}

static int is_of_root(const char* name) {
  static const char* const names[] = {".", "..", "bin", "dev", "etc", "lib", "lib64", "log", "proc", "root", "usr", "var"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strcmp(names[i], name) == 0) return 1;
  }
  return 0;
}

/* The same tree before each program. */
static void lay_out(char** paths) {
  DIR* const root = opendir("/");
  if (root == NULL) fail("/");
  for (struct dirent* entry; (entry = readdir(root)) != NULL;) {
    if (!is_of_root(entry->d_name)) nftw(entry->d_name, drop, 16, FTW_DEPTH | FTW_PHYS); /* mount points stay, empty */
  }
  closedir(root);
  for (; *paths != NULL; ++paths) {
    char path[1024];
    snprintf(path, sizeof path, "%s", *paths);
    for (char* slash = path + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
      *slash = 0;
      mkdir(path, 0755);
    }
    if (path[strlen(path) - 1] != '/') put_file(path, kText);
  }
  put_file("/log/calls", "");
}

static void run(char** words) {
  static char* const environment[] = {"HOME=/home/dev", "PATH=/bin", "FUNCNEST=30", "LC_ALL=C", NULL};
  const struct rlimit seconds = {1, 2}, bytes = {1 << 20, 1 << 20}, memory = {1u << 30, 1u << 30}, files = {64, 64};
  const struct rlimit processes = {256, 256};
  setsid();
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_FSIZE, &bytes);
  if (strstr(words[0], "node") == NULL) setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_NOFILE, &files);
  setrlimit(RLIMIT_NPROC, &processes);
  const int none = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; ++i) dup2(none, i);
  for (int i = 3; i < 64; ++i) close(i);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  if (chdir("/home/dev/proj") == 0) execve(words[0], words, environment);
  _exit(126);
}

/* Waits until nothing of the program runs; -1 where its time is up. */
static int32_t wait_for(pid_t shell) {
  struct timespec until, now;
  int32_t result = 0, over = 0;
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += kSeconds;
  for (;;) {
    int status;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended < 0 && errno == ECHILD) return over ? -1 : result;
    if (ended == shell) result = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == SIGXCPU ? -1 : 128;
    if (ended > 0) continue;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec > until.tv_nsec)) {
      over = 1;
      kill(has_pids ? -1 : -shell, SIGKILL);
    }
    const struct timespec pause = {0, 1000000};
    sigtimedwait(&children, NULL, &pause);
  }
}

static int take(void* into, size_t size) { return fread(into, 1, size, stdin) == size; }

static void serve(char** paths) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  for (uint32_t count; take(&count, sizeof count);) {
    char* words[kMostWords + 1] = {0};
    for (uint32_t i = 0, size; i < count && i < kMostWords; ++i) {
      if (!take(&size, sizeof size) || (words[i] = calloc(1, size + 1)) == NULL || !take(words[i], size)) exit(4);
    }
    lay_out(paths);
    const pid_t shell = fork();
    if (shell == 0) run(words);
    const int32_t status = wait_for(shell);
    const int log = open("/log/calls", O_RDONLY);
    ssize_t length = log < 0 ? 0 : read(log, buffer, sizeof buffer / 2);
    close(log);
    size_t size = length < 0 ? 0 : (size_t)length;
    for (char** path = paths; *path != NULL; ++path) {
      struct stat now;
      char* call[] = {">", *path};
      const int there = stat(*path, &now) == 0;
      if ((*path)[strlen(*path) - 1] != '/' && (!there || now.st_size != sizeof kText - 1)) size = record(size, "/", 2, call, NULL);
    }
    const uint32_t sent = (uint32_t)size;
    fwrite(&status, sizeof status, 1, stdout);
    fwrite(&sent, sizeof sent, 1, stdout);
    fwrite(buffer, 1, size, stdout);
    fflush(stdout);
    for (uint32_t i = 0; i < count && i < kMostWords; ++i) free(words[i]);
  }
}

static void map(const char* path, unsigned outside) {
  char line[64];
  const int file = open(path, O_WRONLY);
  const int size = snprintf(line, sizeof line, "0 %u 1\n", outside);
  if (file < 0 || write(file, line, (size_t)size) != size) fail(path);
  close(file);
}

/* A user namespace first; then, of root alone, the others without it. Returns whether there are any. */
static int enter(void) {
  const int rest = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;
  const unsigned user = getuid(), group = getgid();
  if (unshare(CLONE_NEWUSER | rest) == 0) {
    const int groups = open("/proc/self/setgroups", O_WRONLY);
    if (groups >= 0 && write(groups, "deny", 4) < 0) fail("setgroups");
    close(groups);
    map("/proc/self/uid_map", user);
    map("/proc/self/gid_map", group);
    return 1;
  }
  return user == 0 && unshare(rest) == 0;
}

int main(int argc, char** argv, char** environment) {
  const char* const slash = strrchr(argv[0], '/');
  if (strcmp(slash == NULL ? argv[0] : slash + 1, "recorder") != 0) return stub(argc, argv, environment);
  if (argc < 2 || chdir(argv[1]) != 0) fail("no root folder");
  has_pids = enter();
  if (has_pids) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("private mounts");
    const pid_t inner = fork();
    if (inner < 0) fail("a process in the namespaces");
    if (inner > 0) {
      int status;
      waitpid(inner, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
    }
    static const char* const emptied[] = {"home", "tmp", "log"}; /* in memory: a disk takes longer than the shells */
    for (int i = 0; i < 3; ++i) mount("tmpfs", emptied[i], "tmpfs", MS_NOSUID | MS_NODEV, "size=16m");
    mount("/dev/null", "dev/null", NULL, MS_BIND, NULL); /* else it is a file */
    mount("proc", "proc", "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, NULL); /* else there is no <( ) */
  } else {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }
  if (chroot(".") != 0) fail("neither namespaces nor a chroot are allowed here");
  if (chdir("/") != 0) fail("/");
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  serve(argv + 2);
  return 0;
}
