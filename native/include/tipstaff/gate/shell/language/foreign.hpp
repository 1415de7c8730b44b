// What others put into a shell's text before or after a shell sees it: templates, expressions of pipelines, variables of PowerShell.
#pragma once

#include "tipstaff/gate/shell/small_languages/make_words.hpp"

namespace tipstaff::gate::shell {

// {{justfile_directory()}} or {{ .BUILD_DIR }}: what a task's runner puts in before a shell sees it, where its name tells what it is.
inline bool ShellReader::read_template(Pieces& pieces) noexcept {
  constexpr std::ptrdiff_t kFar = 64;
  if (end_ - pos_ < 6 || pos_[1] != '{') return false;
  const char* p = pos_ + 2;
  while (p < end_ && p - pos_ < kFar && *p != '}' && *p != '{' && *p != '\n') ++p;
  if (p + 1 >= end_ || *p != '}' || p[1] != '}') return false;
  string_view name(pos_ + 2, static_cast<std::size_t>(p - pos_ - 2));
  while (!name.empty() && (is_blank(name.front()) || name.front() == '.')) name.remove_prefix(1);
  while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
  if (one_of(name, "justfile_directory() justfile_dir() invocation_directory() invocation_dir() source_directory() ROOT_DIR TASKFILE_DIR USER_WORKING_DIR")) {
    if (session_.cwd.empty()) return false;
    add_literal(pieces, session_.cwd, 0, false);
  } else if (is_name(name) && names_built(name)) {
    add_literal(pieces, "build", 0, false);
  } else {
    return false;
  }
  pos_ = p + 2;
  return true;
}

// env.INSTALLDIR: where a job installs what it built.
inline bool names_install_folder(string_view name) noexcept { return one_of(name, "INSTALLDIR INSTALL_DIR INSTALL_PREFIX installdir install_dir install_prefix"); }

// ${{ matrix.x || 'y' }}: what a pipeline puts in before a shell sees it; a shell refuses it. Returns whether it ends.
inline bool ShellReader::read_pipeline_expression(Pieces& pieces, bool quoted) noexcept {
  constexpr std::ptrdiff_t kFar = 512;
  for (const char* p = pos_ + 3; p + 1 < end_ && p - pos_ < kFar && *p != '\n'; ++p) {
    if (p[0] != '}' || p[1] != '}') continue;
    const string_view expression = trim(string_view(pos_ + 3, static_cast<std::size_t>(p - pos_ - 3)));
    pos_ = p + 2;
    if (quoted) pieces.quoted = true;
    const bool below = pieces.count == 0 && pos_ + 1 < end_ && *pos_ == '/' && (is_name_start(pos_[1]) || pos_[1] == '.');
    if (below && expression == "github.workspace" && !session_.cwd.empty()) {
      add_literal(pieces, reader_.surroundings->cwd.empty() ? session_.cwd : reader_.surroundings->cwd, 0, quoted);
      return true;
    }
    if (below && expression == "runner.temp") {
      add_literal(pieces, "/tmp/job", 0, quoted);
      return true;
    }
    string_view name = expression.substr(0, expression.find(' '));  // env.BUILD_DIR || 'x'
    name = name.substr(name.rfind('.') + 1);
    if (is_name(name) && name.size() < 32 && expression.size() > name.size() && (names_built(name) || names_install_folder(name))) add_literal(pieces, "build", 0, quoted);
    else add_unknown(pieces, 0, quoted);
    return true;
  }
  return false;
}

// Variables, calls and escapes of PowerShell that a shell's double quotes hold: powershell -Command "... { $_.Id }". The shell
// would put in nothing or an error for those that it does not know, and other hosts hand them on: they are left for the reader of
// PowerShell, which asks about variables in the place of a program that it does not know either.
inline bool ShellReader::leave_to_powershell(Pieces& pieces) noexcept {
  const char* p = pos_ + 1;
  if (p >= end_) return false;
  if (*pos_ == '`') {
    if (!one_of(string_view(p, 1), "n r t") || (p + 1 < end_ && is_name_byte(p[1]))) return false;
    pos_ += 2;
    add_literal(pieces, string_view(pos_ - 2, 2), 0, true);
    return true;
  }
  const auto name_at = [this](const char* from) noexcept {
    const char* stop = from;
    while (stop < end_ && is_name_byte(*stop)) ++stop;
    return string_view(from, static_cast<std::size_t>(stop - from));
  };
  if (is_name_start(*p)) {
    const string_view name = name_at(p);
    Value value;
    if (session_.find(name) != nullptr || known_parameter(name, &value)) return false;
    pos_ = p + name.size();
    add_literal(pieces, string_view(p - 1, name.size() + 1), 0, true);
    return true;
  }
  if (*p != '(') return false;
  const char* q = p + 1;
  while (q < end_ && *q == ' ') ++q;
  if (q >= end_) return false;
  bool theirs = *q == '[';
  if (*q == '$' && q + 1 < end_ && is_name_start(q[1])) {
    const string_view name = name_at(q + 1);
    const char* const after = q + 1 + name.size();
    theirs = after < end_ && (*after == '.' || *after == '[' || *after == ':') && session_.find(name) == nullptr;
  } else if (*q >= 'A' && *q <= 'Z') {  // a cmdlet: verb, hyphen, noun
    const string_view verb = name_at(q);
    const char* const after = q + verb.size();
    theirs = after + 1 < end_ && *after == '-' && after[1] >= 'A' && after[1] <= 'Z';
  }
  if (!theirs) return false;
  int depth = 0;
  for (q = p; q < end_; ++q) {
    if (*q == '(') ++depth;
    if (*q == ')' && --depth == 0) break;
    if (*q == '"') return false;
  }
  if (q >= end_) return false;
  pos_ = q + 1;
  add_literal(pieces, string_view(p - 1, static_cast<std::size_t>(q - p) + 2), 0, true);
  return true;
}

}  // namespace tipstaff::gate::shell
