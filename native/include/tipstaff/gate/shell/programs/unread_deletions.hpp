// Deletions in rare languages whose path is not one text: unlink(path.expand("~/x"), recursive = TRUE),
// removeItem(atPath: NSHomeDirectory() + "/x"), Files.walk(dir) ... delete. What is known of the path is put together;
// a path of which nothing is known stays unknown.
#pragma once

#include "tipstaff/gate/shell/programs/inline.hpp"

namespace tipstaff::gate::shell {

namespace deletions {

constexpr string_view kTrees =
    "rm_rf rm_rf! rm_r removeItem delete-directory RemoveAll remove_dir_all removeDirectoryRecursive removePathForcibly deleteDir deleteRecursively rmtree "
    "remove_all deleteTree deleteDirectory removeTree delete_dir DeleteDirectory del_dir_r delete-tree delete-directory-tree delete-directory files dir_delete "
    "removeDir removeItemAtPathError removeItemAtURLError dir_delete fs_delete_dir remove-directory trashItem";
constexpr string_view kWalkers = "walk list newDirectoryStream walkFileTree listFiles file-seq walkTopDown walkBottomUp eachFileRecurse";
constexpr string_view kHomes[] = {"homedir", "home_dir", "home-dir", "NSHomeDirectory", "homeDirectory", "HomeDirectory", "HomeDir", "getHomeDir", "user.home", "\"HOME\"", "'HOME'", "HOMEPATH",
                                  "USERPROFILE", "$HOME", "*HOME", "env.HOME", "ENV.HOME", "Dir.home", "Path.home", "path_home", "fs/home", "os.home", "File.home", "user_home", "home-path", "UserProfile", "HomePath", ":HOME"};
// After which a text names a variable or a property, not a part of a path.
constexpr string_view kAsks = "getenv get_env fetch_env getProperty getenv! fetch_env! env ENV Getenv var var_os lookupEnv getEnv environment GetEnvironmentVariable fetch get";
constexpr string_view kNoVariables = "true false TRUE FALSE True False nil NULL null try quote recursive force isDirectory self java io nio file fs os path filepath std env Foundation uiop babashka lang";

inline bool is_word(char c) noexcept { return is_name_byte(c) || c == '-' || c == '!'; }

inline bool makes_temporary(string_view text) noexcept {
  return holds_any(text, {"tmp", "Tmp", "TMP", "temp", "Temp", "TEMP"});
}

inline std::size_t after_literal(string_view text, std::size_t at) noexcept {
  std::size_t stop = at + 1;
  while (stop < text.size() && text[stop] != text[at]) stop += text[stop] == '\\' ? 2u : 1u;
  return stop < text.size() ? stop + 1 : text.size();
}

// From an opening bracket or the start of an expression to what ends its first argument.
inline std::size_t argument_end(string_view text, std::size_t at) noexcept {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || (c == '\'' && at + 1 < text.size() && text.find('\'', at + 1) != string_view::npos && text[at - (at > 0)] != '(')) {
      at = after_literal(text, at) - 1;
    } else if (holds("([{", c)) {
      ++depth;
    } else if (holds(")]}", c)) {
      if (depth-- == 0) return at;
    } else if (depth == 0 && holds(",;\n", c)) {
      return at;
    }
  }
  return at;
}

inline std::size_t brackets_end(string_view text) noexcept {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') at = after_literal(text, at) - 1;
    else if (text[at] == '(') ++depth;
    else if (text[at] == ')' && --depth == 0) return at;
  }
  return text.size();
}

// What a name was given: name = X, name <- X, name := X. Empty where that is not to be seen.
inline string_view definition_of(string_view text, string_view name) noexcept {
  for (std::size_t at = text.find(name); at != string_view::npos; at = text.find(name, at + 1)) {
    if (at > 0 && is_name_byte(text[at - 1])) continue;
    std::size_t next = at + name.size();
    while (next < text.size() && holds(" :,", text[next])) ++next;
    if (starts_with(text.substr(next), "err")) next += 3;  // dir, err := f()
    while (next < text.size() && holds(" :", text[next])) ++next;
    const bool arrow = starts_with(text.substr(next), "<-");
    if (!arrow && (next >= text.size() || text[next] != '=' || starts_with(text.substr(next), "==") || starts_with(text.substr(next), "=>"))) continue;
    next += arrow ? 2u : 1u;
    return trim(text.substr(next, text.find_first_of(";\n", next) - next));
  }
  return {};
}

}  // namespace deletions

// The path that an expression makes, as a word: below the home, of its texts, or unknown. False where it is a temporary one.
inline bool ShellReader::path_of_expression(string_view code, string_view expression, Word* path) noexcept {
  using namespace deletions;
  expression = trim(expression);
  for (int hops = 0; hops < 2; ++hops) {
    if (expression.empty() || expression.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != string_view::npos) break;
    if (makes_temporary(expression)) return false;
    const string_view made = definition_of(code, expression);
    if (made.empty()) break;
    expression = made;
  }
  if (makes_temporary(expression)) return false;
  bool home = false, unknown = false, any = false;
  for (const string_view sign : kHomes) home = home || holds_text(expression, sign);
  string_view joined = tree_.copy("");
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char c = expression[at];
    if (c == '"' || c == '\'' || c == '`') {
      const std::size_t stop = after_literal(expression, at);
      string_view part = expression.substr(at + 1, stop - at - 2);
      const string_view name = name_before(expression, at);
      at = stop - 1;
      if ((one_of(name, kAsks) && !holds(part, '/')) || part == "HOME" || part == "user.home" || part.empty()) continue;
      if (part == "~" || starts_with(part, "~/")) home = true, part.remove_prefix(1);
      while (any && !part.empty() && part[0] == '/') part.remove_prefix(1);
      if (holds_any(part, {"${", "#{", "$("})) unknown = true;
      joined = tree_.join(tree_.join(joined, any ? "/" : ""), part);
      any = true;
    } else if (is_name_start(c)) {
      const std::size_t begin = at;
      while (at < expression.size() && is_word(expression[at])) ++at;
      std::size_t next = at;
      while (next < expression.size() && expression[next] == ' ') ++next;
      const string_view name = expression.substr(begin, at - begin);
      --at;
      const bool called = next < expression.size() && holds("(.:=!/", expression[next]);
      const bool head = begin > 0 && (holds("./:", expression[begin - 1]) || (expression[begin - 1] == '(' && next > at + 1));  // (build-path x "y")
      if (called || head || one_of(name, kNoVariables)) continue;
      if (const string_view made = definition_of(code, name); makes_temporary(name) || makes_temporary(made)) return false;
      unknown = true;
    }
  }
  if (home) {
    while (!joined.empty() && joined[0] == '/') joined.remove_prefix(1);
    path->text = tree_.join(tree_.join(tree_.copy(reader_.surroundings->home.empty() ? string_view("~") : reader_.surroundings->home), "/"), joined);
    return true;
  }
  if (any && !unknown) {
    path->text = joined;
    return true;
  }
  if (makes_temporary(code)) return false;
  path->text = string_view("\x01", 1);
  path->flags |= word_flag::kUnknown;
  return true;
}

inline void ShellReader::delete_unread(Invocation& in, string_view text, Span span) noexcept {
  using namespace deletions;
  const bool walks = holds_any(text, {"delete", "Delete", "unlink", "remove"});
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      at = after_literal(text, at) - 1;
      continue;
    }
    if (!is_name_start(text[at])) continue;
    const std::size_t begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    const string_view name = text.substr(begin, at - begin);
    std::size_t open = at;
    while (open < text.size() && text[open] == ' ') ++open;
    --at;
    const bool called = open < text.size() && text[open] == '(';
    const string_view rest = open < text.size() ? text.substr(open) : string_view();
    const string_view call = rest.substr(0, called ? argument_end(rest, 1) : 0);
    const string_view all = called ? rest.substr(0, brackets_end(rest)) : string_view();
    bool deletes = one_of(name, kTrees) || (name == "all" && begin > 7 && text.substr(begin - 7, 7) == "remove.") ||
                   (one_of(name, "unlink rm") && holds_any(all, {"recursive"})) || (one_of(name, "rmdir") && holds_any(all, {"\"s\"", "'s'"})) || (name == "delete" && holds_any(all, {", \"rf\"", ",\"rf\"", ", 'rf'", ",'rf'"}));
    if (name == "files") deletes = begin > 0 && text[begin - 1] == '/' && holds_text(text, "delete-directory/files");
    const bool walker = !deletes && walks && one_of(name, kWalkers) && (name.size() > 4 || (begin > 6 && text.substr(begin - 6, 6) == "Files."));
    const bool one = !deletes && one_of(name, "remove removeFile deleteFile delete-file file_delete Remove remove_file unlink delete");
    // Gradle's delete takes folders with what is in them: delete file('x'), delete System.getProperty('user.home') + '/x'
    const bool tree = name == "delete" && one_of(in.command == kNone ? string_view() : string_view(tree_.command(in.command).program), "gradle gradlew groovy");
    if (!deletes && !walker && !one) continue;
    if (begin > 3 && one_of(text.substr(begin - 4, 4), "def  fun ")) continue;
    string_view expression;
    if (called && !trim(call.substr(1)).empty()) {
      expression = trim(call.substr(1));
      if (const std::size_t label = expression.find(':'); label != string_view::npos && label < 12 && is_name(expression.substr(0, label))) expression = trim(expression.substr(label + 1));  // atPath:
    } else if (tree && !called) {
      expression = trim(rest.substr(0, argument_end(rest, 0)));
    } else if (begin > 0 && !called && open < text.size() && (text[open] == '$' || text.rfind('(', begin) != string_view::npos) && !one && holds("(/\"$abcdefghijklmnopqrstuvwxyz'", text[open])) {
      expression = trim(rest.substr(0, argument_end(rest, 0)));  // (delete-tree x)
    } else if (begin > 0 && (holds(".>&", text[begin - 1]) || text[begin - 1] == ' ')) {
      std::size_t start = text.find_last_of(";\n", begin);  // x.deleteRecursively(), x |> File.rm_rf!()
      start = start == string_view::npos ? 0 : start + 1;
      expression = trim(text.substr(start, begin - start));
      if (const std::size_t sign = expression.find('='); !one && sign != string_view::npos && sign > 0 && expression[sign - 1] == ' ' && sign + 1 < expression.size() && expression[sign + 1] == ' ') expression = trim(expression.substr(sign + 1));
    }
    // A text alone was read where it is.
    if (expression.empty() || (holds("\"'", expression[0]) && after_literal(expression, 0) >= expression.size())) continue;
    Word path;
    path.span = span;
    if (!path_of_expression(text, expression, &path)) continue;
    if (one && (path.has(word_flag::kUnknown) || !starts_with(path.text, reader_.surroundings->home))) continue;
    Nested options;
    options.via = via::kInterpreter | via::kEvaluated;
    path.text = path.has(word_flag::kUnknown) ? string_view("rm -r -f \x01") : tree_.join(tree_.join(tree_.copy(one && !tree ? "rm -f '" : "rm -r -f '"), path.text), walker ? "'/*" : "'");
    path.flags &= static_cast<std::uint16_t>(~word_flag::kUnknown);
    code_word(in, path, options, Dialect::shell);
  }
}

}  // namespace tipstaff::gate::shell
