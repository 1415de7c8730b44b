// Reads patches: the envelopes that an editing tool takes (*** Begin Patch ... *** End Patch), unified diffs and git's.
//
// What they do comes out as @write PATH and @delete PATH, once for each file; a rename deletes one name and writes the
// other. The lines of a hunk are data, whatever they look like.
#include "tipstaff/gate/patch/patch.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/patch/former.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/tree/command_writer.hpp"
#include "tipstaff/gate/tree/dialects.hpp"

namespace tipstaff::gate {

namespace {
namespace patch {

class Patch {
 public:
  // Without a reader only the summary is made.
  Patch(Reader* reader, const Code& code, const Frame* frame) noexcept : reader_(reader), code_(code), frame_(frame), text_(code.text) {}

  PatchSummary read() noexcept {
    bool any = false;
    while (next_line()) {
      if (starts("*** Begin Patch") || starts("diff --git ") || starts("--- ") || starts("Index: ")) {
        any = true;
        break;
      }
      // Words before a patch: a mail's head, a fence, a here-document's mark.
    }
    if (!any) return summary_;
    if (starts("*** Begin Patch")) {
      envelope();
    } else {
      diff();
    }
    return summary_;
  }

 private:
  // --- lines ---

  bool next_line() noexcept {
    if (at_ >= text_.size()) {
      line_ = {};
      return false;
    }
    start_ = at_;
    std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    if (end == std::string_view::npos) end = text_.size();
    line_ = text_.substr(start_, end - start_);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    return true;
  }
  bool starts(std::string_view mark) const noexcept { return line_.substr(0, mark.size()) == mark; }
  bool next_starts(std::string_view mark) const noexcept { return text_.substr(at_, mark.size()) == mark; }

  // What is after `mark`, without blanks around it.
  Known rest(std::string_view mark) const noexcept {
    std::size_t begin = mark.size();
    while (begin < line_.size() && ascii::is_blank(line_[begin])) ++begin;
    std::size_t end = line_.size();
    while (end > begin && ascii::is_blank(line_[end - 1])) --end;
    return piece(begin, end);
  }
  Known piece(std::size_t begin, std::size_t end) const noexcept {
    Known known{line_.substr(begin, end - begin), code_.at(start_ + begin, start_ + end), code_.verbatim, 0};
    if (known.text.find(kUnknownPart) != std::string_view::npos) known.flags |= word_flag::kUnknown;
    return known;
  }
  // A file's name in a diff: up to a tab, quotes and the letter of its side gone.
  Known name(std::string_view mark, bool side) const noexcept {
    Known known = rest(mark);
    std::size_t size = known.text.find('\t');
    if (size == std::string_view::npos) size = known.text.size();
    std::size_t skip = 0;
    if (size >= 2 && known.text[0] == '"' && known.text[size - 1] == '"') {
      ++skip;
      --size;
    }
    if (side && size > skip + 2 && known.text[skip + 1] == '/' && std::string_view("abciwo").find(known.text[skip]) != std::string_view::npos) skip += 2;
    known.text = known.text.substr(skip, size - skip);
    if (known.text.find(kUnknownPart) == std::string_view::npos) known.flags &= static_cast<std::uint16_t>(~word_flag::kUnknown);
    if (known.verbatim) {
      known.span.start += static_cast<std::uint32_t>(skip);
      known.span.end = known.span.start + static_cast<std::uint32_t>(known.text.size());
    }
    return known;
  }

  void emit(std::string_view program, const Known& path) noexcept {
    if (reader_ == nullptr || path.text.empty()) return;
    CommandWriter writer(*reader_, *frame_, Dialect::patch, program, path.span);
    writer.known(path, word_flag::kPseudo);
    writer.end();
  }
  void malformed() noexcept {
    if (reader_ != nullptr) reader_->tree->add_uncertainty(Unresolved::syntax, code_.at(start_, start_ + line_.size()), frame_->carrier);
  }

  // --- *** Begin Patch ---

  void envelope() noexcept {
    enum class Section : std::uint8_t { none, add, update, remove } section = Section::none;
    Known updated;
    while (next_line()) {
      if (starts("*** End Patch")) {
        summary_.whole = true;
        while (next_line()) {  // another one may follow
          if (starts("*** Begin Patch")) return envelope_again();
        }
        return;
      }
      if (starts("*** Add File:")) {
        section = Section::add;
        ++summary_.files;
        emit("@write", rest("*** Add File:"));
      } else if (starts("*** Update File:")) {
        section = Section::update;
        ++summary_.files;
        updated = rest("*** Update File:");
        emit("@write", updated);
      } else if (starts("*** Delete File:")) {
        section = Section::remove;
        ++summary_.files;
        emit("@delete", rest("*** Delete File:"));
      } else if (starts("*** Move to:")) {
        if (section != Section::update) malformed();
        emit("@write", rest("*** Move to:"));
        emit("@delete", updated);
      } else if (starts("*** End of File") || starts("@@") || line_.empty()) {
        continue;
      } else if (starts("*** Environment ID:")) {
        continue;
      } else if (section == Section::none || starts("*** ")) {
        malformed();
        if (section == Section::none) return;
      } else if (line_[0] == '+') {
        ++summary_.added;
      } else if (line_[0] == '-') {
        if (section == Section::add) malformed();
        ++summary_.removed;
      }
    }
    malformed();  // no end
  }
  void envelope_again() noexcept {
    if (++envelopes_ > 64) return malformed();
    summary_.whole = false;
    envelope();
  }

  // --- diffs ---

  void diff() noexcept {
    Known old_name, new_name;
    bool has_old = false, has_new = false, git = false, deletes = false, renames = false;
    bool reported = false;
    const auto finish = [&]() noexcept {
      if (reported || (!has_old && !has_new)) return;
      reported = true;
      ++summary_.files;
      const bool old_none = !has_old || old_name.text == "/dev/null";
      const bool new_none = !has_new || new_name.text == "/dev/null";
      if (deletes || (has_new && new_none)) {
        emit("@delete", old_none ? new_name : old_name);
      } else {
        emit("@write", new_none ? old_name : new_name);
        if (renames && !old_none && old_name.text != new_name.text) emit("@delete", old_name);
      }
    };
    const auto begin = [&]() noexcept {
      finish();
      has_old = has_new = deletes = renames = reported = false;
    };
    bool more = true;
    summary_.whole = true;
    while (more) {
      if (starts("diff --git ")) {
        begin();
        git = true;
        // diff --git a/x b/x: both names, distinguished by the second's side.
        const std::size_t second = line_.rfind(" b/");
        if (second != std::string_view::npos && second > 13) {
          old_name = piece(13, second);
          new_name = piece(second + 3, line_.size());
          has_old = has_new = true;
        } else {
          old_name = new_name = name("diff --git ", true);
          has_old = has_new = true;
        }
      } else if (git && starts("rename from ")) {
        old_name = rest("rename from ");
        renames = has_old = true;
      } else if (git && starts("rename to ")) {
        new_name = rest("rename to ");
        has_new = true;
      } else if (git && starts("copy to ")) {
        new_name = rest("copy to ");
        has_new = true;
      } else if (git && starts("deleted file mode")) {
        deletes = true;
      } else if (starts("GIT binary patch") || starts("Binary files ")) {
        summary_.binary = true;
      } else if (starts("--- ") && next_starts("+++ ")) {
        if (!git || reported) {
          begin();
          git = false;
        }
        const Known before = name("--- ", true);
        next_line();
        const Known after = name("+++ ", true);
        if (before.text != "/dev/null" || !git) old_name = before;
        if (after.text != "/dev/null" || !git) new_name = after;
        if (git && after.text == "/dev/null") deletes = true;
        has_old = has_new = true;
      } else if (starts("@@ ") || starts("@@ -")) {
        finish();
        if (!has_old && !has_new) malformed();
        more = hunk();
        git = false;
        continue;
      }
      more = next_line();
    }
    finish();
    if (summary_.files == 0) {
      summary_.whole = false;
      malformed();
    }
  }

  static std::uint32_t number(std::string_view text, std::size_t* at) noexcept {
    std::uint32_t value = 0;
    while (*at < text.size() && ascii::is_digit(text[*at])) {
      if (value < 100000000) value = value * 10 + static_cast<std::uint32_t>(text[*at] - '0');
      ++*at;
    }
    return value;
  }
  // The lines that the head of a hunk counts; false at the text's end.
  bool hunk() noexcept {
    std::size_t at = line_.find('-');
    if (at == std::string_view::npos) return next_line();
    ++at;
    std::uint32_t old_lines = 1, new_lines = 1;
    number(line_, &at);
    if (at < line_.size() && line_[at] == ',') {
      ++at;
      old_lines = number(line_, &at);
    }
    while (at < line_.size() && line_[at] != '+') ++at;
    if (at < line_.size()) ++at;
    number(line_, &at);
    if (at < line_.size() && line_[at] == ',') {
      ++at;
      new_lines = number(line_, &at);
    }
    bool heads = false;  // lines that another reader may take for the head of a file
    while (old_lines > 0 || new_lines > 0) {
      if (!next_line()) {  // fewer lines than counted: no program applies that, or it takes what is there
        if (heads) malformed();
        return false;
      }
      heads = heads || (starts("--- ") && next_starts("+++ "));
      const char kind = line_.empty() ? ' ' : line_[0];
      if (kind == '+' && new_lines > 0) {
        --new_lines;
        ++summary_.added;
      } else if (kind == '-' && old_lines > 0) {
        --old_lines;
        ++summary_.removed;
      } else if (kind == ' ') {
        if (old_lines > 0) --old_lines;
        if (new_lines > 0) --new_lines;
      } else if (kind != '\\') {  // "\ No newline at end of file"
        malformed();
        return true;
      }
    }
    return next_line();
  }

  Reader* reader_;
  const Code& code_;
  const Frame* frame_;
  std::string_view text_, line_;
  std::size_t at_ = 0, start_ = 0;
  std::uint32_t envelopes_ = 0;
  PatchSummary summary_;
};

}  // namespace patch
}  // namespace

PatchSummary summarize_patch(std::string_view text) noexcept {
  Code code;
  code.text = text;
  code.origin = {0, static_cast<std::uint32_t>(text.size())};
  return patch::Patch(nullptr, code, nullptr).read();
}

void read_patch(Reader& reader, const Code& code, const Frame& frame) noexcept {
  const PatchSummary summary = patch::Patch(&reader, code, &frame).read();
  if (summary.files == 0 && !summary.whole) reader.tree->add_uncertainty(Unresolved::syntax, code.origin, frame.carrier);
}

FormerParts::FormerParts(std::string_view tool, std::string_view field, std::string_view text) noexcept : text_(text) {
  const bool writes = tools::classify(tool) == ToolClass::write;
  if (tools::is_former(field) && (writes || ascii::starts_with(field, "old"))) {
    kind_ = Kind::whole;
  } else if (writes && (tools::is_patch(field) ||
                        (tools::is_command(field) && ascii::one_of(tools::bare_name(tool), "apply_patch applypatch")))) {
    kind_ = tools::looks_like_patch(text) ? Kind::lines : Kind::blocks;
  }
}

// The line at at_, which is then after it.
std::string_view FormerParts::line() noexcept {
  const std::size_t end = text_.find('\n', at_);
  std::string_view found = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  while (!found.empty() && ascii::is_space(found.back())) found.remove_suffix(1);
  return found;
}

namespace {

// A line of some signs and a word: `<<<<<<< SEARCH`, `------- SEARCH`, `=======`.
bool marks(std::string_view line, std::string_view signs, std::string_view word) noexcept {
  std::size_t count = 0;
  while (count < line.size() && signs.find(line[count]) != std::string_view::npos) ++count;
  if (count < 3) return false;
  line = ascii::trim(line.substr(count));
  if (!line.empty() && line.back() == '>') line.remove_suffix(1);
  return line == word;
}

}  // namespace

bool FormerParts::next(Span* part) noexcept {
  const auto found = [&](std::size_t start, std::size_t end) noexcept {
    *part = {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)};
    return true;
  };
  if (kind_ == Kind::whole) {
    if (at_ == text_.size()) return false;
    at_ = text_.size();
    return found(0, at_);
  }
  while (kind_ == Kind::lines && at_ < text_.size()) {
    const std::size_t start = at_;
    const std::string_view removed = line();
    if (!removed.empty() && removed[0] == '-') return found(start, start + removed.size());
  }
  while (kind_ == Kind::blocks && at_ < text_.size()) {
    if (!marks(line(), "<-", "SEARCH")) continue;
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      const std::size_t end = at_;
      if (marks(line(), "=", "")) return found(start, end);
    }
    // Without its second half it is no block: nothing of it is taken away.
  }
  return false;
}

}  // namespace tipstaff::gate
