// The gate engine: one tool call in, one verdict out. No heap, no exceptions; the caller owns all memory.
#include "tipstaff/gate/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/judging/command_judge.hpp"
#include "tipstaff/gate/flow.hpp"
#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/tool_commands.hpp"
#include "tipstaff/gate/tool_edits.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/tool_languages.hpp"
#include "tipstaff/gate/tree/patterns.hpp"

namespace tipstaff::gate {

// `*` anywhere stands for any letters; letter case counts in tool names. Linear for the short names of tools.
bool tool_allowed(std::string_view glob, std::string_view tool) noexcept {
  if (tool.empty()) return glob == "*";
  return matches_stars(glob, tool, [glob](std::size_t at, char letter, std::size_t*) noexcept {
    return glob[at] == '?' || glob[at] == letter;
  });
}

namespace engine {
namespace {

// Judges the fields of a tool call: what each of them means is recognised by its name and the tool's.
class Engine : private CommandJudge {
 public:
  using CommandJudge::CommandJudge;

  void run(const Event& event) noexcept {
    if (event.tool.empty()) {
      if (event.field_count != 0) code(event.fields[0].text, event.dialect);
      if (effects_ != nullptr) effects_->found_in(0);
      finish();
      return;
    }
    if (settings_.on(Gate::allowlist)) allowlist(event.tool);
    const ToolClass kind = tools::classify(event.tool);
    if (settings_.on(Gate::destructive)) fields(event, kind);
    if (settings_.on(Gate::diff_size) && (kind == ToolClass::write || kind == ToolClass::shell)) diff_size(event, kind);
    finish();
  }

 private:
  void allowlist(std::string_view tool) noexcept {
    for (std::uint32_t i = 0; i < image_.allowlist.count; ++i)
      if (tool_allowed(image_.text(image_.allowlist[i]), tool)) return;
    Finding finding;
    finding.gate = Gate::allowlist;
    finding.decision = Decision::block;
    verdict_->add(finding);
  }

  void diff_size(const Event& event, ToolClass kind) noexcept {
    const std::uint32_t lines = tools::changed_lines(event, kind);
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

  void fields(const Event& event, ToolClass kind) noexcept {
    const std::string_view name = tools::bare_name(event.tool);
    Dialect dialect = event.dialect;
    if (ascii::one_of(name, "powershell pwsh")) dialect = Dialect::powershell;
    if (ascii::equals(name, "cmd")) dialect = Dialect::cmd;
    const bool known = kind == ToolClass::shell || kind == ToolClass::write || kind == ToolClass::read ||
                       kind == ToolClass::search || kind == ToolClass::fetch || kind == ToolClass::note;
    if (kind == ToolClass::note) return;
    if (!known || name.size() != event.tool.size() || moves(name)) {
      char words[256];
      const std::size_t size = tools::words_of_name(name, words, sizeof words);
      if (size != 0 && !(kind == ToolClass::remove && names_path(event))) pseudo("@tool", {words, size});
      if (kind != ToolClass::read && kind != ToolClass::search && kind != ToolClass::fetch) amounts_to(event, dialect);
      found_in(event.field_count, 0);  // of no field
    }
    std::uint32_t element_end = 0;
    for (std::uint32_t i = 0; i < event.field_count; ++i) {
      const Field& field = event.fields[i];
      const std::uint32_t first = verdict_->count;
      if (i >= element_end) {
        const std::uint32_t words = takes_commands(kind) ? given_words(event, i) : kNothing;
        if (words != kNothing) {
          arguments(event, words, dialect, &field);
        } else if (field.element == 0 && takes_commands(kind) && tools::is_command(field.name) && !ascii::equals(field.name, "commands")) {
          element_end = arguments(event, i, dialect);
        } else {
          one(event, kind, name, field, dialect);
        }
      }
      found_in(i, first);
    }
    if (kind == ToolClass::write) started(event);
    if (flow_ != nullptr && kind == ToolClass::write) remember(event);
  }

  // Notes in which field the findings from `first` on are.
  void found_in(std::uint32_t field, std::uint32_t first) noexcept {
    for (std::uint32_t f = first; f < verdict_->count; ++f) verdict_->findings[f].field = field;
    if (effects_ != nullptr) effects_->found_in(field);
  }

  // Whether what a tool deletes is a path of this machine, judged as one.
  static bool names_path(const Event& event) noexcept {
    for (std::uint32_t i = 0; i < event.field_count; ++i)
      if (tools::is_path(event.fields[i].name)) return true;
    return false;
  }

  // Judges the command that a tool is named after.
  void amounts_to(const Event& event, Dialect dialect) noexcept {
    if (!settings_.on(Gate::destructive) || dialect != Dialect::shell) return;
    tree_.clear();
    text_ = {};
    std::size_t room = 0, used = 0;
    char* out = tree_.draft(&room);
    const auto put = [&](std::string_view piece) noexcept {
      for (const char letter : piece)
        if (used < room) out[used++] = letter;
    };
    if (!tools::write_command(event, put) || used == room) return;
    const std::string_view text = tree_.keep(used);
    read({text, {0, 0}, false}, Dialect::shell);
    guards_ = false;
    judge_tree();
  }

  static bool takes_commands(ToolClass kind) noexcept {
    return kind == ToolClass::shell || kind == ToolClass::code || kind == ToolClass::other;
  }

  // Where the list of words begins that a tool gives to the program of another field; kNothing where that is none.
  static std::uint32_t given_words(const Event& event, std::uint32_t program) noexcept {
    const Field& field = event.fields[program];
    if (field.element != 0xffffffffu || field.text.empty() || field.text.find_first_of(" \t\n") != std::string_view::npos) return kNothing;
    if (!tools::is_command(field.name) && !ascii::one_of(field.name, "program executable binary exe executable_path program_path")) return kNothing;
    for (std::uint32_t i = 0; i < event.field_count; ++i)
      if (event.fields[i].element == 0 && ascii::one_of(event.fields[i].name, "args arguments argv parameters params")) return i;
    return kNothing;
  }

  // A list of words is one command: they are read as they would be typed. Returns the first field after it. `program`: what
  // they are given to, where another field names it.
  std::uint32_t arguments(const Event& event, std::uint32_t first, Dialect dialect, const Field* program = nullptr) noexcept {
    std::uint32_t end = first + 1;
    while (end < event.field_count && event.fields[end].element == end - first &&
           event.fields[end].name == event.fields[first].name)
      ++end;
    if (end == first + 1 && program == nullptr) {
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
    for (const char letter : program != nullptr ? program->text : std::string_view{}) put(letter);
    for (std::uint32_t i = first; i < end; ++i) {
      if (used != 0) put(' ');
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
    guards_ = true;
    judge_tree();
    return end;
  }

  void one(const Event& event, ToolClass kind, std::string_view name, const Field& field, Dialect dialect) noexcept {
    const std::string_view text = field.text;
    if (text.empty()) return;
    switch (kind) {
      case ToolClass::shell:
        if (tools::is_command(field.name) || ascii::one_of(field.name, "input args code keys text keystrokes")) {
          const Dialect server = languages::of_server(event, dialect);
          if (server != Dialect::shell && tools::is_command(field.name)) return code(text, server);
          if (tools::looks_like_patch(text)) return code(text, Dialect::patch);
          code(languages::typed(text), dialect);
        }
        return;
      case ToolClass::write:
        if (tools::is_cell(field.name) && tools::has_one_verb(name, "notebook cell jupyter")) {
          cell(text);
        } else if (tools::is_path(field.name)) {
          if (views(event)) {
            pseudo("@tool-read", text);
          } else if (moves(name) && tools::is_origin(field.name)) {
            pseudo("@delete", text);
          } else {
            pseudo("@write", text);
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
        if (tools::is_path(field.name)) pseudo("@delete", text);
        return;
      case ToolClass::read:
        if (tools::is_path(field.name)) pseudo("@tool-read", text);
        return;
      case ToolClass::search:
        if (tools::is_path(field.name) || (field.text.find('/') != std::string_view::npos && ascii::equals(field.name, "pattern"))) {
          pseudo(tools::lists_names(name) ? "@tool-list" : "@tool-search", text);
        }
        return;
      case ToolClass::note: return;
      case ToolClass::fetch:
        if (ascii::one_of(field.name, "url uri urls")) pseudo("@fetch", text);
        return;
      case ToolClass::code:
        if (tools::is_command(field.name) && !ascii::equals(field.name, "script")) return code(text, dialect);
        if (tools::holds_statement(field.name, text)) return code(text, Dialect::sql);
        if (tools::is_code(field.name)) {
          code(text, languages::of_code(event, name, text));
          if (calls_for_answer(text)) pseudo("@answers", "script");
          return;
        }
        break;
      case ToolClass::other:
        if (tools::holds_statement(field.name, text)) return code(text, Dialect::sql);
        if (tools::is_command(field.name)) return code(text, dialect);
        if (ascii::one_of(field.name, "keys text input data chars keystrokes") && tools::has_one_verb(name, "keys keystrokes type terminal tmux pane stdin")) {
          return code(languages::typed(text), dialect);
        }
        if (tools::is_code(field.name) && field.name != "input") return code(text, languages::of_code(event, name, text));
        break;
    }
    if (tools::is_patch(field.name) && tools::looks_like_patch(text)) return code(text, Dialect::patch);
    if (tools::is_path(field.name)) {
      if (tools::has_one_verb(name, "delete remove unlink trash rm")) return pseudo("@delete", text);
      if (tools::has_one_verb(name, "write create edit save append overwrite update put move rename upload checkout restore revert")) {
        return pseudo("@write", text);
      }
      if (tools::has_one_verb(name, "read get view open cat load download")) return pseudo("@tool-read", text);
    }
    if (ascii::one_of(field.name, "url uri urls")) pseudo("@fetch", text);
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
      const std::size_t after = line.find_first_not_of('!');
      if (after != 0 && after != std::string_view::npos) code(line.substr(after), Dialect::shell);
      for (const std::string_view magic : {"%sx ", "%system ", "%rm "})
        if (line.substr(0, magic.size()) == magic) code(magic == "%rm " ? line.substr(1) : line.substr(magic.size()), Dialect::shell);
      at = end + 1;
    }
  }

  static bool views(const Event& event) noexcept {
    for (std::uint32_t i = 0; i < event.field_count; ++i)
      if (event.fields[i].name == "command" && event.fields[i].text == "view") return true;
    return false;
  }

  // Judges a command that a tool stands for.
  void pseudo(std::string_view program, std::string_view argument) noexcept {
    tree_.clear();
    Node root;
    root.span = {0, static_cast<std::uint32_t>(argument.size())};
    tree_.add_node(root);
    Word word;
    word.text = program != "@fetch" && ascii::starts_with(argument, "file://") ? argument.substr(7) : argument;
    word.span = root.span;
    word.flags = word_flag::kPseudo | word_flag::kQuoted;
    Command command;
    command.program = program;
    command.name.text = program;
    command.first_word = tree_.add_word(word);
    command.word_count = 1;
    command.cwd = surroundings_.cwd;
    command.span = root.span;
    if (command.first_word == kNone) return;
    tree_.add_command(command);
    guards_ = guarded_.may_be_in(argument);
    judge_tree();
  }

  // Judges what a written start-up file would run.
  void started(const Event& event) noexcept {
    std::string_view path;
    for (std::uint32_t i = 0; i < event.field_count && path.empty(); ++i)
      if (tools::is_path(event.fields[i].name)) path = event.fields[i].text;
    if (path.empty() || !is_started_file(path)) return;
    for (std::uint32_t i = 0; i < event.field_count; ++i) {
      if (!tools::is_content(event.fields[i].name) || event.fields[i].text.empty()) continue;
      const std::uint32_t first = verdict_->count;
      const std::string_view text = event.fields[i].text;
      tree_.clear();
      text_ = text;
      Reader reader{&tree_, &surroundings_};
      Frame frame;
      frame.cwd = surroundings_.home;
      Node root;
      root.span = {0, static_cast<std::uint32_t>(text.size())};
      frame.node = tree_.add_node(root);
      read_started_file(reader, path, {text, root.span, true}, frame);
      guards_ = true;
      undo::Effects* const effects = effects_;
      effects_ = nullptr;  // it does not run now
      judge_tree();
      effects_ = effects;
      found_in(i, first);
    }
  }

  // Keeps what a written script would do, for when it is run. The tree is free again by now.
  void remember(const Event& event) noexcept {
    std::string_view path, text;
    for (std::uint32_t i = 0; i < event.field_count; ++i) {
      if (path.empty() && tools::is_path(event.fields[i].name)) path = event.fields[i].text;
      if (tools::is_content(event.fields[i].name) && event.fields[i].text.size() > text.size()) text = event.fields[i].text;
    }
    if (path.empty() || text.empty()) return;
    const Dialect dialect = languages::of_script(path, text);
    if (dialect == Dialect::prose) return;
    Verdict* const own = verdict_;
    FlowState* const flow = flow_;
    Verdict aside;
    undo::Effects* const effects = effects_;
    effects_ = nullptr;  // it does not run now
    verdict_ = judging_.verdict = &aside;
    flow_ = nullptr;
    judging_.followed = false;
    code(text, dialect);
    effects_ = effects;
    verdict_ = judging_.verdict = own;
    judging_.followed = true;
    flow_ = flow;
    flow_->remember(path, aside.decision);
  }

  void finish() noexcept {
    if (flow_ != nullptr) flow_->marks |= verdict_->marks;
  }
};

}  // namespace
}  // namespace engine

void evaluate(const Image& image, const Settings& settings, const Event& event, const Surroundings& surroundings, Tree& tree,
              FlowState* flow, Verdict* verdict, const rules::Trace* trace, undo::Effects* effects) noexcept {
  verdict->clear();
  engine::Engine(image, settings, surroundings, tree, flow, verdict, trace, effects).run(event);
}

void decide(const Image& image, const Settings& settings, const Surroundings& surroundings, Dialect dialect,
            const std::string_view* commands, std::size_t count, Tree& tree, unsigned char* decisions) noexcept {
  Verdict verdict;
  engine::Engine judge(image, settings, surroundings, tree, nullptr, &verdict, nullptr);
  Field field;
  Event event;
  event.fields = &field;
  event.field_count = 1;
  event.dialect = dialect;
  for (std::size_t i = 0; i < count; ++i) {
    field.text = commands[i];
    verdict.clear();
    judge.run(event);
    decisions[i] = static_cast<unsigned char>(verdict.decision);
  }
}

std::uint32_t changed_lines(const Event& event) noexcept { return tools::changed_lines(event, tools::classify(event.tool)); }

}  // namespace tipstaff::gate
