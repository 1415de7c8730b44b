// The gate engine: one tool call in, one verdict out. No heap, no exceptions; the caller owns all memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/commands.hpp"
#include "tipstaff/gate/dialects.hpp"
#include "tipstaff/gate/flow.hpp"
#include "tipstaff/gate/image.hpp"
#include "tipstaff/gate/interpreters.hpp"
#include "tipstaff/gate/patch.hpp"
#include "tipstaff/gate/paths.hpp"
#include "tipstaff/gate/plain_commands.hpp"
#include "tipstaff/gate/powershell.hpp"
#include "tipstaff/gate/rules.hpp"
#include "tipstaff/gate/scripts.hpp"
#include "tipstaff/gate/shell.hpp"
#include "tipstaff/gate/sql.hpp"
#include "tipstaff/gate/tools.hpp"

namespace tipstaff::gate {

// What a caller may set apart from the image.
struct Settings {
  record::Config config{};
  bool unattended = false;

  Decision uncertain() const noexcept {
    return static_cast<Decision>(unattended ? config.uncertain_unattended : config.uncertain_interactive);
  }
  bool on(Gate gate) const noexcept { return (config.switches >> static_cast<std::uint32_t>(gate)) & 1; }
};

struct Event {
  std::string_view tool;  // empty: a command, in the first field
  const Field* fields = nullptr;
  std::uint32_t field_count = 0;
  Dialect dialect = Dialect::shell;  // of commands
};

namespace engine {

inline std::string_view name_of(Unresolved reason) noexcept {
  switch (reason) {
    case Unresolved::program: return "program";
    case Unresolved::code: return "code";
    case Unresolved::remote_code: return "remote-code";
    case Unresolved::script: return "script";
    case Unresolved::script_size: return "script-size";
    case Unresolved::depth: return "depth";
    case Unresolved::limit: return "limit";
    case Unresolved::syntax: return "syntax";
    case Unresolved::encoding: return "encoding";
  }
  return "limit";
}

inline std::string_view name_of(Decision decision) noexcept {
  switch (decision) {
    case Decision::warn: return "warn";
    case Decision::confirm: return "require-confirmation";
    case Decision::block: return "block";
    default: return "allow";
  }
}

class Engine {
 public:
  Engine(const Image& image, const Settings& settings, const Surroundings& surroundings, Tree& tree, FlowState* flow,
         Verdict* verdict, const rules::Trace* trace) noexcept
      : image_(image),
        settings_(settings),
        surroundings_(surroundings),
        tree_(tree),
        flow_(flow),
        verdict_(verdict),
        judging_{&image, &surroundings, &tree, verdict, settings.uncertain(), &parsed_, trace} {}

  void run(const Event& event) noexcept {
    if (event.tool.empty()) {
      if (event.field_count != 0) code(event.fields[0].text, event.dialect);
      finish();
      return;
    }
    if (settings_.on(Gate::allowlist)) allowlist(event.tool);
    if (settings_.on(Gate::destructive)) fields(event);
    if (settings_.on(Gate::diff_size)) diff_size(event);
    finish();
  }

  // Reads text of a dialect and judges what it would run.
  void code(std::string_view text, Dialect dialect) noexcept {
    if (!settings_.on(Gate::destructive)) return;
    tree_.clear();
    const Code whole{text, {0, static_cast<std::uint32_t>(text.size())}, true};
    text_ = text;
    statement_ = false;
    // Who asks how it is judged is shown the whole way.
    const bool plain = dialect == Dialect::shell && judging_.trace == nullptr && plain::read_plain(tree_, surroundings_, text);
    if (!plain) read(whole, dialect);
    judge_tree();
  }

 private:
  void read(const Code& whole, Dialect dialect) noexcept {
    Reader reader{&tree_, &surroundings_};
    Frame frame;
    frame.cwd = surroundings_.cwd;
    Node root;
    root.span = whole.origin;
    root.dialect = dialect;
    frame.node = tree_.add_node(root);
    if (whole.text.size() > kLongestText) {
      tree_.add_uncertainty(Unresolved::limit, whole.origin);
      return;
    }
    read_code(reader, dialect, whole, frame);
    statement_ = false;
    if (dialect != Dialect::shell && dialect != Dialect::powershell && dialect != Dialect::cmd) return;
    // Statements are typed as commands by people and tools that mean a database's own prompt.
    if (tools::starts_like_sql(whole.text)) {
      statement_ = true;
      // Rules tell it from what a client sends to its server by the "program" that carries it.
      if (tree_.command_count() != 0) frame.carrier = 0;
      read_code(reader, Dialect::sql, whole, frame);
      return;
    }
    if (!whole.verbatim) return;
    const std::uint32_t count = tree_.command_count();
    for (std::uint32_t i = 0; i < count; ++i) {
      const Command command = tree_.command(i);
      if (command.carrier != kNone || (command.via & ~(via::kConditional | via::kBackground)) != 0) continue;
      if (command.word_count == 0 || command.span.end > whole.text.size() || command.span.start >= command.span.end) continue;
      const std::string_view text = whole.text.substr(command.span.start, command.span.end - command.span.start);
      if (!names_statement(command.program) || !tools::starts_like_sql(text)) continue;
      Frame inner = frame;
      inner.carrier = i;
      if (command.node != kNone) inner.node = command.node;
      read_code(reader, Dialect::sql, {text, command.span, true}, inner);
    }
  }

  // Most programs are told apart by their first letter.
  static bool names_statement(std::string_view program) noexcept {
    constexpr std::uint32_t kFirst = 1u << ('d' - 'a') | 1u << ('t' - 'a') | 1u << 0 | 1u << ('u' - 'a') | 1u << ('p' - 'a');
    if (program.empty() || !ascii::is_letter(program[0]) || (kFirst >> (ascii::lower(program[0]) - 'a') & 1) == 0) return false;
    return ascii::one_of(program, "drop delete truncate alter update purge");
  }

  void judge_tree() noexcept {
    const std::uint32_t before = verdict_->marks;
    verdict_->marks = 0;
    std::uint32_t read_before = 0;
    for (std::uint32_t i = 0; i < tree_.command_count(); ++i) {
      const Command& command = tree_.command(i);
      if ((command.via & via::kDefinition) != 0) continue;
      verdict_->marks = 0;
      rules::judge_command(judging_, command, i, tree_.arguments(command), command.word_count);
      const std::uint32_t marks = verdict_->marks;
      if ((marks & mark::kSends) != 0 && ((read_before | (flow_ != nullptr ? flow_->marks : 0)) & mark::kReadsSecret) != 0) {
        say("@flow", "secret-then-send", {}, command.span, i);
      }
      if (flow_ != nullptr) runs_written(command, i, marks);
      read_before |= marks;
    }
    for (std::uint32_t i = 0; i < tree_.uncertainty_count(); ++i) {
      const Uncertainty& open = tree_.uncertainties()[i];
      if (statement_ && open.reason == Unresolved::syntax) continue;
      if (open.command != kNone && (tree_.command(open.command).via & via::kDefinition) != 0) continue;
      const std::string_view about = written_as(open);
      if (!say("@uncertain", name_of(open.reason), about, open.span, open.command)) silent(open.span, open.command);
    }
    if (tree_.full() && !say("@uncertain", "limit", {}, whole_span(), kNone)) silent(whole_span(), kNone);
    verdict_->marks = before | read_before;
  }

  // How the program that it is about is written: `$EDITOR` says more than that it is not known.
  std::string_view written_as(const Uncertainty& open) const noexcept {
    if (open.command == kNone) return {};
    const Command& command = tree_.command(open.command);
    if (open.reason != Unresolved::program) return command.program;
    const Span span = command.name.span;
    if (span.start >= span.end || span.end > text_.size()) return {};
    std::string_view name = text_.substr(span.start, span.end - span.start);
    while (name.size() > 2 && (name[0] == '"' || name[0] == '\'') && name.back() == name[0]) name = name.substr(1, name.size() - 2);
    return name;
  }

  Span whole_span() const noexcept { return tree_.node_count() != 0 ? tree_.nodes()[0].span : Span{}; }

  // Nothing in the image speaks of what could not be known: the policy does.
  void silent(Span span, std::uint32_t command) noexcept {
    if (settings_.uncertain() == Decision::allow) return;
    Finding finding;
    finding.decision = settings_.uncertain();
    finding.span = finding.focus = span;
    finding.command = command;
    finding.uncertain = true;
    verdict_->add(finding);
  }

  // Judges a pseudo command; returns whether the image has rules for its program at all.
  bool say(std::string_view program, std::string_view first, std::string_view second, Span span,
           std::uint32_t index) noexcept {
    Word words[2];
    words[0].text = first;
    words[1].text = second;
    words[0].span = words[1].span = span;
    words[0].flags = words[1].flags = word_flag::kPseudo;
    Command command;
    command.program = program;
    command.word_count = second.empty() ? 1 : 2;
    command.span = span;
    if (index != kNone) command.via = tree_.command(index).via;
    command.carrier = index;
    rules::judge_command(judging_, command, index, words, command.word_count);
    return image_.find(program) != nullptr;
  }

  // A script that an earlier call wrote: what its text would do was judged then.
  void runs_written(const Command& command, std::uint32_t index, std::uint32_t marks) noexcept {
    const auto look = [&](std::string_view path) noexcept {
      const FlowState::File* file = flow_->find(path);
      if (file != nullptr && file->decision != 0 && file->decision <= static_cast<std::uint32_t>(Decision::block))
        say("@flow", "written-then-run", name_of(static_cast<Decision>(file->decision)), command.span, index);
    };
    look(command.name.text);
    if ((marks & mark::kRunsFile) == 0) return;
    const Word* words = tree_.arguments(command);
    for (std::uint32_t i = 0; i < command.word_count && i < 8; ++i)
      if (!words[i].text.empty() && words[i].text[0] != '-') look(words[i].text);
  }

  void allowlist(std::string_view tool) noexcept {
    for (std::uint32_t i = 0; i < image_.allowlist.count; ++i)
      if (allowed(image_.text(image_.allowlist[i]), tool)) return;
    Finding finding;
    finding.gate = Gate::allowlist;
    finding.decision = Decision::block;
    verdict_->add(finding);
  }

 public:
  // `*` anywhere stands for any letters; letter case counts in tool names. Linear for the short names of tools.
  static bool allowed(std::string_view glob, std::string_view tool) noexcept {
    std::size_t g = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < tool.size()) {
      if (g < glob.size() && glob[g] == '*') {
        star = ++g;
        mark = t;
      } else if (g < glob.size() && (glob[g] == tool[t] || glob[g] == '?')) {
        ++g;
        ++t;
      } else if (star != std::string_view::npos) {
        g = star;
        t = ++mark;
      } else {
        return false;
      }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size() && !(tool.empty() && glob != "*");
  }

  // Lines that a call changes, by its own fields; patches count added and removed lines.
  static std::uint32_t changed_lines(const Event& event) noexcept {
    const ToolClass kind = tools::classify(event.tool);
    if (kind != ToolClass::write && kind != ToolClass::shell) return 0;
    std::uint64_t lines = 0;
    std::string_view former;
    for (std::uint32_t i = 0; i < event.field_count; ++i) {
      const Field& field = event.fields[i];
      if ((tools::is_patch(field.name) || tools::is_command(field.name)) && tools::looks_like_patch(field.text)) {
        lines += tools::patched_lines(field.text);
      } else if (kind == ToolClass::write && tools::is_former(field.name)) {
        if (!former.empty()) lines += tools::edited_lines(former, {});
        former = field.text;
      } else if (kind == ToolClass::write && tools::is_content(field.name)) {
        lines += tools::edited_lines(former, field.text);
        former = {};
      }
    }
    if (!former.empty()) lines += tools::edited_lines(former, {});
    return lines > 0xfffffffeu ? 0xfffffffeu : static_cast<std::uint32_t>(lines);
  }

 private:
  void diff_size(const Event& event) noexcept {
    const std::uint32_t lines = changed_lines(event);
    if (flow_ != nullptr) {
      const std::uint32_t left = 0xffffffffu - flow_->changed_lines;
      flow_->changed_lines += lines < left ? lines : left;
    }
    const bool run = flow_ != nullptr && settings_.config.run_diff_lines != 0 && lines != 0 &&
                     flow_->changed_lines > settings_.config.run_diff_lines;
    if (lines <= settings_.config.diff_lines && !run) return;
    Finding finding;
    finding.gate = Gate::diff_size;
    finding.decision = Decision::warn;
    finding.classes = lines;
    finding.uncertain = lines <= settings_.config.diff_lines;  // of the run, not of this call
    verdict_->add(finding);
  }

  void fields(const Event& event) noexcept {
    const ToolClass kind = tools::classify(event.tool);
    const std::string_view name = tools::bare_name(event.tool);
    Dialect dialect = event.dialect;
    if (ascii::one_of(name, "powershell pwsh")) dialect = Dialect::powershell;
    if (ascii::equals(name, "cmd")) dialect = Dialect::cmd;
    const bool known = kind == ToolClass::shell || kind == ToolClass::write || kind == ToolClass::read ||
                       kind == ToolClass::search || kind == ToolClass::fetch || kind == ToolClass::note;
    if (kind == ToolClass::note) return;
    if (!known || name.size() != event.tool.size()) pseudo("@tool", name, 0);
    std::uint32_t element_end = 0;
    for (std::uint32_t i = 0; i < event.field_count; ++i) {
      const Field& field = event.fields[i];
      field_ = i;
      const std::uint32_t first = verdict_->count;
      if (i >= element_end) {
        if (field.element == 0 && takes_commands(kind) && tools::is_command(field.name) && !ascii::equals(field.name, "commands")) {
          element_end = arguments(event, i, dialect);
        } else {
          one(event, kind, name, field, dialect);
        }
      }
      for (std::uint32_t f = first; f < verdict_->count; ++f) verdict_->findings[f].field = i;
    }
    if (flow_ != nullptr && kind == ToolClass::write) remember(event);
  }

  static bool takes_commands(ToolClass kind) noexcept {
    return kind == ToolClass::shell || kind == ToolClass::code || kind == ToolClass::other;
  }

  // A list of words is one command: they are read as they would be typed. Returns the first field after it.
  std::uint32_t arguments(const Event& event, std::uint32_t first, Dialect dialect) noexcept {
    std::uint32_t end = first + 1;
    while (end < event.field_count && event.fields[end].element == end - first &&
           event.fields[end].name == event.fields[first].name)
      ++end;
    if (end == first + 1) {
      code(event.fields[first].text, dialect);
      return end;
    }
    if (!settings_.on(Gate::destructive)) return end;
    tree_.clear();
    text_ = {};
    std::size_t room = 0, used = 0;
    char* out = tree_.draft(&room);
    bool whole = true;
    const auto put = [&](char letter) noexcept {
      if (used < room) out[used++] = letter;
      else whole = false;
    };
    for (std::uint32_t i = first; i < end; ++i) {
      if (i != first) put(' ');
      put('\'');
      for (char letter : event.fields[i].text) {
        if (letter == '\'') for (char quoted : std::string_view("'\\'")) put(quoted);
        put(letter);
      }
      put('\'');
    }
    if (end == first + 2 && ascii::one_of(event.fields[first].text, "apply_patch applypatch") &&
        tools::looks_like_patch(event.fields[first + 1].text)) {
      code(event.fields[first + 1].text, Dialect::patch);
      return end;
    }
    if (!whole) {
      tree_.set_full();
    } else {
      const std::string_view text = tree_.keep(used);
      read({text, {0, static_cast<std::uint32_t>(event.fields[first].text.size())}, false}, Dialect::shell);
    }
    judge_tree();
    return end;
  }

  void one(const Event& event, ToolClass kind, std::string_view name, const Field& field, Dialect dialect) noexcept {
    const std::string_view text = field.text;
    if (text.empty()) return;
    switch (kind) {
      case ToolClass::shell:
        if (tools::is_command(field.name) || ascii::one_of(field.name, "input args code keys text keystrokes")) {
          if (store(event, dialect) != Dialect::shell && tools::is_command(field.name)) return code(text, store(event, dialect));
          code(tools::looks_like_patch(text) ? text : typed(text), tools::looks_like_patch(text) ? Dialect::patch : dialect);
        }
        return;
      case ToolClass::write:
        if (tools::is_cell(field.name) && tools::has_one_verb(name, "notebook cell jupyter")) {
          cell(text);
        } else if (tools::is_path(field.name)) {
          if (views(event)) {
            pseudo("@tool-read", text, 0);
          } else if (moves(name) && tools::is_origin(field.name)) {
            pseudo("@delete", text, 0);
          } else {
            pseudo("@write", text, 0);
          }

        } else if (tools::looks_like_patch(text) &&
                   (tools::is_patch(field.name) ||
                    // Codex hands its patches on as `command`.
                    ((tools::is_content(field.name) || tools::is_command(field.name)) &&
                     ascii::one_of(name, "apply_patch applypatch patch apply_diff")))) {
          code(text, Dialect::patch);
        }
        return;
      case ToolClass::remove:
        if (tools::is_path(field.name)) pseudo("@delete", text, 0);
        return;
      case ToolClass::read:
        if (tools::is_path(field.name)) pseudo("@tool-read", text, 0);
        return;
      case ToolClass::search: return;
      case ToolClass::note: return;
      case ToolClass::fetch:
        if (ascii::one_of(field.name, "url uri urls")) pseudo("@fetch", text, 0);
        return;
      case ToolClass::code:
        if (tools::is_command(field.name) && !ascii::equals(field.name, "script")) return code(text, dialect);
        if (tools::is_sql(field.name) && tools::starts_like_sql(text)) return code(text, Dialect::sql);
        if (tools::is_code(field.name)) return code(text, language(event, name, text));
        break;
      case ToolClass::other:
        if (tools::is_sql(field.name) && tools::starts_like_sql(text)) return code(text, Dialect::sql);
        if (tools::is_command(field.name)) return code(text, dialect);
        if (ascii::one_of(field.name, "keys text input data chars keystrokes") && tools::has_one_verb(name, "keys keystrokes type terminal tmux pane stdin")) {
          return code(typed(text), dialect);
        }
        if (tools::is_code(field.name) && field.name != "input") return code(text, language(event, name, text));
        break;
    }
    if (tools::is_patch(field.name) && tools::looks_like_patch(text)) return code(text, Dialect::patch);
    if (tools::is_path(field.name)) {
      if (tools::has_one_verb(name, "delete remove unlink trash rm")) return pseudo("@delete", text, 0);
      if (tools::has_one_verb(name, "write create edit save append overwrite update put move rename upload")) {
        return pseudo("@write", text, 0);
      }
      if (tools::has_one_verb(name, "read get view open cat load download")) return pseudo("@tool-read", text, 0);
    }
    if (ascii::one_of(field.name, "url uri urls")) pseudo("@fetch", text, 0);
  }

  static bool moves(std::string_view name) noexcept { return tools::has_one_verb(name, "move rename mv"); }

  // A notebook's cell: the lines that go to a shell are judged, and the rest as it would run.
  void cell(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = text.find('\n', at);
      if (end == std::string_view::npos) end = text.size();
      std::string_view line = ascii::trim(text.substr(at, end - at));
      if (line.substr(0, 2) == "%%" && at == 0) {
        if (ascii::one_of(line.substr(2, line.find_first_of(" \n", 2) - 2), "bash sh script shell")) return code(text.substr(end), Dialect::shell);
        return;
      }
      if (!line.empty() && line[0] == '!') code(line.substr(line.find_first_not_of('!')  == std::string_view::npos ? line.size() : line.find_first_not_of('!')), Dialect::shell);
      for (const std::string_view magic : {"%sx ", "%system ", "%rm "})
        if (line.substr(0, magic.size()) == magic) code(magic == "%rm " ? line.substr(1) : line.substr(magic.size()), Dialect::shell);
      at = end + 1;
    }
  }

  // Text that is typed, without the keys that end it.
  static std::string_view typed(std::string_view text) noexcept {
    for (const std::string_view key : {"Enter", "C-m", "<Enter>", "{Enter}", "{ENTER}", "\\n", "\\r"})
      if (text.size() > key.size() && text.substr(text.size() - key.size()) == key) text.remove_suffix(key.size());
    return text;
  }

  // A server's `command` is its own language where the server is a store: mcp__redis__command.
  static Dialect store(const Event& event, Dialect otherwise) noexcept {
    if (!ascii::starts_with(event.tool, "mcp_")) return otherwise;
    const std::string_view server = event.tool.substr(0, event.tool.size() - tools::bare_name(event.tool).size());
    if (tools::has_one_verb(server, "redis valkey dragonfly")) return Dialect::redis;
    if (tools::has_one_verb(server, "mongo mongodb")) return Dialect::mongo;
    if (tools::has_one_verb(server, "postgres postgresql mysql mariadb sqlite duckdb clickhouse bigquery snowflake supabase sql")) return Dialect::sql;
    return otherwise;
  }

  static bool views(const Event& event) noexcept {
    for (std::uint32_t i = 0; i < event.field_count; ++i)
      if (event.fields[i].name == "command" && event.fields[i].text == "view") return true;
    return false;
  }

  static Dialect language(const Event& event, std::string_view tool, std::string_view text) noexcept {
    const auto named = [](std::string_view name, Dialect* out) noexcept {
      if (tools::has_one_verb(name, "python py jupyter ipython")) *out = Dialect::python;
      else if (tools::has_one_verb(name, "javascript js node typescript ts deno bun browser")) *out = Dialect::node;
      else if (tools::has_one_verb(name, "bash sh shell zsh")) *out = Dialect::shell;
      else if (tools::has_one_verb(name, "powershell pwsh")) *out = Dialect::powershell;
      else if (tools::has_one_verb(name, "ruby")) *out = Dialect::ruby;
      else if (tools::has_one_verb(name, "perl")) *out = Dialect::perl;
      else if (tools::has_one_verb(name, "php")) *out = Dialect::php;
      else if (tools::has_one_verb(name, "sql postgres mysql sqlite database")) *out = Dialect::sql;
      else return false;
      return true;
    };
    Dialect found = Dialect::python;
    for (std::uint32_t i = 0; i < event.field_count; ++i)
      if (ascii::one_of(event.fields[i].name, "language lang runtime kernel interpreter") && named(event.fields[i].text, &found)) return found;
    if (named(tool, &found)) return found;
    if (text.substr(0, 2) == "#!") return text.substr(0, text.find('\n')).find("sh") != std::string_view::npos ? Dialect::shell : found;
    return text.find("require(") != std::string_view::npos || text.find("=>") != std::string_view::npos ? Dialect::node : found;
  }

  // Judges a command that a tool stands for.
  void pseudo(std::string_view program, std::string_view argument, std::uint16_t flags) noexcept {
    tree_.clear();
    Node root;
    root.span = {0, static_cast<std::uint32_t>(argument.size())};
    tree_.add_node(root);
    Word word;
    word.text = program != "@fetch" && ascii::starts_with(argument, "file://") ? argument.substr(7) : argument;
    word.span = root.span;
    word.flags = static_cast<std::uint16_t>(flags | word_flag::kPseudo | word_flag::kQuoted);
    Command command;
    command.program = program;
    command.name.text = program;
    command.first_word = tree_.add_word(word);
    command.word_count = 1;
    command.cwd = surroundings_.cwd;
    command.span = root.span;
    if (command.first_word == kNone) return;
    tree_.add_command(command);
    judge_tree();
  }

  // Keeps what a written script would do, for when it is run. The tree is free again by now.
  void remember(const Event& event) noexcept {
    std::string_view path, text;
    for (std::uint32_t i = 0; i < event.field_count; ++i) {
      if (path.empty() && tools::is_path(event.fields[i].name)) path = event.fields[i].text;
      if (tools::is_content(event.fields[i].name) && event.fields[i].text.size() > text.size()) text = event.fields[i].text;
    }
    if (path.empty() || text.empty()) return;
    Dialect dialect = Dialect::prose;
    if (ascii::ends_with(path, ".sh") || ascii::ends_with(path, ".bash") || ascii::ends_with(path, ".zsh")) dialect = Dialect::shell;
    else if (ascii::ends_with(path, ".py")) dialect = Dialect::python;
    else if (ascii::ends_with(path, ".js") || ascii::ends_with(path, ".mjs") || ascii::ends_with(path, ".cjs") || ascii::ends_with(path, ".ts")) dialect = Dialect::node;
    else if (ascii::ends_with(path, ".rb")) dialect = Dialect::ruby;
    else if (ascii::ends_with(path, ".pl")) dialect = Dialect::perl;
    else if (ascii::ends_with(path, ".ps1")) dialect = Dialect::powershell;
    else if (ascii::ends_with(path, ".bat") || ascii::ends_with(path, ".cmd")) dialect = Dialect::cmd;
    else if (ascii::ends_with(path, ".sql")) dialect = Dialect::sql;
    else if (text.substr(0, 2) == "#!") {
      const std::string_view line = text.substr(0, text.find('\n'));
      dialect = line.find("python") != std::string_view::npos ? Dialect::python
                : line.find("node") != std::string_view::npos ? Dialect::node
                : line.find("perl") != std::string_view::npos ? Dialect::perl
                : line.find("ruby") != std::string_view::npos ? Dialect::ruby
                                                              : Dialect::shell;
    }
    if (dialect == Dialect::prose) return;
    Verdict* const own = verdict_;
    FlowState* const flow = flow_;
    Verdict aside;
    verdict_ = judging_.verdict = &aside;
    flow_ = nullptr;
    code(text, dialect);
    verdict_ = judging_.verdict = own;
    flow_ = flow;
    flow_->remember(path, aside.decision);
  }

  void finish() noexcept {
    if (flow_ != nullptr) flow_->marks |= verdict_->marks;
  }

  static constexpr std::size_t kLongestText = std::size_t{1} << 30;

  const Image& image_;
  const Settings& settings_;
  const Surroundings& surroundings_;
  Tree& tree_;
  FlowState* flow_;
  Verdict* verdict_;
  std::string_view text_;   // the text that spans speak of, where it is read as it stands
  bool statement_ = false;  // the whole text is SQL: it need not be complete as shell code
  std::uint32_t field_ = 0;
  rules::Parsed parsed_;
  rules::Judging judging_;
};

}  // namespace engine

// Judges one event. `tree` is room to work in, and holds what was read last; `flow` and `trace` may be null.
inline void evaluate(const Image& image, const Settings& settings, const Event& event, const Surroundings& surroundings,
                     Tree& tree, FlowState* flow, Verdict* verdict, const rules::Trace* trace = nullptr) noexcept {
  verdict->clear();
  engine::Engine(image, settings, surroundings, tree, flow, verdict, trace).run(event);
}

}  // namespace tipstaff::gate
