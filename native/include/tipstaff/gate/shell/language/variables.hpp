// Variables whose text some program runs, or that say what it works on.
#pragma once

#include "tipstaff/gate/shell/redirections/redirections.hpp"
#include "tipstaff/gate/tree/known_texts.hpp"
#include "tipstaff/gate/tree/name_signs.hpp"

namespace tipstaff::gate::shell {

inline string_view decoded_address(Tree& tree, string_view text) noexcept;

// Names that others depend on, wherever the word is in them.
inline bool is_feared_name(string_view name) noexcept {
  for (const string_view part : {string_view("prod"), string_view("prd"), string_view("live"), string_view("stag")})
    if (name.find(part) != string_view::npos) return true;
  return false;
}

// Variables that say which account or stage a tool of infrastructure works on.
inline constexpr string_view kTargets = "AWS_PROFILE AWS_DEFAULT_PROFILE STAGE DEPLOY_ENV ENVIRONMENT ENV APP_ENV PULUMI_STACK CDK_ENV SST_STAGE CONVEX_DEPLOYMENT KUBECONFIG RAILS_ENV RACK_ENV MIX_ENV";

// DOCKER_HOST=ssh://host: the containers of another machine.
inline bool names_other_daemon(string_view name, const Value& value) noexcept {
  if (!one_of(name, "DOCKER_HOST CONTAINER_HOST DOCKER_CONTEXT") || (value.flags & word_flag::kUnknown) != 0 || value.text.empty()) return false;
  if (name == "DOCKER_CONTEXT") return !one_of(value.text, "default desktop-linux rootless colima orbstack");
  string_view host = value.text;
  if (!starts_with(host, "ssh://") && !starts_with(host, "tcp://")) return false;
  host.remove_prefix(6);
  if (const std::size_t user = host.find('@'); user != string_view::npos) host.remove_prefix(user + 1);
  host = host.substr(0, host.find_first_of(":/"));
  return !one_of(host, "localhost 127.0.0.1 0.0.0.0 docker dind host.docker.internal");
}

// ALLOW_PROD_MIGRATIONS, FORCE_PRODUCTION_SEED: what scripts ask for before they touch production.
inline bool overrides_protection(string_view name) noexcept {
  if (name == "DISABLE_DATABASE_ENVIRONMENT_CHECK") return true;
  if (name.find("PROD") == string_view::npos) return false;
  for (const string_view verb : {"ALLOW", "FORCE", "CONFIRM", "OVERRIDE", "BYPASS", "SKIP", "DISABLE", "UNSAFE", "DANGER", "I_KNOW", "I_REALLY", "YES_"})
    if (name.find(verb) != string_view::npos) return true;
  return false;
}

inline string_view unquoted_value(string_view text) noexcept {
  if (text.size() > 1 && (text[0] == '"' || text[0] == '\'')) return text.substr(1, text.find(text[0], 1) - 1);
  return text;
}

inline string_view quoted_for_shell(Tree& tree, string_view text) noexcept {
  const bool single = !holds(text, '\'');
  return tree.join(tree.join(tree.copy(single ? "'" : "\""), text), single ? "'" : "\"");
}

// Variables that hold options of a program, which may name code or a file of code: NODE_OPTIONS='--require FILE'.
struct OptionVariable {
  string_view names, prefix, signs;  // one of the signs must be there
};

inline constexpr OptionVariable kOptionVariables[] = {
    {"TAR_OPTIONS", "tar ", "action command compress script"}, {"NODE_OPTIONS", "node ", "-r --require --import --eval --loader"},
    {"PERL5OPT", "perl ", "-e -M -d"}, {"RUBYOPT", "ruby ", "-r -e"}, {"PYTHONSTARTUP", "python ", "/ ."}, {"LUA_INIT", "lua -e ", "( @"},
    {"PERL5DB", "perl -e ", "( {"}, {"R_PROFILE R_PROFILE_USER", "Rscript ", "/ ."}, {"PSQLRC", "psql -f ", "/ ."},
    {"RIPGREP_OPTIONS", "rg ", "--pre"}, {"VIMINIT EXINIT GVIMINIT MYVIMRC", "vim -c ", "! ( |"}, {"GOFLAGS", "go build ", "-toolexec -exec"}, {"FZF_DEFAULT_OPTS", "fzf ", "execute become preview"}, {"MAKEFLAGS GNUMAKEFLAGS", "make -f /dev/null ", "--eval"},
    {"JAVA_OPTS CATALINA_OPTS JVM_OPTS JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS SBT_OPTS", "java ", "-XX:OnError -XX:OnOutOfMemoryError"},
};

inline bool ShellReader::read_option_variable(string_view name, const Value& value, Span span) noexcept {
  if (name == "RIPGREP_CONFIG_PATH") {  // a file of options, a line each
    Stream file;
    file.kind = Stream::file;
    file.text = value.text;
    const Stream content = load(file, session_.cwd);
    string_view line;
    if (content.kind == Stream::known && replace_in(tree_, content.text, "\n", " ", false, &line)) return read_option_variable("RIPGREP_OPTIONS", Value{line, 0}, span);
    return true;
  }
  for (const OptionVariable& known : kOptionVariables) {
    if (!one_of(name, known.names)) continue;
    bool signed_so = false;
    for (string_view signs = known.signs; !signs.empty() && !signed_so;) {
      const std::size_t blank = signs.find(' ');
      signed_so = value.text.find(signs.substr(0, blank)) != string_view::npos;
      signs = blank == string_view::npos ? string_view() : signs.substr(blank + 1);
    }
    if (!signed_so) return true;
    Invocation in = for_carried_code(span, via::kScheduled);
    Nested options;
    options.via = via::kEvaluated;
    string_view code = value.text;
    if (ends_with(known.prefix, "-e ") || ends_with(known.prefix, "-c ")) code = quoted_for_shell(tree_, code);
    // -XX:OnError="COMMAND", -toolexec='COMMAND': the rest of it is for a shell.
    if (const std::size_t hook = code.find("OnError="); hook != string_view::npos) code = unquoted_value(code.substr(hook + 8));
    else if (const std::size_t memory = code.find("OnOutOfMemoryError="); memory != string_view::npos) code = unquoted_value(code.substr(memory + 19));
    else if (const std::size_t tool = code.find("exec="); known.prefix == "go build " && tool != string_view::npos) code = unquoted_value(code.substr(tool + 5));
    else if (const std::size_t rules = code.find("--eval="); rules != string_view::npos && starts_with(known.prefix, "make")) {  // its blanks are escaped
      string_view plain;
      code = code.substr(rules + 7);
      if (replace_in(tree_, code, "\\ ", " ", false, &plain)) code = plain;
      code = tree_.join(tree_.join(tree_.copy(known.prefix), "--eval="), quoted_for_shell(tree_, unquoted_value(code)));
    } else if (const std::size_t data = code.find("data:text/javascript"); data != string_view::npos) {
      const std::size_t comma = code.find(',', data);
      if (comma != string_view::npos) other_dialect(in, Dialect::node, holds(code, '%') ? decoded_address(tree_, code.substr(comma + 1)) : code.substr(comma + 1), span, via::kEvaluated);
      return true;
    } else code = tree_.join(tree_.copy(known.prefix), code);
    nested(in, code, span, options);
    // --require FILE: what this very text wrote there.
    const Dialect dialect = starts_with(known.prefix, "node") ? Dialect::node : starts_with(known.prefix, "ruby") ? Dialect::ruby : Dialect::prose;
    for (std::uint32_t i = 0; dialect != Dialect::prose && i < session_.files.size(); ++i) {
      const WrittenFile file = session_.files[i];
      if (file.content.kind == Stream::known && value.text.find(base_name(file.path)) != string_view::npos) other_dialect(in, dialect, file.content.text, span, via::kScript);
    }
    return true;
  }
  return false;
}

// Variables whose text some program runs. Most are named so.
inline bool holds_code(string_view name) noexcept {
  if (name[0] < 'A' || name[0] > 'Z') return false;
  for (const string_view ending : {"PAGER", "ASKPASS", "_RSH", "_SSH", "SSH_COMMAND", "_WRAPPER", "PASSCOMMAND", "PASSWORD_COMMAND", "BROWSER"})
    if (ends_with(name, ending)) return true;
  static constexpr Words kNames(
      "prompt_command bash_env env ps0 ps1 ps2 ps4 lessopen git_proxy_command rustdoc rustc cc cxx cpp ld cmake_c_compiler_launcher cmake_cxx_compiler_launcher "
      "fzf_default_command fzf_ctrl_t_command fzf_alt_c_command ar as ranlib nm objcopy strip hostcc hostcxx ccache_prefix distcc_cmdlist terminal rm cp mv install fc lex yacc");
  return kNames.has(name);
}
// Those whose program is given a file.
inline bool is_given_file(string_view name) noexcept {
  for (const string_view ending : {"EDITOR", "_RUNNER", "_DIFF", "MERGE", "BROWSER"})
    if (ends_with(name, ending)) return true;
  static constexpr Words kNames("visual fcedit texedit lessclose p4diff diffprog");
  return kNames.has(name);
}

inline void ShellReader::read_code_variable(string_view name, const Value& value, Span span) noexcept {
  // x='a[$(rm y)]'; (( x )): arithmetic expands what an index holds.
  if (value.text.find("[$(") != string_view::npos) {
    Invocation in = for_carried_code(span);
    Nested options;
    options.via = via::kEvaluated;
    nested(in, tree_.join(tree_.join(tree_.copy(": \""), value.text), "\""), span, options);
  }
  if (names_other_daemon(name, value) || names_database(name) || (one_of(name, kTargets) && is_feared_name(value.text))) session_.names_environment = true;
  // Variables that switch checks off are said as a command, since rules look at nothing else.
  if (one_of(name, "HUSKY HUSKY_SKIP_HOOKS LEFTHOOK LEFTHOOK_EXCLUDE SKIP PRE_COMMIT_ALLOW_NO_CONFIG OVERCOMMIT_DISABLE "
                   "SKIP_SIMPLE_GIT_HOOKS GIT_CONFIG_KEY_0 GIT_CONFIG_PARAMETERS NODE_TLS_REJECT_UNAUTHORIZED "
                   "TERRAGRUNT_NON_INTERACTIVE TG_NON_INTERACTIVE TIPSTAFF_STATE XDG_STATE_HOME CLAUDE_CONFIG_DIR CLAUDE_CODE_SIMPLE CODEX_HOME "
                   "CLAUDE_PROJECT_DIR CURSOR_PROJECT_DIR GEMINI_PROJECT_DIR LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES") ||
      starts_with(name, "TF_CLI_ARGS") || overrides_protection(name)) {
    Word word;
    word.text = tree_.join(tree_.join(tree_.copy(name), "="), value.text);
    word.span = span;
    word.flags = word_flag::kPseudo;
    emit_file("@assign", word, false, frame_.carrier, frame_.via, session_.cwd);
    return;
  }
  if (read_option_variable(name, value, span)) return;
  if (!value.text.empty() && (ends_with(name, "HISTFILE") || ends_with(name, "_HISTORY"))) {  // where a program writes what was typed
    Word path;
    path.text = value.text;
    path.span = span;
    path.flags = value.flags & kPublicFlags;
    emit_file("@write", path, false, frame_.carrier, frame_.via | via::kScheduled, session_.cwd);
  }
  const bool setting = starts_with(name, "GIT_CONFIG_VALUE_") && value.text.find(": ") == string_view::npos;  // no header
  const bool given_file = is_given_file(name);
  if (value.text.empty() || (!setting && !given_file && !holds_code(name))) return;
  Invocation in = for_carried_code(span, via::kScheduled);
  Nested options;
  options.via = via::kEvaluated;
  const bool prompt = name.size() == 3 && starts_with(name, "PS");
  if (prompt || name == "BASH_ENV" || name == "ENV") {
    // A shell expands these again before it uses them.
    if (value.text.find("$(") != string_view::npos || holds(value.text, '`')) {
      const string_view open = holds(value.text, '"') ? string_view(": ") : string_view(": \"");
      string_view code = tree_.join(tree_.copy(open), value.text);
      if (open.size() > 2) code = tree_.join(code, "\"");
      return nested(in, code, span, options);
    }
    if (prompt) return;
    Stream file;
    file.kind = Stream::file;
    file.text = value.text;
    file.span = span;
    const Stream content = load(file, session_.cwd);
    if (content.kind == Stream::known) nested_stream(in, content, options, Dialect::shell);
    return;
  }
  string_view code = value.text;
  if (starts_with(name, "LESS")) code.remove_prefix(code.find_first_not_of("|-") == string_view::npos ? code.size() : code.find_first_not_of("|-"));
  // An editor or a program that compares is given a file last: one that it writes over or deletes.
  if (given_file) {
    const string_view program = base_name(code.substr(0, code.find(' ')));
    if (one_of(program, "truncate cp mv ln rm shred dd unlink") && !(starts_with(name, "GIT_") && one_of(program, "cp mv"))) return nested(in, tree_.join(tree_.join(tree_.copy(""), code), " /etc/fstab"), span, options);
  }
  if (starts_with(code, "!")) code.remove_prefix(1);  // an alias of git
  // AR="$(AR) $(ARFLAGS)": a program by a variable of make.
  if (code.size() > 1 && code[0] == kUnknownPart && code[1] == ' ' && (value.flags & (word_flag::kEnvironment | word_flag::kMayBeEmpty)) == 0) return;
  // CXX="$CXX -Wall", CC="${CCACHE} gcc"
  if (string_view left; (value.flags & word_flag::kEnvironment) != 0 && is_extended(code, &left)) {
    if (left.empty()) return;
    code = left;
  }
  // A bare program is what it mostly is, and nothing to judge.
  if (holds(code, ' ')) return nested(in, code, span, options);
  if (one_of(base_name(code), "rm shred unlink srm rmdir wipe trash trash-put") && !one_of(name, "RM CP MV INSTALL")) return nested(in, tree_.join(tree_.copy(code), " /etc/fstab"), span, options);
  if (!holds(value.text, '/')) return;
  const string_view path = resolve(session_.cwd, value.text);  // a script that the same text wrote
  const WrittenFile* const written = session_.find_file(path.empty() ? value.text : path);
  if (written != nullptr && written->content.kind == Stream::known) nested(in, written->content.text, span, options);
}

}  // namespace tipstaff::gate::shell
