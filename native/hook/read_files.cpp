// The files that were read to judge a call, read whole, and those that scripts among them import from beside them.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/hook/approvals.hpp"

namespace tipstaff::hook {

namespace {

bool is_name(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

std::string_view without_blanks(std::string_view text) noexcept {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
  return text;
}

std::string_view take_name(std::string_view* text) noexcept {
  *text = without_blanks(*text);
  std::size_t size = 0;
  while (size < text->size() && is_name((*text)[size])) ++size;
  const std::string_view name = text->substr(0, size);
  text->remove_prefix(size);
  return name;
}

bool take_word(std::string_view* text, std::string_view word) noexcept {
  if (text->substr(0, word.size()) != word || text->size() == word.size() || is_name((*text)[word.size()])) return false;
  text->remove_prefix(word.size());
  return true;
}

bool ends_in(std::string_view path, std::initializer_list<std::string_view> endings) noexcept {
  for (const std::string_view ending : endings)
    if (path.size() > ending.size() && path.substr(path.size() - ending.size()) == ending) return true;
  return false;
}

}  // namespace

bool ReadFiles::complete() noexcept {
  if (count_ == 0 || inner_ == nullptr) return !too_many_;
  void* memory = ::mmap(nullptr, kLongest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* const text = static_cast<char*>(memory);
  std::size_t left = kLongest;
  bool whole = true;
  for (std::uint32_t i = 0; i < count_ && whole; ++i) {
    const long long size = inner_(nullptr, files_[i].path_view(), text, left);
    if (size < 0) continue;  // gone since: what was read of it counts
    whole = static_cast<std::uint64_t>(size) <= left;
    if (!whole) break;
    const std::string_view read(text, static_cast<std::size_t>(size));
    left -= read.size();
    Sha256 hash;
    hash.update(read);
    files_[i].bytes = read.size();
    files_[i].digest = hash.finish();
    follow(files_[i].path_view(), read);
  }
  ::munmap(memory, kLongest);
  return whole && !too_many_;
}

Digest ReadFiles::digest() const noexcept {
  Sha256 whole;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const File& file = files_[i];
    unsigned char sizes[16];
    for (int byte = 0; byte < 8; ++byte) {
      sizes[byte] = static_cast<unsigned char>(static_cast<std::uint64_t>(file.path_bytes) >> (8 * byte));
      sizes[8 + byte] = static_cast<unsigned char>(file.bytes >> (8 * byte));
    }
    whole.update({reinterpret_cast<const char*>(sizes), sizeof sizes});
    whole.update(file.path_view());
    whole.update({reinterpret_cast<const char*>(file.digest.bytes), sizeof file.digest.bytes});
  }
  return whole.finish();
}

// `name` with slashes, as it is or with what languages add to it; the first that is there is taken.
bool ReadFiles::import(std::string_view folder, std::string_view name) noexcept {
  while (name.substr(0, 2) == "./") name.remove_prefix(2);
  for (const std::string_view ending : {"", ".py", "/__init__.py", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", ".rb", ".sh"}) {
    Path path;
    path.add(folder).add("/").add(name).add(ending);
    if (!path.ok()) return false;
    if (has(path.view())) return true;
    char none[1];
    const long long size = inner_(nullptr, path.view(), none, 0);
    if (size < 0) continue;
    add(path.view(), {}, static_cast<std::uint64_t>(size));
    return true;
  }
  return false;
}

void ReadFiles::follow(std::string_view script, std::string_view text) noexcept {
  const std::size_t slash = script.rfind('/');
  if (slash == std::string_view::npos) return;
  const std::string_view folder = script.substr(0, slash);
  const bool python = ends_in(script, {".py", ".pyw"}) || text.substr(0, text.find('\n')).find("python") != std::string_view::npos;
  const bool script_of_node = ends_in(script, {".js", ".mjs", ".cjs", ".ts", ".mts", ".rb"});
  if (!python && !script_of_node) return;
  const auto module = [&](std::string_view dotted, std::string_view below) noexcept {
    std::string_view from = folder;
    for (bool first = true; !dotted.empty() && dotted[0] == '.'; dotted.remove_prefix(1), first = false)
      if (!first) from = from.substr(0, from.rfind('/'));
    char name[256];
    Writer out(name, sizeof name);
    for (const char c : dotted) out.raw(c == '.' ? std::string_view("/") : std::string_view(&c, 1));
    if (!below.empty() && out.size() != 0) out.raw("/");
    out.raw(below);
    if (out.size() != 0 && !out.full()) import(from, out.view());
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) == std::string_view::npos ? text.size() : text.find('\n', at);
    std::string_view line = without_blanks(text.substr(at, end - at));
    at = end + 1;
    if (python) {
      if (take_word(&line, "from")) {
        const std::string_view from = take_name(&line);
        line = without_blanks(line);
        if (from.empty() || !take_word(&line, "import")) continue;
        module(from, {});
        for (;;) {
          line = without_blanks(line);
          if (!line.empty() && line[0] == '(') line.remove_prefix(1);
          const std::string_view name = take_name(&line);
          if (name.empty()) break;
          module(from, name);
          const std::size_t comma = line.find(',');
          if (comma == std::string_view::npos) break;
          line.remove_prefix(comma + 1);
        }
      } else if (take_word(&line, "import")) {
        for (;;) {
          const std::string_view name = take_name(&line);
          if (name.empty()) break;
          module(name, {});
          for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) module(name.substr(0, dot), {});
          const std::size_t comma = line.find(',');
          if (comma == std::string_view::npos) break;
          line.remove_prefix(comma + 1);
        }
      }
      continue;
    }
    // Whatever a quote begins that is a path from here.
    for (std::size_t quote = line.find_first_of("'\"`"); quote != std::string_view::npos; quote = line.find_first_of("'\"`", quote + 1)) {
      const std::string_view rest = line.substr(quote + 1);
      const std::size_t close = rest.find(line[quote]);
      const std::string_view name = rest.substr(0, close);
      const bool relative = line.find("require_relative") < quote;
      if (close != std::string_view::npos && !name.empty() && name.size() < 512 && (name.substr(0, 2) == "./" || name.substr(0, 3) == "../" || relative)) import(folder, name);
    }
  }
}

}  // namespace tipstaff::hook
