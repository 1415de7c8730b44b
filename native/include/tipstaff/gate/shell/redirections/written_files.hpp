// The files that a text writes and then uses.
#pragma once

#include <cstring>

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

// A path seen from a directory, without . and ..; empty where it is not known, or longer than what systems open.
// The same of a word; what mktemp made has a path of its own, whatever it is named.
inline string_view ShellReader::resolve(string_view cwd, const Word& word) noexcept {
  const std::size_t slash = word.text.find('/');
  if (!word.has(word_flag::kTemporary) || word.text.substr(0, slash) != kUnknown) return resolve(cwd, word.text);
  return resolve("/tmp/made-by-mktemp", slash == string_view::npos ? string_view(".") : word.text.substr(slash + 1));
}

inline string_view ShellReader::resolve(string_view cwd, string_view path) noexcept {
  if (path.empty() || holds(path, kUnknownPart)) return {};
  if (path[0] == '~' && (path.size() == 1 || path[1] == '/')) {
    cwd = reader_.surroundings->home;
    path.remove_prefix(path.size() == 1 ? 1 : 2);
    if (cwd.empty()) return {};
  } else if (path[0] == '/') {
    cwd = "/";
  } else if (cwd.empty()) {
    return {};
  }
  std::size_t room = 0;
  char* out = tree_.draft(&room);
  if (room < cwd.size() + path.size() + 2) {
    tree_.set_full();
    return {};
  }
  std::size_t n = 0;
  out[n++] = '/';
  const string_view parts[] = {cwd, path};
  for (const string_view part : parts) {
    std::size_t at = 0;
    while (at < part.size()) {
      std::size_t slash = part.find('/', at);
      if (slash == string_view::npos) slash = part.size();
      const string_view name = part.substr(at, slash - at);
      if (name == "..") {
        while (n > 1 && out[n - 1] != '/') --n;
        if (n > 1) --n;
        while (n > 1 && out[n - 1] == '/') --n;
      } else if (!name.empty() && name != ".") {
        if (n > 1) out[n++] = '/';
        std::memcpy(out + n, name.data(), name.size());
        n += name.size();
      }
      at = slash + 1;
    }
  }
  constexpr std::size_t kLongestPath = 4096;
  return n <= kLongestPath ? tree_.keep(n) : string_view{};
}

inline void ShellReader::remember_file(string_view cwd, string_view path, const Stream& content,
                                       bool append_to) noexcept {
  const string_view resolved = resolve(cwd, path);
  const string_view key = resolved.empty() ? path : resolved;
  if (key.empty()) return;
  WrittenFile file{key, content};
  if (file.content.kind == Stream::none) {
    file.content.kind = Stream::known;
    file.content.text = {};
  }
  if (append_to) {
    const WrittenFile* old = session_.find_file(key);
    Stream all;
    if (old != nullptr) {
      all = old->content;
    } else {
      Stream before;
      before.kind = Stream::file;
      before.text = key;
      all = load(before, cwd);
      // What cannot be read may not be there: what is added is all that is known.
      if (all.kind != Stream::known) all = Stream{};
    }
    append(all, content);
    file.content = all;
  }
  session_.add_file(file);
}

}  // namespace tipstaff::gate::shell
