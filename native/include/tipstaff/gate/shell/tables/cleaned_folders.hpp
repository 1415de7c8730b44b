// Tools that delete a folder of their own, which a variable or an option moved elsewhere: CARGO_TARGET_DIR=~ cargo clean.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"
#include "tipstaff/gate/tree/name_signs.hpp"

namespace tipstaff::gate::shell {

struct Cleaner {
  string_view programs, words, variables, options;  // one of the words must be there
};

inline constexpr Cleaner kCleaners[] = {
    {"cargo", "clean", "CARGO_TARGET_DIR", "--target-dir"},
    {"go", "-cache -modcache -testcache -fuzzcache", "GOCACHE GOMODCACHE", ""},
    {"npm pnpm", "cache", "npm_config_cache NPM_CONFIG_CACHE", "--cache"},
    {"yarn", "cache", "YARN_CACHE_FOLDER", "--cache-folder"},
    {"pip pip3", "purge", "PIP_CACHE_DIR", "--cache-dir"},
    {"uv", "clean", "UV_CACHE_DIR", "--cache-dir"},
    {"ccache", "-C --clear", "CCACHE_DIR", "-d --dir"},
    {"bazel bazelisk", "clean", "", "--output_base --output_user_root"},
    {"poetry", "clear", "POETRY_CACHE_DIR", ""},
    {"composer", "clear-cache clearcache", "COMPOSER_CACHE_DIR", ""},
    {"ruff", "clean", "RUFF_CACHE_DIR", "--cache-dir"},
    {"jest", "--clearCache", "", "--cacheDirectory"},
    {"pre-commit", "clean", "PRE_COMMIT_HOME", ""},
    {"cypress", "cache", "CYPRESS_CACHE_FOLDER", ""},
    {"playwright", "uninstall", "PLAYWRIGHT_BROWSERS_PATH", ""},
    {"dotnet nuget", "locals", "NUGET_PACKAGES", ""},
    {"gradle gradlew", "clean", "", "-PbuildDir"},
    {"mvn mvnw", "dependency:purge-local-repository", "", "-Dmaven.repo.local"},
};

constexpr NameSigns make_cleaner_signs() noexcept {
  NameSigns signs;
  for (const Cleaner& cleaner : kCleaners) signs.add_all(cleaner.programs);
  return signs;
}
inline constexpr NameSigns kCleanerSigns = make_cleaner_signs();

inline void ShellReader::clean_folders(Invocation& in, string_view program) noexcept {
  if (!kCleanerSigns.may_have(program)) return;
  for (const Cleaner& cleaner : kCleaners) {
    if (!one_of(program, cleaner.programs)) continue;
    bool cleans = false;
    for (std::uint32_t i = 1; i < in.count && !cleans; ++i) cleans = one_of(text_of(in, i), cleaner.words);
    if (!cleans) return;
    const auto remove = [&](string_view folder) noexcept {
      if (folder.empty() || holds(folder, '\'') || folder.find("cache") != string_view::npos || folder.find("Cache") != string_view::npos) return;
      Nested options;
      options.via = via::kScheduled;
      nested(in, tree_.join(tree_.join(tree_.copy("rm -r -f '"), folder), "'"), in.span, options);
    };
    for (string_view names = cleaner.variables; !names.empty();) {
      const std::size_t blank = names.find(' ');
      const Variable* const found = session_.find(names.substr(0, blank));
      if (found != nullptr && found->count != 0) remove(session_.values(*found)[0].text);
      names = blank == string_view::npos ? string_view() : names.substr(blank + 1);
    }
    for (std::uint32_t i = 1; i < in.count && !cleaner.options.empty(); ++i) {
      const string_view text = text_of(in, i);
      const std::size_t equals = text.find('=');
      if (text.empty() || text[0] != '-' || !one_of(text.substr(0, equals), cleaner.options)) continue;
      if (equals != string_view::npos) remove(text.substr(equals + 1));
      else if (i + 1 < in.count) remove(text_of(in, ++i));
    }
    return;
  }
}

}  // namespace tipstaff::gate::shell
