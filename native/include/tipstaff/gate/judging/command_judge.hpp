// Reads code, and judges what it would run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/flow.hpp"
#include "tipstaff/gate/judging/placeholders.hpp"
#include "tipstaff/gate/proof.hpp"
#include "tipstaff/gate/judging/hidden_registrations.hpp"
#include "tipstaff/gate/judging/typed_input.hpp"
#include "tipstaff/gate/judging/typed_windows.hpp"
#include "tipstaff/gate/links.hpp"
#include "tipstaff/gate/paths/classes.hpp"
#include "tipstaff/gate/paths/guarded.hpp"
#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/trial.hpp"
#include "tipstaff/gate/shell/short/commands.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/dialects.hpp"
#include "tipstaff/gate/tree/reading.hpp"
#include "tipstaff/gate/tree/tree.hpp"
#include "tipstaff/undo/effects.hpp"

namespace tipstaff::gate {

namespace engine {

// Judges the code of one event. No heap, no exceptions; the caller owns all memory.
class CommandJudge {
 public:
  CommandJudge(const Image& image, const Settings& settings, const Surroundings& surroundings, Tree& tree, FlowState* flow,
               Verdict* verdict, const rules::Trace* trace, undo::Effects* effects = nullptr) noexcept
      : image_(image),
        settings_(settings),
        surroundings_(surroundings),
        tree_(tree),
        flow_(flow),
        verdict_(verdict),
        effects_(effects),
        paths_(surroundings),
        guarded_(paths_),
        registrations_(surroundings, tree, guarded_),
        links_(paths_, tree),
        judging_{&image, &paths_, &tree, verdict, settings.uncertain(), &parsed_, flow != nullptr, trace} {}

  // Reads text of a dialect and judges what it would run.
  void code(std::string_view text, Dialect dialect) noexcept {
    if (!settings_.on(Gate::destructive)) return;
    tree_.clear();
    text_ = text;
    statement_ = false;
    // Who asks how it is judged is shown the whole way.
    guards_ = guarded_.may_be_in(text);
    if (dialect == Dialect::shell && judging_.trace == nullptr && effects_ == nullptr && judge_plain(text)) return;
    read({text, {0, static_cast<std::uint32_t>(text.size())}, true}, dialect);
    judge_tree();
  }

 protected:
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
    if (dialect == Dialect::shell) read_typed_windows(reader, whole, frame);
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

  // `plain`: what the tree was built of, if it was; `quiet`: its commands of which no rule holds, as bits.
  void judge_tree(plain::PlainReader* plain = nullptr, std::uint32_t quiet = 0) noexcept {
    judging_.text = text_;
    const std::uint32_t before = verdict_->marks;
    verdict_->marks = 0;
    std::uint32_t read_before = 0;
    bool lost = false;  // something is changed after more links than are remembered
    links_.clear();
    for (std::uint32_t i = 0; i < tree_.command_count(); ++i) {
      const Command& command = tree_.command(i);
      if ((command.via & via::kDefinition) != 0) continue;
      verdict_->marks = 0;
      if (plain == nullptr || (quiet >> i & 1) == 0)
        rules::judge_command(judging_, command, i, tree_.arguments(command), command.word_count,
                             plain != nullptr ? plain->begin()[i].spec : nullptr);
      if (guards_) guard(command, i);
      if (links_.any()) through_links(command, i);
      lost = lost || (links_.too_many() && ascii::one_of(command.program, "rm find rsync shred chmod chown mv dd truncate tee @delete @write"));
      if (i + 1 < tree_.command_count() && MadeLinks::may_make(command.program)) links_.remember(command, tree_.arguments(command));
      const std::uint32_t marks = verdict_->marks;
      if ((marks & mark::kSends) != 0 && ((read_before | (flow_ != nullptr ? flow_->marks : 0)) & mark::kReadsSecret) != 0) {
        say("@flow", "secret-then-send", {}, command.span, i);
      }
      if (flow_ != nullptr) runs_written(command, i, marks);
      read_before |= marks;
    }
    for (std::uint32_t i = 0; i < tree_.uncertainty_count(); ++i) {
      const Uncertainty& open = tree_.uncertainties()[i];
      if (open.settled || (statement_ && open.reason == Unresolved::syntax)) continue;
      if (open.reason == Unresolved::syntax && ends_in_placeholder(text_, open.span)) continue;
      if (open.command != kNone && (tree_.command(open.command).via & via::kDefinition) != 0) continue;
      const std::string_view about = written_as(open);
      if (!say("@uncertain", name_of(open.reason), about, open.span, open.command)) silent(open.span, open.command);
      if (open.reason == Unresolved::script && open.command != kNone) unread_script(open);
    }
    if ((tree_.full() || lost) && !say("@uncertain", "limit", {}, whole_span(), kNone)) silent(whole_span(), kNone);
    verdict_->marks = before | read_before;
    if (effects_ == nullptr) return;
    effects_->take(tree_, text_);
    if (effects_->proof != nullptr) effects_->proof->take(tree_, text_);
  }

 private:
  // Judges a text that is plain; false where it is not.
  bool judge_plain(std::string_view text) noexcept {
    plain::PlainReader plain(tree_, surroundings_, text);
    if (!plain.read()) return false;
    if (links_before_other(plain)) {
      tree_.clear();
      return false;
    }
    const std::uint32_t quiet = quiet_of(plain);
    return (quiet == plain.all() && !guards_) || judge_built(plain, quiet);
  }

  // cp -s, cp -al, mount --bind
  static bool makes_links(const Outline& outline) noexcept {
    for (std::uint32_t i = 0; i < outline.count; ++i) {
      const std::string_view text = outline.words[i].text;
      if (text.size() > 1 && text[0] == '-' && text.find_first_of("slBbo") != std::string_view::npos) return true;
    }
    return false;
  }
  // Whether a command makes links, and others follow: they are read the whole way.
  static bool links_before_other(plain::PlainReader& plain) noexcept {
    bool before = false;
    for (plain::Simple& simple : plain) {
      if (before) return true;
      before = MadeLinks::may_make(simple.called.name) && (simple.called.name[0] == 'l' || makes_links(simple.outline));
    }
    return false;
  }

  // The commands of which no rule holds, and that are none of what an earlier call wrote, as bits.
  // Most texts need this and no more: calls within it would cost as much as what they do.
  [[gnu::flatten]] std::uint32_t quiet_of(plain::PlainReader& plain) const noexcept {
    const std::uint32_t followed = flow_ != nullptr ? fact::kFollowed : 0;
    std::uint32_t quiet = 0, bit = 1;
    for (plain::Simple& simple : plain) {
      const bool written = flow_ != nullptr && flow_->find(simple.program().text) != nullptr;
      simple.spec = image_.find_any(simple.called.name, simple.called.hash);
      if (!written && rules::none_holds(image_, simple.spec, simple.outline, followed)) quiet |= bit;
      bit <<= 1;
    }
    return quiet;
  }

  // Judges the commands that are not quiet; false where there is no room for a tree of them.
  [[gnu::noinline]] bool judge_built(plain::PlainReader& plain, std::uint32_t quiet) noexcept {
    if (!plain.build(false)) {
      tree_.clear();
      return false;
    }
    judge_tree(&plain, quiet);
    return true;
  }

  static constexpr std::size_t kLongestText = std::size_t{1} << 30;

  // Most programs are distinguished by their first letter.
  static bool names_statement(std::string_view program) noexcept {
    constexpr std::uint32_t kFirst = 1u << ('d' - 'a') | 1u << ('t' - 'a') | 1u << 0 | 1u << ('u' - 'a') | 1u << ('p' - 'a');
    if (program.empty() || !ascii::is_letter(program[0]) || (kFirst >> (ascii::lower(program[0]) - 'a') & 1) == 0) return false;
    return ascii::one_of(program, "drop delete truncate alter update purge");
  }

  // How the program that it is about is written: `$EDITOR` says more than that it is not known.
  std::string_view written_as(const Uncertainty& open) const noexcept {
    if (open.command == kNone) return {};
    const Command& command = tree_.command(open.command);
    if (open.reason != Unresolved::program && open.reason != Unresolved::flag && open.reason != Unresolved::environment) return command.program;
    const Span span = command.name.span;
    if (span.start >= span.end || span.end > text_.size()) return {};
    std::string_view name = unquoted(text_.substr(span.start, span.end - span.start));
    // ${CROSS}${CC}: the last variable names the program.
    if (const std::size_t last = name.rfind("}${"); last != std::string_view::npos && name[0] == '$') name.remove_prefix(last + 1);
    return name;
  }

  // Judges a script that could not be read by its name: `@script NAME PROGRAM PATH WORDS...`.
  void unread_script(const Uncertainty& open) noexcept {
    if (open.span.start >= open.span.end || open.span.end > text_.size()) return;
    const std::string_view written = text_.substr(open.span.start, open.span.end - open.span.start), path = unquoted(written);
    if (path.size() == written.size() && written.find_first_of(" \n") != std::string_view::npos) return;  // a whole command
    touch("@script", path.substr(path.find_last_of("/\\") + 1), tree_.command(open.command), path, open.command);
  }

  static std::string_view unquoted(std::string_view text) noexcept {
    while (text.size() > 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) text = text.substr(1, text.size() - 2);
    return text;
  }

  Span whole_span() const noexcept { return tree_.node_count() != 0 ? tree_.nodes()[0].span : Span{}; }

  // Nothing in the image is about what could not be known: the policy does.
  void silent(Span span, std::uint32_t command) noexcept {
    if (settings_.uncertain() == Decision::allow) return;
    Finding finding;
    finding.decision = settings_.uncertain();
    finding.span = finding.focus = span;
    finding.command = command;
    finding.uncertain = true;
    verdict_->add(finding);
  }

  // Judges a command again for each word below a link, with the link's target in its place.
  [[gnu::noinline]] void through_links(const Command& command, std::uint32_t index) noexcept {
    if (MadeLinks::makes(command.program)) return;
    const Word* const words = tree_.arguments(command);
    const std::uint32_t count = command.word_count < kLinkedWords ? command.word_count : kLinkedWords;
    std::uint32_t judged = 0;
    Word led;
    for (std::uint32_t i = 0; i < command.word_count && i < kGuardedWords && judged < 4; ++i) {
      if (!links_.follow(command, words[i], &led)) continue;
      ++judged;
      Word copy[kLinkedWords];
      for (std::uint32_t k = 0; k < count; ++k) copy[k] = words[k];
      copy[i < count ? i : count - 1] = led;
      rules::judge_command(judging_, command, index, copy, count);
    }
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

  // Judges what of a command leads to the gate itself. `cp SOURCE... FOLDER` says nothing of the folder that it fills.
  void guard(const Command& command, std::uint32_t index) noexcept {
    const Word* const words = tree_.arguments(command);
    Guarded worst = Guarded::none;
    std::string_view path;
    for (std::uint32_t i = 0; i < command.word_count && i < kGuardedWords; ++i) {
      const Word& word = words[i];
      if (is_left_out(command, words, i)) continue;
      Guarded found = guarded_.find(command, word);
      if (found == Guarded::none && word.has(word_flag::kUnknown) && names_state(word.span)) found = Guarded::state;
      const bool above = found == Guarded::holds_state || found == Guarded::holds_program;
      if (above && i + 1 == command.word_count && i != 0 && ascii::one_of(command.program, "cp mv ln install rsync scp gcp")) continue;
      if (found <= worst) continue;
      worst = found;
      path = word.text;
    }
    if (worst < Guarded::state && !command.cwd.empty()) {
      if (const Guarded folder = guarded_.of_folder(command.cwd); folder > worst) worst = folder, path = command.cwd;
    }
    if (worst != Guarded::none) touch("@gate", name_of(worst), command, path, index);
    if (const Guarded filled = guarded_.filled(command, words); filled != Guarded::none) touch("@gate", "replaces", command, name_of(filled), index);
    if (answers(command, words)) touch("@answers", {}, command, {}, index);
    if (surroundings_.typed_later && waits_for_input(command, words, text_)) touch("@gate", "typed-later", command, {}, index);
    if (registrations_.left_out(command, words)) touch("@gate", "hides-registration", command, {}, index);
    if ((surroundings_.stash_takes_changed || surroundings_.stash_takes_untracked) && registrations_.stashed(command, words, index))
      touch("@gate", "stashes-registration", command, {}, index);
  }

  // git clean -fdx -e .claude, rsync --exclude .claude: what a word names stays as it is.
  static bool is_left_out(const Command& command, const Word* words, std::uint32_t i) noexcept {
    const bool cleans = command.program == "git" && words[0].text == "clean";
    if (!cleans && !ascii::one_of(command.program, "rsync tar")) return false;
    const std::string_view text = words[i].text, before = i != 0 ? words[i - 1].text : std::string_view();
    return text.substr(0, 10) == "--exclude=" || before == "--exclude" || (cleans && (before == "-e" || (text.size() > 2 && text.substr(0, 2) == "-e")));
  }

  // $TIPSTAFF_STATE/key
  bool names_state(Span span) const noexcept {
    if (span.start >= span.end || span.end > text_.size()) return false;
    const std::string_view text = text_.substr(span.start, span.end - span.start);
    return text.find("TIPSTAFF_STATE") != std::string_view::npos;
  }

  static bool answers(const Command& command, const Word* words) noexcept {
    bool named = command.program == "tipstaff";
    for (std::uint32_t i = 0; i < command.word_count && i < kGuardedWords; ++i) {
      const std::string_view text = words[i].text;
      if (named && ascii::one_of(text, "approve uninstall accept")) return true;
      if (text.find("tipstaff") == std::string_view::npos) continue;
      named = true;
      if (calls_for_answer(text)) return true;
    }
    return command.has_input && calls_for_answer(command.input.text);
  }

  // Judges the pseudo command PROGRAM KIND NAME PATH WORDS...; without a kind, PROGRAM NAME WORDS...
  void touch(std::string_view program, std::string_view kind, const Command& about, std::string_view path, std::uint32_t index) noexcept {
    Word words[3 + kReportedWords];
    std::uint32_t count = 0;
    const auto put = [&](std::string_view text) noexcept {
      words[count].text = text;
      words[count].span = about.span;
      words[count++].flags = word_flag::kPseudo;
    };
    if (!kind.empty()) put(kind);
    // Without the @ of made-up programs, which is that of word sets in rules.
    put(about.program.empty() ? std::string_view("unknown") : about.program[0] == '@' ? about.program.substr(1) : about.program);
    if (!kind.empty()) put(path);
    for (std::uint32_t i = 0; i < about.word_count && i < kReportedWords; ++i) put(tree_.arguments(about)[i].text);
    Command command;
    command.program = program;
    command.word_count = count;
    command.span = about.span;
    command.via = about.via;
    command.carrier = about.carrier;
    command.pipe_from = about.pipe_from;
    command.pipe_to = about.pipe_to;
    rules::judge_command(judging_, command, index, words, count);
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

 protected:
  const Image& image_;
  const Settings& settings_;
  const Surroundings& surroundings_;
  Tree& tree_;
  FlowState* flow_;
  Verdict* verdict_;
  undo::Effects* effects_;  // what the call would do to files is added to it; null: nobody asks
  std::string_view text_;   // the text that spans are about, where it is read as it is
  bool statement_ = false;  // the whole text is SQL: it need not be complete as shell code
  rules::Parsed parsed_;
  KnownPaths paths_;
  GuardedPaths guarded_;
  HiddenRegistrations registrations_;
  MadeLinks links_;         // that the text made so far
  bool guards_ = false;     // whether the text may lead to what is guarded
  rules::Judging judging_;

 private:
  static constexpr std::uint32_t kGuardedWords = 512, kReportedWords = 24, kLinkedWords = 48;
};

}  // namespace engine

}  // namespace tipstaff::gate
