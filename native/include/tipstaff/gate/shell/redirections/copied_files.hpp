// Programs that write to files what they read, fetch or copy: tee, curl -o, cp, mv, dd; and statements that are sent over HTTP.
#pragma once

#include "tipstaff/gate/shell/language/nested.hpp"
#include "tipstaff/gate/shell/redirections/written_files.hpp"
#include "tipstaff/gate/tool_fields.hpp"

namespace tipstaff::gate::shell {

// %20 and + in an address.
inline string_view decoded_address(Tree& tree, string_view text) noexcept {
  std::size_t room = 0, kept = 0;
  char* const out = tree.draft(&room);
  if (room < text.size()) return {};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hex = text[i] == '%' && i + 2 < text.size() && ascii::hex_value(text[i + 1]) >= 0 && ascii::hex_value(text[i + 2]) >= 0;
    out[kept++] = hex ? static_cast<char>(ascii::hex_value(text[i + 1]) * 16 + ascii::hex_value(text[i + 2])) : text[i] == '+' ? ' ' : text[i];
    if (hex) i += 2;
  }
  return tree.keep(kept);
}

inline void ShellReader::run_tee(Invocation& in) noexcept {
  bool append_to = false;
  const bool soaks_not = tree_.command(in.command).program != "sponge";
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    if (word.text == "-a" || word.text == "--append") append_to = true;
    if (word.text.empty() || word.text[0] == '-' || word.text == "/dev/null" || word.text == "/dev/stderr") continue;
    if (word.has(word_flag::kPseudo)) continue;
    emit_file("@write", word, append_to, in.command, in.via, in.cwd, !append_to && ((in.input.kind != Stream::none && empties(in.input)) || (soaks_not && reads_before(in, word))));
    // One line that is added to a list of the system's may be named: echo '127.0.0.1 app.local' | tee -a /etc/hosts.
    if (append_to && in.input.kind == Stream::known && in.input.text.find('\n') >= in.input.text.size() - 1) {
      Command& written = tree_.command(tree_.command_count() - 1);
      written.input.text = in.input.text;
      written.has_input = written.program == "@write" && !in.input.text.empty();
    }
    remember_file(in.cwd, word.text, in.input, append_to);
    run_at_startup(word.text, in.input, word.span);
  }
  if (in.want_output) in.output = in.input;
}

// Databases that answer over HTTP take statements as a body, as a field of one, or in the address: ?query=DROP+TABLE+x.
inline void ShellReader::read_statements(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    if (string_view host = text_of(in, i); !host.empty() && host[0] != '-') {
      if (const std::size_t slashes = host.find("://"); slashes != string_view::npos) host.remove_prefix(slashes + 3);
      host = host.substr(0, host.find_first_of(":/?"));
      if (!host.empty() && (is_local_host(host) || ends_with(host, ".localhost"))) return;
    }
  }
  const auto statement = [&](string_view text, Span span) noexcept {
    text = trim(text);
    if (tools::starts_like_sql(text)) other_dialect(in, Dialect::sql, text, span, via::kRemote | via::kEvaluated);
  };
  if (in.input.kind == Stream::known) statement(in.input.text, in.input.span);
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    const string_view text = word.text;
    if (text.size() < 10 || text.size() > 8192) continue;
    statement(text, word.span);
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '=') {  // q=DROP DATABASE x
        const string_view value = text.substr(at + 1, text.find('&', at) == string_view::npos ? string_view::npos : text.find('&', at) - at - 1);
        statement(value.find_first_of("%+") == string_view::npos ? value : decoded_address(tree_, value), word.span);
      } else if (c == '"') {
        const std::size_t close = text.find('"', at + 1);
        if (close == string_view::npos) break;
        statement(text.substr(at + 1, close - at - 1), word.span);
        at = close;
      }
    }
  }
}

// curl -o FILE, wget -O FILE: the file's content comes from the network.
inline void ShellReader::run_download(Invocation& in) noexcept {
  read_statements(in);
  Stream content;
  content.kind = Stream::remote;
  content.span = in.span;
  const string_view program = tree_.command(in.command).program;
  Word path;
  const bool curl = program == "curl";
  if (curl && read_curl_options(in)) return;
  const char letter = curl || program == "aria2c" || program == "http" || program == "https" || program == "fetch" ? 'o' : 'O';
  const string_view name = curl ? "--output" : program == "wget" ? "--output-document" : "--out";
  if (find_option(in, letter, name, &path) != kNone && path.text != "-" && !path.text.empty()) {
    // -o /dev/stdout, /proc/self/fd/1: it is printed after all. What aria2c prints beside, nobody means as code.
    if ((starts_with(path.text, "/dev/") && path.text != "/dev/null") || starts_with(path.text, "/proc/")) return;
    remember_file(in.cwd, path.text, content, false);
    if (program != "aria2c") in.output = Stream{};
    return;
  }
  bool named = program == "wget" || program == "aria2c";
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (curl && text.size() > 1 && text[0] == '-' && text[1] != '-' && holds(text, 'O')) named = true;
    if (curl && text == "--remote-name") named = true;
    if (program == "wget" && (text == "-qO-" || text == "-O-" || text == "-" || ends_with(text, "O-"))) return;
  }
  if (!named) return;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.empty() || text[0] == '-' || !holds(text, '/')) continue;
    string_view file = base_name(text);
    file = file.substr(0, file.find('?'));
    if (!file.empty()) remember_file(in.cwd, file, content, false);
  }
  if (in.want_output && named && program != "aria2c") in.output = Stream{};
}

// Whether a file that holds this holds nothing that anyone wrote.
inline bool leaves_nothing(const Stream& content) noexcept {
  return empties(content) || (content.kind == Stream::file && one_of(content.text, "/dev/zero /dev/urandom /dev/random"));
}

// cp, mv, ln, install, rsync, dd: what is run under the other name is the same file, or below the same folder.
inline void ShellReader::run_copy(Invocation& in) noexcept {
  if (in.count < 3) return;
  Stream content;
  content.kind = Stream::file;
  content.span = in.span;
  const auto trimmed = [](string_view path) noexcept {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    if (path.size() > 2 && ends_with(path, "/.")) path.remove_suffix(2);
    return path;
  };
  const auto remember = [&](const Word& source, string_view to) noexcept {
    if (source.has(word_flag::kUnknown) || source.has(word_flag::kGlob)) return;
    const string_view from = trimmed(source.text), resolved = resolve(in.cwd, from);
    content.text = resolved.empty() ? from : resolved;
    const bool inside = to.back() == '/' || to == "." || to == "..";
    to = trimmed(to);
    // What this very text made empty empties what it is copied over.
    if (const WrittenFile* made = inside ? nullptr : session_.find_file(content.text); made != nullptr && leaves_nothing(made->content)) {
      Word path = source;
      path.text = to;
      emit_file("@write", path, false, in.command, in.via, in.cwd, true);
    }
    if (!inside) return remember_file(in.cwd, to, content, false);
    remember_file(in.cwd, tree_.join(tree_.join(tree_.copy(to), "/"), base_name(from)), content, false);
    // rsync FOLDER/ OTHER/ copies what is in it.
    if (tree_.command(in.command).program == "rsync" && source.text.back() == '/') remember_file(in.cwd, to, content, false);
  };
  if (tree_.command(in.command).program == "dd") {
    Word from, to;
    for (std::uint32_t i = 1; i < in.count; ++i) {
      const string_view text = text_of(in, i);
      if (starts_with(text, "if=")) from = argument(in, i), from.text.remove_prefix(3);
      if (starts_with(text, "of=")) to = argument(in, i), to.text.remove_prefix(3);
    }
    if (!from.text.empty() && !to.text.empty()) remember(from, to.text);
    return;
  }
  Word folder;
  const bool named = find_option(in, 't', "--target-directory", &folder) != kNone && !folder.text.empty();
  std::uint32_t last = kNone;
  for (std::uint32_t i = in.count; !named && i-- > 1;) {
    if (!text_of(in, i).empty() && text_of(in, i)[0] != '-') {
      last = i;
      break;
    }
  }
  if (!named && last == kNone) return;
  const string_view to = named ? tree_.join(tree_.copy(folder.text), "/") : text_of(in, last);
  std::uint32_t sources = 0;
  for (std::uint32_t i = 1; i < in.count && i < last && sources < 16; ++i) {
    const Word source = argument(in, i);
    if (source.text.empty() || source.text[0] == '-' || (named && source.text == folder.text)) continue;
    ++sources;
    remember(source, to);
  }
}

}  // namespace tipstaff::gate::shell
