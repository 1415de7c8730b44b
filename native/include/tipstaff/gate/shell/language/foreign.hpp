// What others put into a shell's text before or after a shell sees it: templates, expressions of pipelines, variables of PowerShell.
#pragma once

#include "tipstaff/gate/shell/small_languages/make_words.hpp"

namespace tipstaff::gate::shell {

// {{justfile_directory()}} or {{ .BUILD_DIR }}: what a task's runner puts in before a shell sees it, where its name tells what it is.
inline const char* ShellReader::template_end(const char* from, string_view* text) const noexcept {
  constexpr std::ptrdiff_t kFar = 64;
  if (end_ - from < 6 || from[1] != '{') return nullptr;
  const char* p = from + 2;
  while (p < end_ && p - from < kFar && *p != '}' && *p != '{' && *p != '\n') ++p;
  if (p + 1 >= end_ || *p != '}' || p[1] != '}') return nullptr;
  string_view name(from + 2, static_cast<std::size_t>(p - from - 2));
  while (!name.empty() && (is_blank(name.front()) || name.front() == '.')) name.remove_prefix(1);
  while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
  if (one_of(name, "justfile_directory() justfile_dir() invocation_directory() invocation_dir() source_directory() ROOT_DIR TASKFILE_DIR USER_WORKING_DIR")) {
    *text = session_.cwd;
  } else if (is_name(name) && names_built(name)) {
    *text = "build";
  }
  return text->empty() ? nullptr : p + 2;
}

// env.INSTALLDIR: where a job installs what it built.
inline bool names_install_folder(string_view name) noexcept { return one_of(name, "INSTALLDIR INSTALL_DIR INSTALL_PREFIX installdir install_dir install_prefix"); }

// ${{ matrix.x || 'y' }}: what a pipeline puts in before a shell sees it; a shell refuses it.
inline const char* ShellReader::pipeline_expression_end(const char* from) const noexcept {
  constexpr std::ptrdiff_t kFar = 512;
  for (const char* p = from + 3; p + 1 < end_ && p - from < kFar && *p != '\n'; ++p)
    if (p[0] == '}' && p[1] == '}') return p + 2;
  return nullptr;
}

inline void ShellReader::give_pipeline_expression(string_view written, string_view before, eval::Value* value) noexcept {
  const string_view expression = trim(written.substr(3, written.size() - 5));
  eval::Store& store = run().store();
  value->text = eval::kOther;
  value->origin = 0;
  const char* const after = written.data() + written.size();
  const bool below = before.empty() && after + 1 < end_ && *after == '/' && (is_name_start(after[1]) || after[1] == '.');
  if (below && expression == "github.workspace" && !session_.cwd.empty()) {
    value->text = store.intern(reader_.surroundings->cwd.empty() ? session_.cwd : reader_.surroundings->cwd);
  } else if (below && expression == "runner.temp") {
    value->text = store.intern("/tmp/job");
  } else {
    string_view name = expression.substr(0, expression.find(' '));  // env.BUILD_DIR || 'x'
    name = name.substr(name.rfind('.') + 1);
    if (is_name(name) && name.size() < 32 && expression.size() > name.size() && (names_built(name) || names_install_folder(name))) value->text = store.intern("build");
  }
}

}  // namespace tipstaff::gate::shell
