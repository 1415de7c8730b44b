// Makefiles: the recipes of the targets that are asked for, with plain variables put in.
#pragma once

#include "tipstaff/gate/shell/programs/elsewhere.hpp"

namespace tipstaff::gate::shell {

struct MakeVariable {
  string_view name, value;
};

// Reads the recipes of some targets of a makefile. Variables are put in where they are plain.
class MakeReader {
 public:
  MakeReader(Reader& reader, const Code& code, const Frame& frame) noexcept
      : reader_(reader), tree_(*reader.tree), code_(code), frame_(frame) {}

  // Of several targets each rule is read once, as make runs it once.
  void read(string_view target) noexcept {
    if (!gathered_) gather();
    gathered_ = true;
    if (target.empty()) target = default_;
    read_target(target, 0);
  }
  void set(string_view name, string_view value) noexcept { variables_.add(MakeVariable{name, value}); }

 private:
  struct Rule {
    string_view target, needs;
    std::size_t recipe = 0;  // where the lines after it begin
  };

  string_view line_at(std::size_t at, std::size_t* next) const noexcept {
    const string_view text = code_.text;
    std::size_t end = at;
    for (;;) {
      end = text.find('\n', end);
      if (end == string_view::npos) {
        *next = text.size();
        return text.substr(at);
      }
      std::size_t back = end;
      while (back > at && text[back - 1] == '\r') --back;
      if (back == at || text[back - 1] != '\\') break;
      ++end;  // the line continues
    }
    *next = end + 1;
    return text.substr(at, end - at);
  }

  void gather() noexcept {
    std::size_t at = 0;
    while (at < code_.text.size()) {
      std::size_t next = 0;
      const string_view line = line_at(at, &next);
      at = next;
      if (line.empty() || line[0] == '\t' || line[0] == '#') continue;
      const std::size_t equals = line.find('='), colon = line.find(':');
      const bool assigns = equals != string_view::npos && (colon == string_view::npos || equals <= colon + 2);
      if (assigns) {
        std::size_t end = equals;
        while (end > 0 && (holds(":?+!", line[end - 1]))) --end;
        string_view name = trim(line.substr(0, end));
        if (starts_with(name, "export ")) name = trim(name.substr(7));
        if (starts_with(name, "override ")) name = trim(name.substr(9));
        if (!name.empty()) variables_.add(MakeVariable{name, trim(line.substr(equals + 1))});
        if (end < equals && line[equals - 1] == ':') run_now(line.substr(equals + 1));
        continue;
      }
      if (starts_with(trim(line), "$(shell ")) run_now(line);
      if (colon == string_view::npos) continue;
      string_view needs = line.substr(colon + 1);
      if (starts_with(needs, ":")) needs.remove_prefix(1);
      const std::size_t semicolon = needs.find(';');
      std::size_t recipe = next;
      if (semicolon != string_view::npos) {
        recipe = static_cast<std::size_t>(needs.data() - code_.text.data()) + semicolon + 1;
        needs = needs.substr(0, semicolon);
      }
      string_view targets = line.substr(0, colon);
      while (!targets.empty()) {
        targets = trim(targets);
        std::size_t end = 0;
        while (end < targets.size() && !is_blank(targets[end])) ++end;
        const string_view target = targets.substr(0, end);
        targets.remove_prefix(end);
        if (target.empty()) break;
        if (default_.empty() && target[0] != '.') default_ = target;
        if (rules_.add(Rule{target, needs, recipe}) == nullptr) {
          reader_.tree->add_uncertainty(Unresolved::limit, code_.origin, frame_.carrier);
          return;
        }
      }
    }
  }

  // What a line outside of recipes has a shell run as it is read.
  void run_now(string_view line) noexcept {
    if (line.find("$(shell ") == string_view::npos) return;
    Frame frame = frame_;
    frame.via |= via::kScript;
    const std::size_t from = static_cast<std::size_t>(line.data() - code_.text.data());
    read_code(reader_, Dialect::shell, Code{tree_.join(tree_.copy(": "), expand(line, {}, 0)), code_.at(from, from + line.size()), false}, frame);
  }

  void read_target(string_view target, std::uint32_t depth) noexcept {
    if (depth > 8 || read_ >= 64 || tree_.full()) {
      tree_.add_uncertainty(Unresolved::depth, code_.origin, frame_.carrier);
      return;
    }
    for (std::uint32_t i = 0; i < rules_.size(); ++i) {
      Rule& rule = rules_[i];
      if (rule.target != target) continue;
      rule.target = {};  // once is enough
      ++read_;
      string_view needs = rule.needs;
      while (!needs.empty()) {
        needs = trim(needs);
        std::size_t end = 0;
        while (end < needs.size() && !is_blank(needs[end])) ++end;
        const string_view need = needs.substr(0, end);
        needs.remove_prefix(end);
        if (need.empty()) break;
        if (need != "|" && need != target) read_target(need, depth + 1);
      }
      read_recipe(rule.recipe, target);
    }
  }

  void read_recipe(std::size_t at, string_view target) noexcept {
    bool first = true;
    while (at < code_.text.size()) {
      std::size_t next = 0;
      string_view line = line_at(at, &next);
      const bool same_line = first && at > 0 && code_.text[at - 1] == ';';
      first = false;
      if (!same_line && (line.empty() || line[0] != '\t')) {
        const string_view bare = trim(line);
        if (!bare.empty() && bare[0] != '#') return;
        if (next >= code_.text.size()) return;
        at = next;
        continue;
      }
      const std::size_t begin = at;
      at = next;
      line = trim(line);
      while (!line.empty() && holds("@-+ \t", line[0])) line.remove_prefix(1);
      if (line.empty()) continue;
      const std::size_t from = static_cast<std::size_t>(line.data() - code_.text.data());
      const Span span = code_.at(from < begin ? begin : from, from + line.size());
      const string_view text = expand(line, target, 0);
      Frame frame = frame_;
      frame.via |= via::kScript;
      read_code(reader_, Dialect::shell, Code{text, span, code_.verbatim && text.data() == line.data()}, frame);
    }
  }

  // $(NAME), ${NAME}, $@ and $$.
  string_view expand(string_view text, string_view target, std::uint32_t depth) noexcept {
    if (!holds(text, '$')) return text;
    if (depth > 8) return kUnknown;
    string_view made;
    std::size_t at = 0;
    while (at < text.size() && !tree_.full()) {
      std::size_t dollar = text.find('$', at);
      if (dollar == string_view::npos) dollar = text.size();
      made = tree_.join(made, text.substr(at, dollar - at));
      if (dollar + 1 >= text.size()) break;
      const char next = text[dollar + 1];
      at = dollar + 2;
      if (next == '$') {
        made = tree_.join(made, "$");
      } else if (next == '@') {
        made = tree_.join(made, target);
      } else if (next == '(' || next == '{') {
        const char close = next == '(' ? ')' : '}';
        int level = 1;
        std::size_t end = at;
        while (end < text.size() && level > 0) {
          if (text[end] == next) ++level;
          if (text[end] == close) --level;
          ++end;
        }
        const string_view name = text.substr(at, end > at ? end - at - 1 : 0);
        at = end;
        string_view value;
        bool found = false;
        for (std::uint32_t i = variables_.size(); i-- > 0 && !found;) {
          if (variables_[i].name == name) {
            value = variables_[i].value;
            found = true;
          }
        }
        if (found) {
          const string_view put = expand(value, target, depth + 1);
          made = tree_.join(made, put);
        } else if (starts_with(name, "shell ")) {
          made = tree_.join(tree_.join(tree_.join(made, "$("), name.substr(6)), ")");
        } else if (name == "RM") {
          made = tree_.join(made, "rm -f");
        } else if (name == "MAKE") {
          made = tree_.join(made, "make");
        } else if (name == "CURDIR" || name == "PWD") {
          made = tree_.join(made, frame_.cwd.empty() ? kUnknown : frame_.cwd);
        } else if (name == "HOME") {
          made = tree_.join(made, "$HOME");
        } else {
          made = tree_.join(made, kUnknown);
        }
      } else {
        made = tree_.join(made, kUnknown);
      }
    }
    return made;
  }

  Reader& reader_;
  Tree& tree_;
  Code code_;
  Frame frame_;
  Pool<MakeVariable, 128> variables_;
  Pool<Rule, 512> rules_;
  string_view default_;
  std::uint32_t read_ = 0;
  bool gathered_ = false;
};

inline void ShellReader::run_make(Invocation& in) noexcept {
  string_view file, directory;
  Word eval, shell;
  bool dry = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if ((text == "-C" || text == "--directory") && i + 1 < in.count) directory = text_of(in, ++i);
    else if (starts_with(text, "-C") && text.size() > 2) directory = text.substr(2);
    else if (starts_with(text, "--directory=")) directory = text.substr(12);
    else if ((text == "-f" || text == "--file" || text == "--makefile") && i + 1 < in.count) file = text_of(in, ++i);
    else if (starts_with(text, "--file=")) file = text.substr(7);
    else if (starts_with(text, "--eval=")) eval = argument(in, i), eval.text.remove_prefix(7);
    else if ((text == "--eval" || text == "-E") && i + 1 < in.count) eval = argument(in, ++i);
    else if (starts_with(text, "SHELL=") && holds(text, ' ')) shell = argument(in, i), shell.text.remove_prefix(6);
    else if (one_of(text, "-n --dry-run --just-print --recon")) dry = true;
    else if (const std::size_t equals = text.find('='); equals != string_view::npos && is_assignment(text)) read_code_variable(text.substr(0, equals), Value{text.substr(equals + 1), argument(in, i).flags}, argument(in, i).span);
  }
  if (!directory.empty()) {
    in.cwd = resolve(in.cwd, directory);
    tree_.command(in.command).cwd = in.cwd;
  }
  if (dry && eval.text.find("$(shell") == string_view::npos) return;  // what a makefile computes runs all the same
  Stream source, content;
  source.kind = Stream::file;
  source.span = in.span;
  content.kind = Stream::unknown;
  if (!shell.text.empty()) code_word(in, shell, Nested{}, Dialect::shell);
  if (!eval.text.empty()) {
    // Rules of its own: a makefile in one word.
    content.kind = Stream::known;
    content.text = eval.text;
    content.span = eval.span;
  } else if (one_of(file, "- /dev/stdin /dev/fd/0")) {
    content = in.input;
  } else if (!file.empty()) {
    source.text = file;
    content = load(source, in.cwd);
  } else {
    for (const string_view name : {"GNUmakefile", "makefile", "Makefile"}) {
      source.text = name;
      content = load(source, in.cwd);
      if (content.kind != Stream::unknown) break;
    }
  }
  if (content.kind != Stream::known) {
    // Where there is no makefile there is nothing to run.
    const bool absent = file.empty() && !in.cwd.empty() && reader_.surroundings->read_file != nullptr;
    if (content.kind != Stream::none && !absent) {
      uncertain(content.kind == Stream::remote ? Unresolved::remote_code : Unresolved::script, in.span, in.command);
    }
    return;
  }
  if (frame_.depth >= limits::kDepth || session_.level + 2 > kLevels || reader_.out_of_stack() || content.text.size() > reader_.nested_bytes) {
    uncertain(Unresolved::depth, in.span, in.command);
    return;
  }
  reader_.nested_bytes -= content.text.size();
  Frame frame = inner_frame(in, via::kScript);
  ++frame.depth;
  Node node;
  node.kind = NodeKind::code;
  node.dialect = Dialect::make;
  node.span = content.span;
  node.parent = frame.node;
  frame.node = tree_.add_node(node);
  session_.level += 2;
  MakeReader make(reader_, code_for(content.text, content.span), frame);
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    const std::size_t equals = text.find('=');
    if (is_assignment(text)) make.set(text.substr(0, equals), text.substr(equals + 1));
  }
  bool targets = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view target = text_of(in, i);
    if (one_of(target, "-C -f --directory --file --makefile -j -l -o -W -I --eval -E")) {
      if (target != "-j" || (i + 1 < in.count && to_number(text_of(in, i + 1)) >= 0)) ++i;
      continue;
    }
    if (target.empty() || target[0] == '-' || is_assignment(target)) continue;
    targets = true;
    make.read(target);
  }
  if (!targets) make.read({});
  session_.level -= 2;
}

}  // namespace tipstaff::gate::shell

namespace tipstaff::gate {

void read_make(Reader& reader, const Code& code, std::string_view target, const Frame& frame) noexcept {
  shell::MakeReader make(reader, code, frame);
  make.read(target);
}

}  // namespace tipstaff::gate
