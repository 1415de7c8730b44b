// What the hook program has in place of a C library: bytes and paths, against the library's own.
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "checking.hpp"
#include "tipstaff/hook/real_path.hpp"
#if defined(__x86_64__)
#include "tipstaff/hook/memory.hpp"
#endif

namespace {

using tipstaff::test::check;
using tipstaff::test::checks;

struct System {
  long read_link(const char* path, char* to, std::size_t size) const {
    const ssize_t got = ::readlink(path, to, size);
    return got < 0 ? -errno : got;
  }
  bool is_folder(const char* path) const {
    struct stat about;
    return ::stat(path, &about) == 0 && S_ISDIR(about.st_mode);
  }
  bool working_folder(char* to, std::size_t size) const { return ::getcwd(to, size) != nullptr; }
};

void check_path(const std::string& path) {
  char expected[PATH_MAX], found[PATH_MAX];
  errno = 0;
  const bool exists = ::realpath(path.c_str(), expected) != nullptr;
  const int expected_error = exists ? 0 : errno;
  tipstaff::hook::RealPath<System> way{System{}};
  const int error = way.find(path.c_str(), found);
  check(error == expected_error, ("the error for " + path + ": " + std::to_string(error) + ", not " + std::to_string(expected_error)).c_str());
  if (exists && error == 0) check(std::strcmp(found, expected) == 0, ("the path of " + path).c_str());
}

// A small tree with links to files, folders, nothing, upwards and in circles.
void check_paths() {
  char folder[] = "/tmp/tipstaff-system-XXXXXX";
  check(::mkdtemp(folder) != nullptr, "a folder to work in");
  check(::chdir(folder) == 0, "the folder is entered");
  check(::mkdir("a", 0755) == 0 && ::mkdir("a/b", 0755) == 0 && ::mkdir("c", 0755) == 0, "folders");
  std::FILE* const file = std::fopen("a/f", "w");
  check(file != nullptr, "a file");
  if (file != nullptr) std::fclose(file);
  const std::string here = folder;
  const std::vector<std::pair<std::string, std::string>> links = {
      {"a/b", "l"},        {"../a/f", "c/f"},   {"nowhere", "gone"}, {"loop2", "loop1"}, {"loop1", "loop2"}, {"..", "a/b/up"},
      {here + "/c", "ab"}, {"l/../f", "chain"}, {"/", "root"},       {"./l/.", "dots"},  {"a/f/", "fs"},    {"self/x", "self"}};
  for (const auto& [target, name] : links) check(::symlink(target.c_str(), name.c_str()) == 0, "a link");
  static const char* const parts[] = {"a", "b", "c", "f", "l", "gone", "loop1", "up", "ab", "chain", "root", "dots", "fs", "self",
                                      ".", "..", "", "none", "tmp"};
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string path = random() % 3 == 0 ? here + "/" : random() % 8 == 0 ? "/" : "";
    const unsigned count = 1 + random() % 6;
    for (unsigned i = 0; i < count; ++i) {
      if (i != 0) path += '/';
      path += parts[random() % (sizeof parts / sizeof parts[0])];
    }
    if (random() % 4 == 0) path += '/';
    check_path(path);
  }
  check_path("");
  check_path(std::string(PATH_MAX, 'a'));
  check_path(std::string(PATH_MAX - 1, '/'));
  check_path(std::string(300, 'a'));
  for (const auto& [target, name] : links) ::unlink(name.c_str());
  ::unlink("a/f");
  ::rmdir("a/b");
  ::rmdir("a");
  ::rmdir("c");
  check(::chdir("/") == 0 && ::rmdir(folder) == 0, "nothing is left");
}

#if defined(__x86_64__)
int sign(int x) { return (x > 0) - (x < 0); }

// Every size around the borders between the ways of doing it, on blocks that end where the bytes end.
void check_bytes() {
  namespace memory = tipstaff::hook::memory;
  std::mt19937 random(5);
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < 100; ++size) sizes.push_back(size);
  for (const std::size_t size : {127, 128, 129, 255, 256, 257, 495, 511, 512, 513, 527, 1000, 4096, 5000}) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    for (int round = 0; round < 12; ++round) {
      std::vector<unsigned char> from(size), to(size);
      for (auto& byte : from) byte = static_cast<unsigned char>(random() % 3);
      memory::copy(to.data(), from.data(), size);
      check(to == from, "copied bytes");
      std::vector<unsigned char> other(from);
      if (size != 0 && round % 2 == 0) other[random() % size] ^= static_cast<unsigned char>(1 + random() % 255);
      const int expected = size == 0 ? 0 : std::memcmp(from.data(), other.data(), size);
      check(sign(memory::compare(from.data(), other.data(), size)) == sign(expected), "compared bytes");
      const auto wanted = static_cast<unsigned char>(round % 4 == 0 ? 77 : random() % 3);
      if (size != 0 && round % 4 == 0) from[size - 1 - random() % size] = 77;
      const void* const found = size == 0 ? nullptr : std::memchr(from.data(), wanted, size);
      check(memory::find(from.data(), wanted, size) == found, "a byte that is looked for");
      memory::fill(to.data(), wanted, size);
      check(to == std::vector<unsigned char>(size, wanted), "filled bytes");
      // Both ways over itself.
      const std::size_t apart = random() % 40;
      std::vector<unsigned char> whole(size + apart);
      for (auto& byte : whole) byte = static_cast<unsigned char>(random());
      std::vector<unsigned char> twin(whole);
      const bool up = round % 2 == 0;
      if (size != 0) std::memmove(twin.data() + (up ? apart : 0), twin.data() + (up ? 0 : apart), size);
      memory::move(whole.data() + (up ? apart : 0), whole.data() + (up ? 0 : apart), size);
      check(whole == twin, "moved bytes");
      const std::string text(size, 'x');
      check(memory::length(text.c_str()) == size, "the length of a text");
    }
  }
}
#endif

}  // namespace

int main() {
#if defined(__x86_64__)
  check_bytes();
#endif
  check_paths();
  std::printf("%d checks\n", checks);
  return 0;
}
