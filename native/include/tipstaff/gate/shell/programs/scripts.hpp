// Code in files: scripts named on the command line, make and just recipes, package.json's scripts, crontabs.
#pragma once

#include "tipstaff/gate/shell/programs/unread_deletions.hpp"

namespace tipstaff::gate::shell {

// By what the formats of programs begin with. Bytes that no text has make no program of a script: shells run it.
inline bool looks_binary(string_view text) noexcept {
  for (const string_view magic : {string_view("\x7f""ELF"), string_view("MZ"), string_view("\xfe\xed\xfa\xce", 4),
                                  string_view("\xfe\xed\xfa\xcf", 4), string_view("\xce\xfa\xed\xfe", 4),
                                  string_view("\xcf\xfa\xed\xfe", 4), string_view("\xca\xfe\xba\xbe", 4), string_view("\0asm", 4),
                                  string_view("PK\x03\x04", 4), string_view("!<arch>\n"), string_view("\x1f\x8b", 2),
                                  string_view("\xfd""7zXZ", 5), string_view("BZh"), string_view("\x28\xb5\x2f\xfd", 4),
                                  string_view("\x89PNG", 4), string_view("%PDF-"), string_view("\r\r\n", 3), string_view("\r\n\0", 3)})
    if (starts_with(text, magic)) return true;
  return false;
}

// The content of a file: one that this text wrote, or one on the disk. Stream::unknown where it cannot be read.
inline Stream ShellReader::load(const Stream& file, string_view cwd) noexcept {
  Stream content;
  content.kind = Stream::unknown;
  content.span = file.span;
  content.refused = session_.forgot_files();
  const string_view path = resolve(cwd, file.text);
  const WrittenFile* written = session_.find_file(path.empty() ? file.text : path);
  if (written != nullptr) {
    if (written->content.kind == Stream::file) {
      Stream next = written->content;
      if (session_.level >= kLevels) return content.refused = true, content;
      ++session_.level;
      content = load(next, cwd);
      --session_.level;
      return content;
    }
    return written->content;
  }
  // Below a folder that this text copied, moved or made a link to; a folder that was there before holds the copy.
  if (const WrittenFile* const folder = path.empty() ? nullptr : session_.find_folder(path); folder != nullptr && session_.level < kLevels) {
    string_view below = path.substr(folder->path.size());
    const string_view source = folder->content.text, name = base_name(source);
    Stream next = folder->content;
    if (name.size() + 1 == below.size() && ends_with(below, name)) below = {};
    else if (name.size() + 2 < below.size() && below.substr(1, name.size()) == name && below[name.size() + 1] == '/') below = below.substr(name.size() + 1);
    next.text = below.empty() ? source : tree_.join(tree_.copy(source), below);
    ++session_.level;
    const Stream found = next.text == path ? Stream{} : load(next, cwd);
    --session_.level;
    if (found.kind == Stream::known || found.refused) return found;
  }
  const Surroundings& place = *reader_.surroundings;
  // What packages installed there is nobody's at work here, and often longer than what is read.
  const bool installed = (starts_with(path, "/usr/share/") || starts_with(path, "/usr/lib/")) && path.find("/..") == string_view::npos;
  if (path.empty() || place.read_file == nullptr || installed || starts_with(path, "/dev/") || starts_with(path, "/proc/")) {
    return content;
  }
  std::size_t room = 0;
  char* out = tree_.draft(&room);
  const std::size_t most = room < limits::kScriptBytes ? room : limits::kScriptBytes;
  if (reader_.nested_bytes < most) return content;
  const long long size = place.read_file(place.self, path, out, most);
  if (size < 0) {
    content.refused = content.refused || size == -2;
    return content;
  }
  std::size_t got = static_cast<std::size_t>(size) < most ? static_cast<std::size_t>(size) : most;
  constexpr std::size_t kBeginning = 16;
  if (looks_binary({out, got})) got = got < kBeginning ? got : kBeginning;  // a program is one whatever its size
  else if (static_cast<unsigned long long>(size) > most) uncertain(Unresolved::script_size, file.span, frame_.carrier);
  reader_.nested_bytes -= got;
  content.kind = Stream::known;
  content.text = tree_.keep(got);
  return content;
}

inline Dialect dialect_of_script(string_view text, string_view path, Dialect otherwise) noexcept {
  if (starts_with(text, "#!")) {
    const string_view line = text.substr(0, text.find('\n'));
    if (line.find("python") != string_view::npos) return Dialect::python;
    if (line.find("node") != string_view::npos || line.find("deno") != string_view::npos ||
        line.find("bun") != string_view::npos) {
      return Dialect::node;
    }
    if (line.find("perl") != string_view::npos) return Dialect::perl;
    if (line.find("ruby") != string_view::npos) return Dialect::ruby;
    if (line.find("php") != string_view::npos) return Dialect::php;
    if (line.find("pwsh") != string_view::npos) return Dialect::powershell;
    if (line.find("make") != string_view::npos) return Dialect::make;
    if (line.find("awk") != string_view::npos) return Dialect::awk;
    return Dialect::shell;
  }
  if (ends_with(path, ".py")) return Dialect::python;
  if (ends_with(path, ".js") || ends_with(path, ".mjs") || ends_with(path, ".cjs") || ends_with(path, ".ts")) {
    return Dialect::node;
  }
  if (ends_with(path, ".pl")) return Dialect::perl;
  if (ends_with(path, ".rb")) return Dialect::ruby;
  if (ends_with(path, ".php")) return Dialect::php;
  if (ends_with(path, ".ps1")) return Dialect::powershell;
  if (ends_with(path, ".bat") || ends_with(path, ".cmd")) return Dialect::cmd;
  return otherwise;
}

// Whether all that this text downloads are files that projects release, by their addresses; scripts are to be read first.
// What anybody may have released is not run as root, and the owner has to be known.
inline bool downloads_releases(const Tree& tree, string_view name, std::uint32_t carrier) noexcept {
  bool root = false;
  for (std::uint32_t steps = 0; carrier != kNone && steps < 8; carrier = tree.command(carrier).carrier, ++steps) root = root || one_of(tree.command(carrier).program, "sudo doas su pkexec run0");
  for (const string_view ending : {".sh", ".bash", ".py", ".pl", ".ps1"})
    if (ascii::ends_with(name, ending)) return false;
  bool some = false;
  for (std::uint32_t i = 0; i < tree.command_count(); ++i) {
    const Command& command = tree.command(i);
    if (!one_of(command.program, "curl wget")) continue;
    for (std::uint32_t w = 0; w < command.word_count; ++w) {
      const string_view url = tree.arguments(command)[w].text;
      if (url.find("://") == string_view::npos) continue;
      if (url.substr(0, url.find("/releases/")).find(kUnknownPart) != string_view::npos) return false;
      constexpr string_view kHub = "https://github.com/";
      bool released = starts_with(url, kHub) && url.find("/releases/", kHub.size()) != string_view::npos && url.find("/download/") != string_view::npos && !root;
      for (const string_view host : {"https://phar.phpunit.de/", "https://getcomposer.org/", "https://kind.sigs.k8s.io/dl/", "https://dl.k8s.io/", "https://get.helm.sh/",
                                     "https://cs.symfony.com/download/", "https://psalm.dev/", "https://repo.maven.apache.org/maven2/", "https://repo1.maven.org/maven2/",
                                     "https://releases.hashicorp.com/", "https://storage.googleapis.com/kubernetes-release/", "https://downloads.rclone.org/", "https://dl.min.io/"})
        released = released || starts_with(url, host);
      if (!released || ascii::ends_with(url, ".sh")) return false;
      some = true;
    }
  }
  return some;
}

// The script whose path is the word at `index`; what follows are its arguments.
inline bool ShellReader::run_script(Invocation& in, std::uint32_t index, Dialect dialect, std::uint32_t via) noexcept {
  const Word word = argument(in, index);
  if (word.has(word_flag::kUnknown)) {
    uncertain(Unresolved::script, word.span, in.command);
    return false;
  }
  Stream file;
  file.kind = Stream::file;
  file.text = word.text;
  file.span = word.span;
  const Stream content = load(file, in.cwd);
  Nested options;
  options.via = via | via::kScript;
  options.has_positional = true;
  options.positional = Positional{in.first + index + 1, in.count - index - 1, true, word.text};
  if (content.kind == Stream::unknown || (content.kind == Stream::known && looks_binary(content.text))) {
    const bool made = starts_with(word.text, "/dev/fd/");  // bash <(tool init): as tool init | bash
    uncertain(content.refused ? Unresolved::unreadable : made ? Unresolved::code : Unresolved::script, word.span, in.command);
    return false;
  }
  if (content.kind == Stream::remote && !content.decoded && downloads_releases(tree_, word.text, in.carrier)) {
    uncertain(Unresolved::remote_release, word.span, in.command);
    return false;
  }
  options.input = &in.input;
  nested_stream(in, content, options, dialect);
  return true;
}

// A program that is called by its path: a script of the repository, perhaps.
inline void ShellReader::run_path(Invocation& in) noexcept {
  const Word name = argument(in, 0);
  if (name.has(word_flag::kUnknown)) return;
  const string_view path = resolve(in.cwd, name.text);
  for (const string_view place : {"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/"}) {
    if (!starts_with(path, place)) continue;
    if (holds(base_name(path), '.')) uncertain(Unresolved::script, name.span, in.command);  // /opt/app/bin/clean.sh
    return;
  }
  // A program that this very text copied, or made a link to, under another name.
  const WrittenFile* const written = session_.find_file(path.empty() ? name.text : path);
  if (written != nullptr && written->content.kind == Stream::file && !holds(written->content.text, '.')) {
    Word other = name;
    other.text = written->content.text;
    const std::uint32_t first = tree_.word_count();
    if (tree_.add_word(other) == kNone) return;
    for (std::uint32_t i = 1; i < in.count; ++i) {
      if (tree_.add_word(argument(in, i)) == kNone) return;
    }
    return run_copied(in, first, in.count, 0, nullptr);
  }
  Stream file;
  file.kind = Stream::file;
  file.text = name.text;
  file.span = name.span;
  const Stream content = load(file, in.cwd);
  if (content.refused) uncertain(Unresolved::unreadable, name.span, in.command);
  // Where no files are read, as plain commands are read: a name with an ending.
  const bool script = reader_.surroundings->read_file != nullptr || holds(base_name(name.text), '.');
  if (content.kind == Stream::unknown && !content.refused && script) uncertain(Unresolved::script, name.span, in.command);
  if (content.kind == Stream::unknown || content.kind == Stream::none) return;
  if (content.kind == Stream::known && looks_binary(content.text)) return;
  if (content.kind == Stream::remote && !content.decoded && downloads_releases(tree_, name.text, in.carrier)) return uncertain(Unresolved::remote_release, name.span, in.command);
  Nested options;
  options.via = via::kScript;
  options.has_positional = true;
  options.positional = Positional{in.first + 1, in.count - 1, true, name.text};
  const Dialect dialect =
      content.kind == Stream::known ? dialect_of_script(content.text, path, Dialect::shell) : Dialect::shell;
  nested_stream(in, content, options, dialect);
}

// The value of a key of the object "scripts" in a package.json: with its JSON escapes undone.
inline string_view package_script(Tree& tree, string_view json, string_view name) noexcept {
  std::size_t at = json.find("\"scripts\"");
  if (at == string_view::npos) return {};
  at = json.find('{', at);
  if (at == string_view::npos) return {};
  ++at;
  while (at < json.size()) {
    while (at < json.size() && json[at] != '"' && json[at] != '}') ++at;
    if (at >= json.size() || json[at] == '}') return {};
    string_view texts[2];
    for (string_view& text : texts) {
      while (at < json.size() && json[at] != '"') ++at;
      const std::size_t begin = ++at;
      while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2 : 1;
      if (at >= json.size()) return {};
      text = json.substr(begin, at - begin);
      ++at;
    }
    if (texts[0] == name) {
      return holds(texts[1], '\\') ? decode_escapes(tree, texts[1], Escapes::ansi_c) : texts[1];
    }
  }
  return {};
}

// npm run NAME, yarn NAME, pnpm NAME; npm exec, pnpm dlx; npm install, which runs what package.json names for it.
inline void ShellReader::run_package_script(Invocation& in) noexcept {
  std::uint32_t at = after_options(in, 1, "CF", "--prefix --workspace --filter --cwd --dir");
  for (std::uint32_t i = 1; i < at; ++i) {
    if (one_of(text_of(in, i), "-C --prefix --cwd --dir") && i + 1 < in.count) {
      in.cwd = resolve(in.cwd, text_of(in, i + 1));
      tree_.command(in.command).cwd = in.cwd;
    }
  }
  const string_view program = tree_.command(in.command).program;
  string_view name = at < in.count ? text_of(in, at) : program == "yarn" ? string_view("install") : string_view();
  if (name.empty()) return;
  bool installs = one_of(name, "install i ci add") && program != "pip";
  for (std::uint32_t i = 1; i < in.count; ++i) installs = installs && text_of(in, i) != "--ignore-scripts" && text_of(in, i) != "--global" && text_of(in, i) != "-g";
  if (installs) {
    if (name == "add" || (at < in.count && after_options(in, at + 1, "CFw", "--prefix --workspace --filter --cwd --dir") < in.count)) return;
    Stream file;
    file.kind = Stream::file;
    file.text = "package.json";
    file.span = in.span;
    const Stream content = load(file, in.cwd);
    if (content.kind != Stream::known) return;
    Nested options;
    options.via = via::kScript;
    for (const string_view key : {string_view("preinstall"), string_view("install"), string_view("postinstall"), string_view("preprepare"),
                                  string_view("prepare"), string_view("postprepare")})
      if (const string_view text = package_script(tree_, content.text, key); !text.empty()) nested(in, text, in.span, options);
    return;
  }
  if (name == "workspace" && program == "yarn" && at + 2 < in.count) {
    at += 2;
    name = text_of(in, at);
  }
  const std::uint32_t direct = at;
  if (name == "pkg" && at + 2 < in.count && text_of(in, at + 1) == "set") return set_package_scripts(in, at + 2);
  if (name == "set-script" && at + 2 < in.count) return run_stored_script(in, text_of(in, at + 1), text_of(in, at + 2), argument(in, at + 2).span);
  if (one_of(name, "exec dlx x")) {
    std::uint32_t i = after_options(in, at + 1, "pc", "--package");
    Word code;
    if (program == "yarn" && name == "exec" && i + 1 == in.count) return code_word(in, argument(in, i), Nested{}, Dialect::shell);
    if (find_option(in, 'c', "--call", &code) != kNone) return code_word(in, code, Nested{}, Dialect::shell);
    return run_inner(in, i, 0);
  }
  if (one_of(name, "run run-script rum urn")) {
    at = after_options(in, at + 1, "w", "--workspace --prefix");
    if (at >= in.count) return;
    name = text_of(in, at);
  } else if (name == "t" || name == "tst") {
    name = "test";
  } else if (program == "npm" && !one_of(name, "test start stop restart")) {
    return;
  }
  Stream file;
  file.kind = Stream::file;
  file.text = "package.json";
  file.span = in.span;
  const Stream content = load(file, in.cwd);
  // pnpm NAME, yarn NAME: a script of that name, else a program of the project's packages.
  const bool may_be_program = program != "npm" && at + 1 < in.count && name == text_of(in, at) && at == direct &&
                              !one_of(name, "add install i remove rm uninstall update up upgrade publish why info init create config cache link "
                                            "unlink pack list ls audit outdated set global workspaces plugin npm login logout owner tag "
                                            "version versions help import patch patch-commit rebuild store env server fetch prune deploy licenses dedupe node");
  if (may_be_program && (content.kind != Stream::known || package_script(tree_, content.text, name).empty())) {
    return run_inner(in, at, 0);
  }
  if (content.kind != Stream::known) return;
  const string_view base = name;
  for (const string_view before : {"pre", "", "post"}) {
    string_view key = base;
    if (!before.empty()) key = tree_.join(tree_.copy(before), base);
    const string_view text = package_script(tree_, content.text, key);
    if (text.empty()) continue;
    Nested options;
    options.via = via::kScript;
    std::uint32_t from = at + 1;
    if (from < in.count && text_of(in, from) == "--") ++from;
    if (before.empty() && from < in.count) {
      options.tail_first = in.first + from;
      options.tail_count = in.count - from;
    }
    nested(in, text, argument(in, at).span, options);
  }
}

// just NAME: the recipe's lines.
inline void ShellReader::run_just(Invocation& in) noexcept {
  read_task_files(in, "just");
  if (only_shows_tasks(in, "just")) return;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    if (text_of(in, i) == "--command" || text_of(in, i) == "-c") return run_inner(in, i + 1, 0);
    if (one_of(text_of(in, i), "--shell --shell-arg --set --justfile -f")) ++i;
    else if (text_of(in, i).empty() || text_of(in, i)[0] != '-') break;
  }
  const std::uint32_t at = after_options(in, 1, "fd", "--justfile --working-directory --set");
  Stream file, content;
  file.kind = Stream::file;
  file.span = in.span;
  content.kind = Stream::unknown;
  for (const string_view name : {"justfile", "Justfile", ".justfile"}) {
    file.text = name;
    content = load(file, in.cwd);
    if (content.kind == Stream::known) break;
  }
  if (content.kind != Stream::known) return;
  const string_view wanted = at < in.count ? text_of(in, at) : string_view();
  string_view rest = content.text;
  bool inside = false;
  while (!rest.empty()) {
    std::size_t newline = rest.find('\n');
    if (newline == string_view::npos) newline = rest.size();
    const string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline < rest.size() ? newline + 1 : newline);
    if (line.empty()) continue;
    if (!is_blank(line[0])) {
      if (inside && wanted.empty()) return;
      string_view name = line[0] == '@' ? line.substr(1) : line;
      std::size_t end = 0;
      while (end < name.size() && (is_name_byte(name[end]) || name[end] == '-')) ++end;
      const std::size_t colon = name.find(':');
      const bool recipe = end != 0 && colon != string_view::npos &&
                          !(colon + 1 < name.size() && name[colon + 1] == '=');
      inside = recipe && (wanted.empty() || name.substr(0, end) == wanted);
      continue;
    }
    if (!inside) continue;
    string_view code = trim(line);
    while (!code.empty() && (code[0] == '@' || code[0] == '-')) code.remove_prefix(1);
    Nested options;
    options.via = via::kScript;
    nested(in, code, in.span, options);
  }
}

}  // namespace tipstaff::gate::shell

namespace tipstaff::gate {

// Lines of five fields, or of a name like @reboot, and a command.
void read_crontab(Reader& reader, const Code& code, const Frame& frame) noexcept {
  const std::string_view text = code.text;
  std::size_t at = 0;
  while (at < text.size() && !reader.tree->full()) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    std::size_t from = at;
    const auto skip_blanks = [&]() noexcept {
      while (from < end && shell::is_blank(text[from])) ++from;
    };
    skip_blanks();
    at = end + 1;
    if (from >= end || text[from] == '#') continue;
    std::size_t fields = text[from] == '@' ? 1 : 5;
    const std::string_view line = text.substr(from, end - from);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && shell::is_name(shell::trim(line.substr(0, equals)))) continue;
    for (; fields > 0; --fields) {
      while (from < end && !shell::is_blank(text[from])) ++from;
      skip_blanks();
    }
    if (from >= end) continue;
    Frame inner = frame;
    inner.via |= via::kScheduled;
    read_code(reader, Dialect::shell, Code{text.substr(from, end - from), code.at(from, end), code.verbatim}, inner);
  }
}

}  // namespace tipstaff::gate
