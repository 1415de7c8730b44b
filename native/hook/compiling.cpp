#include "tipstaff/hook/compiling.hpp"

namespace tipstaff::hook::compiling {

namespace {

constexpr std::uint64_t kLongestS = 60;  // a compilation takes a few seconds
constexpr std::uint64_t kAgainS = 3600;  // after one that failed

Path compiler, asked;  // empty where nothing is to be started

}  // namespace

bool ask(const Path& state, std::string_view repository, std::uint64_t now_s) noexcept {
  if (asked.ok()) return true;
  char program[kPathBytes];
  Path path = state, mark = state;
  const long bytes = repository.empty() ? -1 : read_private(path.add("/compiler"), program, sizeof program);
  if (bytes <= 0 || program[0] != '/') return false;
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
  compiler.add({program, static_cast<std::size_t>(bytes)});
  asked.add(repository);
  return asked.ok() && compiler.ok();
}

void start() noexcept {
  if (!asked.ok() || !compiler.ok()) return;
  // Isolated: nothing of the working folder or the environment is imported.
  const char* const arguments[] = {compiler.c_str(), "-I", "-m", "tipstaff.hosts.compiling", asked.c_str(), nullptr};
  tipstaff_start_apart(arguments);
}

}  // namespace tipstaff::hook::compiling
