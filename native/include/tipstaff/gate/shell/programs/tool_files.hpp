// A known tool's own file is that tool: java -jar bfg-1.14.0.jar, php wp-cli.phar, node node_modules/.bin/rimraf.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

// Reads the words from `at` on as a command of their own, the first of them by another name.
inline bool ShellReader::run_as(Invocation& in, std::uint32_t at, string_view name) noexcept {
  const std::uint32_t first = tree_.word_count();
  for (std::uint32_t i = at; i < in.count; ++i) {
    Word word = argument(in, i);
    if (i == at) word.text = name;
    if (tree_.add_word(word) == kNone) return true;
  }
  run_copied(in, first, tree_.word_count() - first, 0, nullptr);
  return true;
}

// java -jar bfg-1.14.0.jar WORDS: the program that the archive is named after, without its version.
inline bool ShellReader::run_jar(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
    if (text_of(in, i) != "-jar") continue;
    const Word word = argument(in, i + 1);
    string_view name = base_name(word.text);
    if (word.has(word_flag::kUnknown) || !ends_with(name, ".jar")) return false;
    name.remove_suffix(sizeof ".jar" - 1);
    for (std::size_t at = 0; at + 1 < name.size(); ++at) {
      if (name[at] == '-' && (is_digit(name[at + 1]) || (name[at + 1] == 'v' && at + 2 < name.size() && is_digit(name[at + 2])))) name = name.substr(0, at);
    }
    for (const string_view ending : {string_view("-all"), string_view("-cli"), string_view("-commandline"), string_view("-shaded"), string_view("-standalone"), string_view("-core")})
      if (name.size() > ending.size() && ends_with(name, ending) && name != "jenkins-cli") name.remove_suffix(ending.size());
    // Their own names: an application's jar may be called as a shell or a tool is.
    if (!one_of(name, "bfg liquibase flyway jenkins-cli jmxterm sqltool sqlline")) return false;
    return run_as(in, i + 1, name);
  }
  return false;
}

// php wp-cli.phar db reset, node node_modules/.bin/rimraf src: a known tool's own file is that tool.
inline bool ShellReader::run_tool_file(Invocation& in, std::uint32_t at) noexcept {
  const Word word = argument(in, at);
  if (word.has(word_flag::kUnknown)) return false;
  string_view name = base_name(word.text);
  constexpr string_view kModules = "node_modules/";
  const std::size_t module = word.text.rfind(kModules);
  const bool linked = word.text.find("node_modules/.bin/") != string_view::npos || word.text.find("vendor/bin/") != string_view::npos;
  if (module != string_view::npos && !linked) {  // node_modules/rimraf/bin.js
    name = word.text.substr(module + kModules.size());
    name = name.substr(0, name.find('/'));
    if (!one_of(name, "rimraf prisma sequelize-cli knex drizzle-kit typeorm del-cli serverless wrangler vercel netlify-cli firebase-tools migrate-mongo db-migrate")) return false;
  } else if (!linked) {
    for (const string_view ending : {string_view(".phar"), string_view(".pyz")})
      if (ends_with(name, ending)) name.remove_suffix(ending.size());
    if (name == "wp-cli") name = "wp";
    if (name == "git_filter_repo.py") name = "git-filter-repo";
    if (name == base_name(word.text) ? !one_of(name, "git-filter-repo s3cmd rename prename file-rename rails rake knife berks cap") : !one_of(name, "wp drush phinx composer n98-magerun2 git-filter-repo doctrine drupal robo")) return false;
  }
  return run_as(in, at, name);
}

}  // namespace tipstaff::gate::shell
