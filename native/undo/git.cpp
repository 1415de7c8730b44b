// Runs git for what is not read here.
#include "tipstaff/undo/git.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace tipstaff::undo {

namespace {

constexpr std::uint32_t kArguments = 64, kVariables = 512;

// What a repository or a person may have configured to be run, switched off.
constexpr const char* kOff[] = {"--no-optional-locks", "--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
                                "-c", "core.sshCommand=false", "-c", "core.askPass=", "-c", "core.editor=false", "-c", "diff.external=",
                                "-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
                                "-c", "commit.gpgSign=false", "-c", "core.untrackedCache=false"};

std::int64_t now_ms() noexcept {
  timespec at;
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<std::int64_t>(at.tv_sec) * 1000 + at.tv_nsec / 1000000;
}

// Both ends stay in this process alone.
bool open_pipe(int* ends) noexcept {
#if defined(__linux__)
  return ::pipe2(ends, O_CLOEXEC) == 0;
#else
  return ::pipe(ends) == 0 && ::fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && ::fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
#endif
}

// The first git of $PATH that is in none of the folders below `root`, where whoever works there could have put one.
const char* find_git(Arena& arena, const char* const* environment, std::string_view root) noexcept {
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (; *environment != nullptr; ++environment)
    if (std::string_view(*environment).substr(0, 5) == "PATH=") path = std::string_view(*environment).substr(5);
  while (!path.empty()) {
    const std::size_t end = path.find(':');
    const std::string_view folder = path.substr(0, end);
    path = end == std::string_view::npos ? std::string_view{} : path.substr(end + 1);
    if (folder.empty() || folder[0] != '/' || is_below(folder, root)) continue;
    const char* const program = arena.join(folder, "/git");
    if (program != nullptr && ::access(program, X_OK) == 0) return program;
  }
  return nullptr;
}

}  // namespace

bool run_git(Arena& arena, std::string_view root, std::initializer_list<const char*> arguments, std::string_view* output,
             const char* index, std::string_view input, int milliseconds) noexcept {
  if (output != nullptr) *output = {};
  const char* const* const given = tipstaff_environment();
  const char* const program = find_git(arena, given, root);
  const char* words[kArguments];
  std::uint32_t count = 0;
  words[count++] = "git";
  for (const char* const word : kOff) words[count++] = word;
  words[count++] = "-C";
  words[count++] = arena.join(root);
  for (const char* const word : arguments)
    if (count + 1 < kArguments) words[count++] = word;
  words[count] = nullptr;
  const char* variables[kVariables];
  std::uint32_t used = 0;
  for (const char* const* one = given; *one != nullptr && used + 5 < kVariables; ++one) {
    const std::string_view text = *one;
    const bool config = text.substr(0, 11) == "GIT_CONFIG_";
    if ((text.substr(0, 4) != "GIT_" || config) && text.substr(0, 4) != "LC_A") variables[used++] = *one;
  }
  variables[used++] = "GIT_TERMINAL_PROMPT=0";
  variables[used++] = "LC_ALL=C";
  if (index != nullptr) variables[used++] = arena.join("GIT_INDEX_FILE=", index);
  variables[used] = nullptr;
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  if (program == nullptr || arena.full() || !open_pipe(out)) return false;
  if (!open_pipe(in)) {
    ::close(out[0]);
    ::close(out[1]);
    return false;
  }
  const long process = tipstaff_spawn(program, words, variables, in[0], out[1]);
  ::close(in[0]);
  ::close(out[1]);
  const std::int64_t end = now_ms() + milliseconds;
  bool whole = process > 0;
  std::size_t room = 0, size = 0;
  char* const text = arena.rest(&room);
  bool reading = whole;
  while (reading) {
    pollfd files[2] = {{out[0], POLLIN, 0}, {in[1], POLLOUT, 0}};
    if (input.empty() && in[1] >= 0) {
      ::close(in[1]);
      in[1] = files[1].fd = -1;
    }
    const std::int64_t left = end - now_ms();
    const int ready = left <= 0 ? 0 : ::poll(files, 2, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      whole = false;
      break;
    }
    if (files[1].revents != 0 && in[1] >= 0) {
      const ssize_t put = ::write(in[1], input.data(), input.size() < 4096 ? input.size() : 4096);
      if (put <= 0) input = {};
      else input.remove_prefix(static_cast<std::size_t>(put));
    }
    if (files[0].revents == 0) continue;
    const ssize_t got = size == room ? -1 : ::read(out[0], text + size, room - size < (1 << 20) ? room - size : (1 << 20));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) whole = false;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  ::close(out[0]);
  if (in[1] >= 0) ::close(in[1]);
  if (process > 0) {
    if (!whole) ::kill(static_cast<pid_t>(process), SIGKILL);
    int status = 0;
    while (::waitpid(static_cast<pid_t>(process), &status, 0) < 0 && errno == EINTR) {}
    whole = whole && status == 0;
  }
  if (size != 0 && arena.take(size) == nullptr) whole = false;
  // What was taken is aligned, so it may begin after the text does.
  if (output != nullptr && whole) *output = {text, size};
  return whole;
}

}  // namespace tipstaff::undo
