// Which repository a file is in, and its class.
#include "tipstaff/undo/facts.hpp"

#include <fcntl.h>
#include <unistd.h>
#if !defined(__linux__)
#include <dirent.h>
#endif

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/hook/pruning.hpp"

namespace tipstaff::undo {

namespace {

// Files by which tools mark a folder as their own, to be made again.
constexpr std::string_view kMarks[] = {"CACHEDIR.TAG", "pyvenv.cfg", "CMakeCache.txt", "build.ninja", ".rustc_info.json", ".package-lock.json",
                                       ".yarn-integrity", ".modules.yaml", "BUILD_ID", ".tsbuildinfo", "PKG-INFO", ".buildinfo"};
// What a compiler makes beside its source, and the sources.
constexpr std::string_view kObjects = "o obj pyc";
constexpr std::string_view kSources[] = {".c", ".cc", ".cpp", ".cxx", ".s", ".S", ".f90", ".m", ".py"};

std::string_view read_small(Arena& arena, const char* path, std::size_t most) noexcept {
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  char* const text = arena.take<char>(most);
  const ssize_t got = text == nullptr ? -1 : ::read(file, text, most);
  ::close(file);
  return {text, got > 0 ? static_cast<std::size_t>(got) : 0};
}

bool is_there(const char* path, mode_t kind) noexcept {
  struct stat about;
  return path != nullptr && ::stat(path, &about) == 0 && (kind == 0 || (about.st_mode & S_IFMT) == kind);
}

// `FOLDER/PATH` without `.` and `..`, which git writes into the files that lead to a repository.
std::string_view resolved(Arena& arena, std::string_view folder, std::string_view path) noexcept {
  while (!path.empty() && (path.back() == '\n' || path.back() == '\r')) path.remove_suffix(1);
  const std::string_view whole = path.substr(0, 1) == "/" ? path : arena.copy(folder, "/", path);
  char* const out = arena.take<char>(whole.size() + 2);
  if (out == nullptr) return {};
  std::size_t size = 0;
  for (std::size_t at = 0; at < whole.size();) {
    std::size_t end = whole.find('/', at);
    if (end == std::string_view::npos) end = whole.size();
    const std::string_view part = whole.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      while (size != 0 && out[--size] != '/') {}
      continue;
    }
    out[size++] = '/';
    std::memcpy(out + size, part.data(), part.size());
    size += part.size();
  }
  return {out, size};
}

}  // namespace

std::string_view name_of(Class of) noexcept {
  constexpr std::string_view kNames[kClasses] = {"unchanged", "staged", "changed", "untracked", "ignored", "regenerated", "repository", "folder", "outside"};
  return kNames[static_cast<std::uint32_t>(of)];
}

bool is_precious(std::string_view name) noexcept {
  using gate::ascii::ends_with;
  char lower[256];
  if (name.size() > sizeof lower) return true;
  for (std::size_t i = 0; i < name.size(); ++i) lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] + 32) : name[i];
  name = {lower, name.size()};
  for (const std::string_view end : {std::string_view("-wal"), std::string_view("-shm"), std::string_view("-journal")})
    if (name.size() > end.size() && name.substr(name.size() - end.size()) == end) name.remove_suffix(end.size());
  if (name == ".env" || name.substr(0, 5) == ".env." || name == ".npmrc" || name == ".netrc" || name == "id_rsa" || name == "id_ed25519" || name == "id_ecdsa") return true;
  if (name.find("secret") != std::string_view::npos || name.find("credential") != std::string_view::npos || name.find(".tfstate") != std::string_view::npos) return true;
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && gate::ascii::one_of(name.substr(dot + 1), "sqlite sqlite3 db mdb pem key p12 pfx jks kdbx dump bak sql psql");
}

bool read_names(Arena& arena, int folder, const char*** names, std::uint32_t* count) noexcept {
  // The names one after another, then where each is.
  *count = 0;
  const char* first = nullptr;
  std::uint32_t found = 0;
  const auto add = [&](const char* name, unsigned char kind) noexcept {
    if (name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0))) return true;
    const std::size_t size = std::strlen(name);
    char* const out = arena.take<char>(size + 2);
    if (out == nullptr) return false;
    out[0] = static_cast<char>(kind);
    std::memcpy(out + 1, name, size + 1);
    if (first == nullptr) first = out;
    ++found;
    return true;
  };
#if defined(__linux__)
  struct Record {
    std::uint64_t node;
    std::int64_t next;
    unsigned short size;
    unsigned char kind;
    char name[1];
  };
  alignas(16) char part[32768];
  for (;;) {
    const long got = tipstaff_read_folder(folder, part, sizeof part);
    if (got < 0) return false;
    if (got == 0) break;
    for (long at = 0; at < got;) {
      const Record* const record = reinterpret_cast<const Record*>(part + at);
      if (!add(part + at + offsetof(Record, name), record->kind)) return false;
      at += record->size;
    }
  }
#else
  DIR* const open = ::fdopendir(::dup(folder));
  if (open == nullptr) return false;
  while (const dirent* const record = ::readdir(open))
    if (!add(record->d_name, record->d_type)) {
      ::closedir(open);
      return false;
    }
  ::closedir(open);
#endif
  const char** const all = arena.take<const char*>(found);
  if (all == nullptr && found != 0) return false;
  const char* at = first;
  for (std::uint32_t i = 0; i < found; ++i) {
    all[i] = at;
    at += (std::strlen(at + 1) + 2 + 15) & ~std::size_t{15};
  }
  *names = all;
  *count = found;
  return true;
}

Facts::~Facts() {
  for (std::uint32_t i = 0; i < count_; ++i) all_[i]->~Repository();
}

Repository* Facts::repository(std::string_view folder) noexcept {
  if (last_folder_.data() != nullptr && folder == last_folder_) return last_;
  if (Repository** const known = found_.find(folder); known != nullptr) return *known;
  Repository* result = nullptr;
  std::string_view dot = arena_.copy(folder == "/" ? std::string_view{} : folder, "/.git");
  struct stat about;
  if (dot.data() != nullptr && ::stat(dot.data(), &about) == 0) {
    if (S_ISREG(about.st_mode)) {
      const std::string_view line = read_small(arena_, dot.data(), 4096);
      dot = line.substr(0, 8) == "gitdir: " ? resolved(arena_, folder, line.substr(8)) : std::string_view{};
    }
    if (!dot.empty()) {
      std::string_view common = dot;
      if (const std::string_view line = read_small(arena_, arena_.join(dot, "/commondir"), 4096); !line.empty()) common = resolved(arena_, dot, line);
      if (is_there(arena_.join(dot, "/HEAD"), 0) && is_there(arena_.join(common, "/objects"), S_IFDIR) && is_there(arena_.join(common, "/refs"), 0) && count_ < 64) {
        void* const room = arena_.take(sizeof(Repository));
        if (room == nullptr) return nullptr;
        result = new (room) Repository(arena_);
        all_[count_++] = result;
        result->root = arena_.copy(folder);
        result->git_folder = arena_.copy(dot);
        result->common = arena_.copy(common);
        std::string_view config = read_small(arena_, arena_.join(common, "/config"), 65536);
        char* const letters = const_cast<char*>(config.data());
        for (std::size_t i = 0; i < config.size(); ++i)
          if (letters[i] >= 'A' && letters[i] <= 'Z') letters[i] = static_cast<char>(letters[i] + 32);
        result->sha256 = config.find("objectformat = sha256") != std::string_view::npos;
        result->by_program = config.find("refstorage") != std::string_view::npos;
        result->index.open(result->root, result->git_folder, result->sha256 ? 32 : 20);
        result->ignore.open(result->root, result->common);
      }
    }
  }
  if (result == nullptr && folder != "/" && !folder.empty()) result = repository(folder_of(folder));
  const std::string_view key = arena_.copy(folder);
  if (Repository** const added = key.data() == nullptr ? nullptr : found_.add(key); added != nullptr) *added = result;
  last_folder_ = key;
  last_ = result;
  return result;
}

bool Facts::is_regenerated(Repository& repository, std::string_view folder) noexcept {
  for (; !folder.empty(); folder = folder_of(folder)) {
    Ignore::Folder* const known = repository.ignore.folder(folder);
    if (known == nullptr) return false;
    if (known->marked < 0) {
      known->marked = 0;
      const std::size_t mark = arena_.mark();
      const std::string_view base = arena_.copy(repository.root, "/", folder);
      struct stat about;
      for (const std::string_view name : kMarks) {
        const char* const path = arena_.join(base, "/", name);
        if (path != nullptr && ::lstat(path, &about) == 0) {
          known->marked = !repository.index.holds_below(folder);
          break;
        }
      }
      arena_.release(mark);
    }
    if (known->marked > 0) return true;
  }
  return false;
}

bool Facts::is_made_again(Repository& repository, std::string_view name) noexcept {
  const std::size_t dot = name.rfind('.'), slash = name.rfind('/');
  if (dot != std::string_view::npos && (slash == std::string_view::npos || dot > slash + 1) && gate::ascii::one_of(name.substr(dot + 1), kObjects)) {
    if (slash != std::string_view::npos && name_of(name.substr(0, slash)) == "__pycache__") return true;
    char text[4097];
    for (const std::string_view end : kSources) {
      if (dot + end.size() >= sizeof text) break;
      std::memcpy(text, name.data(), dot);
      std::memcpy(text + dot, end.data(), end.size());
      if (repository.index.find({text, dot + end.size()}) != nullptr) return true;
    }
  }
  return slash != std::string_view::npos && is_regenerated(repository, name.substr(0, slash));
}

Class Facts::of(std::string_view path, const struct stat& about, Repository** found) noexcept {
  *found = nullptr;
  if (const std::size_t git = path.find("/.git"); git != std::string_view::npos) {
    for (std::size_t at = git; at != std::string_view::npos; at = path.find("/.git", at + 1))
      if (at + 5 == path.size() || path[at + 5] == '/') {
        *found = repository(path.substr(0, at == 0 ? 1 : at));
        return Class::repository;
      }
  }
  Repository* const repository = *found = this->repository(folder_of(path));
  if (repository == nullptr) return Class::outside;
  const std::string_view name = path.substr(repository->root == "/" ? 1 : repository->root.size() + 1);
  if (S_ISDIR(about.st_mode)) return Class::folder;
  const Class kind = repository->index.state(name, path.data(), about);
  if (kind != Class::untracked || !repository->ignore.covers(name, false)) return kind;
  return !is_precious(name_of(name)) && is_made_again(*repository, name) ? Class::regenerated : Class::ignored;
}

}  // namespace tipstaff::undo
