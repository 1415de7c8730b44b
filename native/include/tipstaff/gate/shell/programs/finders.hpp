// Programs that add arguments to a command: xargs, parallel, find -exec, fd -x.
#pragma once

#include "tipstaff/gate/shell/programs/wrappers.hpp"

namespace tipstaff::gate::shell {

// Adds a text's words to the tree, or its lines. Returns how many.
inline std::uint32_t ShellReader::split_words(string_view text, std::uint16_t flags, Span span, bool lines) noexcept {
  std::uint32_t count = 0;
  std::size_t at = 0;
  const auto apart = [lines](char c) noexcept { return c == '\n' || c == '\0' || (!lines && is_blank(c)); };
  while (at < text.size() && !tree_.full()) {
    while (at < text.size() && (is_blank(text[at]) || apart(text[at]))) ++at;
    std::size_t end = at;
    while (end < text.size() && !apart(text[end])) ++end;
    if (end == at) break;
    string_view part = text.substr(at, end - at);
    if (part.size() > 1 && (part.front() == '\'' || part.front() == '"') && part.back() == part.front()) {
      part = part.substr(1, part.size() - 2);
    }
    Word word;
    word.text = part;
    word.span = span;
    word.flags = flags;
    if (holds(part, kUnknownPart)) word.flags |= word_flag::kUnknown;
    if (tree_.add_word(word) == kNone) break;
    ++count;
    at = end;
  }
  return count;
}

// Pushes what a stream names as words that a program adds; unknown ones as one unknown word.
inline void ShellReader::push_roots(const Stream& stream, Span span, bool lines) noexcept {
  const std::uint16_t base = word_flag::kAppended | word_flag::kPseudo;
  std::uint32_t count = 0;
  if (stream.kind == Stream::paths) {
    count = split_words(stream.text, static_cast<std::uint16_t>(base | word_flag::kGlob | stream.flags), span, lines);
  } else if (stream.kind == Stream::known) {
    count = split_words(stream.text, static_cast<std::uint16_t>(base | stream.flags), span, lines);
    if (count == 0) return;
  }
  if (count != 0) return;
  Word word;
  word.text = kUnknown;
  word.span = span;
  word.flags = static_cast<std::uint16_t>(base | word_flag::kUnknown);
  if (stream.kind == Stream::remote) word.flags |= word_flag::kNetwork;
  tree_.add_word(word);
}

inline void ShellReader::run_xargs(Invocation& in) noexcept {
  const std::uint32_t at = after_options(in, 1, "IEdaLnPsR", "--arg-file --delimiter --max-args --max-procs --max-lines "
                                         "--replace --max-chars --process-slot-var");
  string_view mark;
  Stream input = in.input;
  for (std::uint32_t i = 1; i < at; ++i) {
    const string_view text = text_of(in, i);
    if (starts_with(text, "-I")) mark = text.size() > 2 ? text.substr(2) : i + 1 < in.count ? text_of(in, i + 1) : "{}";
    else if (text == "-i" || text == "--replace") mark = "{}";
    else if (starts_with(text, "--replace=")) mark = text.substr(10);
    else if ((text == "-a" || text == "--arg-file") && i + 1 < in.count) {
      input = Stream{};
      input.kind = Stream::file;
      input.text = text_of(in, i + 1);
    }
  }
  if (input.kind == Stream::file) input = load(input, in.cwd);
  if (at >= in.count) return;
  const std::uint32_t first = tree_.word_count();
  const Span span = in.span;
  if (mark.empty()) {
    for (std::uint32_t i = at; i < in.count; ++i) {
      if (tree_.add_word(argument(in, i)) == kNone) return;
    }
    push_roots(input, span, false);
  } else {
    // The mark is replaced in every word: once for each that is known.
    const std::uint32_t roots = tree_.word_count();
    push_roots(input, span, true);
    const std::uint32_t count = tree_.word_count() - roots;
    const std::uint32_t begin = tree_.word_count();
    for (std::uint32_t i = at; i < in.count; ++i) {
      const Word word = argument(in, i);
      const std::size_t found = word.text.find(mark);
      if (found == string_view::npos) {
        if (tree_.add_word(word) == kNone) return;
        continue;
      }
      for (std::uint32_t k = 0; k < count && k < Session::kAlternatives; ++k) {
        Word made = word;
        const Word root = tree_.word(roots + k);
        made.text = tree_.join(tree_.join(tree_.copy(word.text.substr(0, found)), root.text),
                               word.text.substr(found + mark.size()));
        made.flags |= root.flags;
        if (tree_.add_word(made) == kNone) return;
      }
    }
    Stream none;
    return run_copied(in, begin, tree_.word_count() - begin, via::kArgumentsAdded, &none);
  }
  Stream none;
  run_copied(in, first, tree_.word_count() - first, via::kArgumentsAdded, &none);
}

// parallel COMMAND ::: VALUES, or with the values on the input.
inline void ShellReader::run_parallel(Invocation& in) noexcept {
  const std::uint32_t at = after_options(in, 1, "jaIdNnLPSs", "--jobs --arg-file --colsep --delimiter --joblog --sshlogin "
                                         "--results --tmpdir --timeout --delay --workdir --wd");
  for (std::uint32_t i = 1; i < at; ++i)
    if (one_of(text_of(in, i), "--pipe --pipepart --spreadstdin")) return run_inner(in, at, 0);
  for (std::uint32_t i = 1; i < at; ++i)
    if (one_of(text_of(in, i), "--dry-run --dryrun")) return;
  std::uint32_t colons = at;
  while (colons < in.count && !starts_with(text_of(in, colons), ":::")) ++colons;
  const bool given = colons < in.count;
  std::uint16_t flags = 0;
  const std::uint32_t roots = tree_.word_count();
  if (given) {
    for (std::uint32_t i = colons + 1; i < in.count; ++i) {
      Word word = argument(in, i);
      if (starts_with(word.text, ":::")) continue;
      word.flags |= word_flag::kAppended;
      if (tree_.add_word(word) == kNone) return;
    }
  } else if (at < in.count || in.input.kind != Stream::none) {
    push_roots(in.input, in.span, true);
  }
  const std::uint32_t count = tree_.word_count() - roots;
  if (at == colons) {
    // Without a command each value is one.
    for (std::uint32_t k = 0; k < count && given; ++k) {
      code_word(in, tree_.word(roots + k), Nested{}, Dialect::shell);
    }
    if (!given) nested_stream(in, in.input, Nested{}, Dialect::shell);
    return;
  }
  bool placed = false;
  const std::uint32_t first = tree_.word_count();
  // A single quoted text is shell code; so are several words, once the values are put in.
  for (std::uint32_t i = at; i < colons; ++i) {
    const Word word = argument(in, i);
    const std::size_t found = word.text.find("{}");
    if (found == string_view::npos || count == 0) {
      if (tree_.add_word(word) == kNone) return;
      continue;
    }
    placed = true;
    for (std::uint32_t k = 0; k < count && k < Session::kAlternatives; ++k) {
      Word made = word;
      const Word root = tree_.word(roots + k);
      made.text = tree_.join(tree_.join(tree_.copy(word.text.substr(0, found)), root.text), word.text.substr(found + 2));
      made.flags |= root.flags;
      if (tree_.add_word(made) == kNone) return;
    }
  }
  for (std::uint32_t k = 0; k < count && !placed; ++k) {
    if (tree_.add_word(tree_.word(roots + k)) == kNone) return;
  }
  const std::uint32_t total = tree_.word_count() - first;
  if (colons - at == 1 && text_of(in, at).find(' ') != string_view::npos) {
    Nested options;
    options.via = via::kArgumentsAdded;
    for (std::uint32_t k = 0; k < total && placed; ++k) code_word(in, tree_.word(first + k), options, Dialect::shell);
    if (placed) return;
    Word word = argument(in, at);
    word.text = joined(first, total, &flags);
    word.flags = flags;
    return code_word(in, word, options, Dialect::shell);
  }
  Stream none;
  run_copied(in, first, total, via::kArgumentsAdded, &none);
}

// find PLACES -name A -o REST -delete: to -o, what is deleted is what REST says, as a command of its own.
inline void ShellReader::run_found_by_rest(Invocation& in, std::uint32_t begin, std::uint32_t end, std::uint32_t action) noexcept {
  std::uint32_t from = action;
  int depth = 0;
  for (; from > end; --from) {
    const string_view text = text_of(in, from - 1);
    if (text == ")") ++depth;
    if (text == "(" && --depth < 0) return;
    if (depth == 0 && one_of(text, "-o -or ,")) break;
  }
  if (from == end || depth != 0) return;
  const std::uint32_t first = tree_.word_count();
  if (tree_.add_word(argument(in, 0)) == kNone) return;
  for (std::uint32_t i = begin; i < end; ++i)
    if (tree_.add_word(argument(in, i)) == kNone) return;
  for (std::uint32_t i = from; i <= action; ++i)
    if (tree_.add_word(argument(in, i)) == kNone) return;
  Stream none;
  run_copied(in, first, tree_.word_count() - first, 0, &none);
}

inline void ShellReader::run_find(Invocation& in) noexcept {
  // The places it starts from stand for what it finds below them.
  std::uint32_t begin = 0, end = 0;
  starts_of_find(in, &begin, &end);
  const string_view names = found_by_name(in);
  for (std::uint32_t i = end; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text == "-delete") run_found_by_rest(in, begin, end, i);
    if (one_of(text, "-fprint -fprint0 -fls -fprintf") && i + 1 < in.count) {
      emit_file("@write", argument(in, i + 1), false, in.command, in.via, in.cwd);
    }
    if (!one_of(text, "-exec -execdir -ok -okdir")) continue;
    std::uint32_t stop = i + 1;
    while (stop < in.count && text_of(in, stop) != ";" &&
           !(text_of(in, stop) == "+" && text_of(in, stop - 1) == "{}")) {
      ++stop;
    }
    const std::uint32_t first = tree_.word_count();
    for (std::uint32_t k = i + 1; k < stop; ++k) {
      const Word word = argument(in, k);
      const std::size_t found = word.text.find("{}");
      if (found == string_view::npos) {
        if (tree_.add_word(word) == kNone) return;
        continue;
      }
      if (!names.empty() && word.text.size() == 2) {
        Stream found;
        found.kind = Stream::paths;
        found.text = names;
        push_roots(found, word.span, true);
        continue;
      }
      const std::uint32_t places = end > begin ? end - begin : 1;
      for (std::uint32_t place = 0; place < places; ++place) {
        Word made = end > begin ? argument(in, begin + place) : word;
        if (end == begin) made.text = ".";
        made.flags |= word_flag::kAppended | word_flag::kGlob;
        if (word.text.size() != 2) {
          made.text = tree_.join(tree_.join(tree_.copy(word.text.substr(0, found)), made.text), word.text.substr(found + 2));
        }
        if (tree_.add_word(made) == kNone) return;
      }
    }
    Stream none;
    run_copied(in, first, tree_.word_count() - first, via::kArgumentsAdded, &none);
    i = stop;
  }
}

// fd ... -x COMMAND, -X COMMAND
inline void ShellReader::run_fd(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (!one_of(text, "-x -X --exec --exec-batch")) continue;
    Invocation asked = in;
    asked.count = i;
    find_output(asked, find_program("fd"));
    const std::uint32_t roots = tree_.word_count();
    push_roots(asked.output, in.span, true);
    const std::uint32_t count = tree_.word_count() - roots;
    const std::uint32_t first = tree_.word_count();
    bool placed = false;
    for (std::uint32_t k = i + 1; k < in.count && text_of(in, k) != ";"; ++k) {
      const Word word = argument(in, k);
      if (word.text == "{//}") {  // the folder that it is found in
        placed = true;
        Word folder = word;
        folder.text = ".";
        folder.flags |= word_flag::kAppended | word_flag::kGlob;
        if (tree_.add_word(folder) == kNone) return;
      } else if (word.text.size() >= 2 && word.text[0] == '{' && word.text.back() == '}') {
        placed = true;
        for (std::uint32_t r = 0; r < count; ++r) {
          if (tree_.add_word(tree_.word(roots + r)) == kNone) return;
        }
      } else if (tree_.add_word(word) == kNone) {
        return;
      }
    }
    for (std::uint32_t r = 0; r < count && !placed; ++r) {
      if (tree_.add_word(tree_.word(roots + r)) == kNone) return;
    }
    Stream none;
    run_copied(in, first, tree_.word_count() - first, via::kArgumentsAdded, &none);
    return;
  }
}

}  // namespace tipstaff::gate::shell
