#include "tipstaff/hook/compiling.hpp"

namespace tipstaff::hook::compiling {

namespace {

constexpr std::uint64_t kLongestS = 60;  // a compilation takes a few seconds
constexpr std::uint64_t kAgainS = 3600;  // after one that failed

Path compiler, asked, tidier;  // empty where nothing is to be started

bool read_program(const Path& state, Path* program) noexcept {
  char text[kPathBytes];
  Path path = state;
  const long bytes = read_private(path.add("/compiler"), text, sizeof text);
  if (bytes <= 0 || text[0] != '/') return false;
  program->add({text, static_cast<std::size_t>(bytes)});
  return program->ok();
}

}  // namespace

bool ask(const Path& state, std::string_view repository, std::uint64_t now_s) noexcept {
  if (asked.ok()) return true;
  Path program, mark = state;
  if (repository.empty() || !read_program(state, &program)) return false;
  mark.add("/compiling/").hex(fnv64(repository));
  int file = open_state(mark, O_WRONLY | O_CREAT | O_EXCL);
  if (file < 0 && errno == EEXIST) {
    struct stat about;
    if (::stat(mark.c_str(), &about) != 0) return false;
    const std::uint64_t begun = static_cast<std::uint64_t>(about.st_mtime), age = now_s > begun ? now_s - begun : 0;
    if (about.st_size == 0 && age < kLongestS) return true;
    if (age < kAgainS || ::unlink(mark.c_str()) != 0) return false;
    file = open_state(mark, O_WRONLY | O_CREAT | O_EXCL);
  }
  if (file < 0) return false;
  ::close(file);
  compiler = program;
  asked.add(repository);
  return asked.ok();
}

void note_kept(const Path& state) noexcept {
  Path mark = state;
  const int file = open_state(mark.add("/undo/.untidied"), O_WRONLY | O_CREAT | O_EXCL);
  if (file >= 0) ::close(file);
}

void ask_to_tidy(const Path& state, std::uint64_t now_s, std::uint64_t least_s) noexcept {
  Path mark = state, program;
  struct stat about;
  if (::lstat(mark.add("/undo/.untidied").c_str(), &about) != 0 || static_cast<std::uint64_t>(about.st_mtime) + least_s > now_s) return;
  if (read_program(state, &program) && ::unlink(mark.c_str()) == 0) tidier = program;  // of several processes one does it
}

void start() noexcept {
  // Isolated: nothing of the working folder or the environment is imported.
  if (tidier.ok()) {
    const char* const arguments[] = {tidier.c_str(), "-I", "-m", "tipstaff.hosts.tidying", nullptr};
    tipstaff_start_apart(arguments);
  }
  if (!asked.ok() || !compiler.ok()) return;
  const char* const arguments[] = {compiler.c_str(), "-I", "-m", "tipstaff.hosts.compiling", asked.c_str(), nullptr};
  tipstaff_start_apart(arguments);
}

}  // namespace tipstaff::hook::compiling
