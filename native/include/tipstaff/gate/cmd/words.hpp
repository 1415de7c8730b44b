// Words of cmd.exe: quotes, carets and variables undone.
#pragma once

#include "tipstaff/gate/cmd/reader.hpp"

namespace tipstaff::gate::cmd {

inline bool Batch::is_path(std::string_view name) noexcept {
  return ascii::one_of(name, "userprofile homedrive homepath home appdata localappdata temp tmp systemroot windir systemdrive programfiles "
                             "programfiles(x86) programdata allusersprofile public cd");
}

// One word: quotes, carets and variables undone. False at the end of the command.
inline bool Batch::word(Known* out) noexcept {
  skip_blanks();
  const std::size_t start = at_;
  if (at_ >= text_.size() || ends_command()) return false;
  // A plain word is taken as it is.
  std::size_t i = at_;
  bool plain = true, in_quotes = false;
  while (i < text_.size()) {
    const char c = text_[i];
    if (c == '"') {
      in_quotes = !in_quotes;
      plain = false;
    } else if (c == '\n') {
      break;
    } else if (!in_quotes) {
      if (ascii::is_space(c) || c == '&' || c == '|' || c == '<' || c == '>' || (c == ')' && depth_ > 0) || c == ',' || c == ';') break;
      if (c == '^') {
        plain = false;
        if (++i + 1 < text_.size() && text_[i] == '\r' && text_[i + 1] == '\n') ++i;
      }
    }
    if (c == '%' || c == '!') plain = false;
    ++i;
  }
  if (i > text_.size()) i = text_.size();
  if (plain) {
    out->text = text_.substr(start, i - start);
    out->span = code_.at(start, i);
    out->verbatim = code_.verbatim;
    out->flags = flags_of(out->text);
    at_ = i > start ? i : start + 1;
    return true;
  }
  Draft draft(tree_);
  bool quoted = false;
  std::uint16_t flags = 0;
  for (std::size_t k = start; k < i;) {
    const char c = text_[k];
    if (c == '"') {
      quoted = !quoted;
      ++k;
    } else if (c == '^' && !quoted && k + 1 < i) {  // a line that goes on below, or a byte that means itself
      if (text_[k + 1] == '\r' && k + 2 < i && text_[k + 2] == '\n') ++k;
      if (text_[k + 1] != '\n') draft.put(text_.substr(k + 1, 1));
      k += 2;
    } else if (c == '%' || c == '!') {
      k += variable(k, i, c, &draft, &flags);
    } else {
      draft.put(text_.substr(k, 1));
      ++k;
    }
  }
  out->text = draft.keep();
  out->span = code_.at(start, i);
  out->verbatim = false;
  out->flags = static_cast<std::uint16_t>(flags_of(out->text) | flags | word_flag::kQuoted);
  at_ = i > start ? i : start + 1;
  return true;
}

// %name:~from,count% and %name:what=with%.
inline void Batch::put_cut(Draft* draft, std::string_view text, std::string_view how) noexcept {
  if (how.empty() || text.find(kUnknownPart) != std::string_view::npos || text.size() > 1024) {
    draft->put_unknown();
    return;
  }
  if (how[0] != '~') {
    const std::size_t sign = how.find('=');
    const std::string_view what = how.substr(0, sign);
    if (sign == std::string_view::npos || what.empty() || what[0] == '*') {
      draft->put_unknown();
      return;
    }
    for (std::size_t i = 0; i < text.size();) {
      const bool here = same_word(text.substr(i, what.size()), what);
      draft->put(here ? how.substr(sign + 1) : text.substr(i, 1));
      i += here ? what.size() : 1;
    }
    return;
  }
  const long size = static_cast<long>(text.size());
  const auto number = [](std::string_view digits, long* out) noexcept {
    const bool minus = !digits.empty() && digits[0] == '-';
    *out = 0;
    for (const char c : digits.substr(minus ? 1 : 0).substr(0, 6)) {
      if (!ascii::is_digit(c)) return false;
      *out = *out * 10 + (c - '0');
    }
    if (minus) *out = -*out;
    return true;
  };
  const std::size_t comma = how.find(',');
  long from = 0, count = size;
  if (!number(how.substr(1, comma == std::string_view::npos ? comma : comma - 1), &from) ||
      (comma != std::string_view::npos && !number(how.substr(comma + 1), &count))) {
    draft->put_unknown();
    return;
  }
  if (from < 0) from = from + size < 0 ? 0 : from + size;
  if (from > size) from = size;
  long stop = count < 0 ? size + count : from + count;
  if (stop > size) stop = size;
  if (stop > from) draft->put(text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(stop - from)));
}

// What begins with a percent sign at `k`: puts its text, returns its length.
inline std::size_t Batch::variable(std::size_t k, std::size_t end, char mark, Draft* draft, std::uint16_t* flags) noexcept {
  std::size_t i = k + 1;
  if (mark == '%' && i < end && text_[i] == '%') ++i;  // %%i in a batch file
  if (mark == '%' && i < end && given_ != nullptr) {  // %1 and %~1 of a label that is called
    std::size_t digit = i;
    while (digit < end && (text_[digit] == '~' || (text_[digit] == 'f' && digit > i))) ++digit;
    if (digit < end && text_[digit] >= '1' && text_[digit] <= '9') {
      const std::uint32_t place = static_cast<std::uint32_t>(text_[digit] - '1');
      if (place < given_count_) {
        draft->put(given_[place].text);
        *flags |= given_[place].flags;
      }
      return digit + 1 - k;
    }
  }
  if (mark == '%' && i < end && (text_[i] == '~' || text_[i] == '*' || ascii::is_digit(text_[i]))) {
    const bool plain = text_[i] == '~';
    while (i < end && (text_[i] == '~' || ascii::is_name(text_[i]) || text_[i] == '*')) ++i;
    if (const Known* known = plain ? find(text_.substr(i - 1, 1)) : nullptr) {  // %~fi of a loop
      draft->put(known->text);
      *flags |= known->flags & word_flag::kGlob;
      return i - k;
    }
    draft->put_unknown();
    *flags |= word_flag::kMayBeEmpty;
    return i - k;
  }
  constexpr std::size_t kQuoteReach = 1024;  // how far the end of a quoted command is looked for
  std::size_t stop = i;
  while (stop < end && stop < i + 64 && text_[stop] != mark && !ascii::is_space(text_[stop])) ++stop;
  if (stop < end && text_[stop] == mark && stop > i) {
    std::string_view name = text_.substr(i, stop - i);
    const std::size_t colon = name.find(':');
    const bool cut = colon != std::string_view::npos;
    const std::string_view how = cut ? name.substr(colon + 1) : std::string_view();
    if (cut) name = name.substr(0, colon);
    if (const Known* known = find(name)) {
      if (cut) {
        put_cut(draft, known->text, how);
      } else {
        draft->put(known->text);
      }
    } else if (ascii::equals(name, "comspec") && !cut) {
      draft->put("cmd");
    } else if (is_path(name) && !cut) {
      draft->put("%");
      draft->put(name);
      draft->put("%");
    } else if (mark == '!' && k > 0 && text_[k - 1] == ' ' && text_.substr(stop + 1, end - stop - 1).substr(0, kQuoteReach).find('"') != std::string_view::npos) {
      draft->put(text_.substr(k, stop + 1 - k));  // within a quoted command, for the interpreter that gets it
    } else {
      draft->put_unknown();
      *flags |= word_flag::kMayBeEmpty | word_flag::kEnvironment;
    }
    return stop + 1 - k;
  }
  if (i < end && ascii::is_letter(text_[i])) {  // %i of a loop
    if (const Known* known = find(text_.substr(i, 1))) {
      draft->put(known->text);
      *flags |= known->flags & word_flag::kGlob;
      return i + 1 - k;
    }
  }
  draft->put(text_.substr(k, 1));
  return 1;
}

}  // namespace tipstaff::gate::cmd
