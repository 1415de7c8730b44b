// What the commands of cmd.exe do, and what other programs it starts.
#pragma once

#include "tipstaff/gate/cmd/reader.hpp"

namespace tipstaff::gate::cmd {

inline void Batch::run(const Known& name, std::string_view base, std::size_t start) noexcept {
  Raw<Known, kWords> all;
  Known* const words = all.data();
  std::uint32_t n = 0;
  bool more = false;
  for (;;) {
    redirections(start);
    Known next;
    if (!word(&next)) break;
    if (n < kWords) new (&words[n++]) Known(next);
    else more = true;
  }
  const Span span = code_.at(start, at_ > start ? at_ : start);
  if (more) tree_.add_uncertainty(Unresolved::limit, span, frame_.carrier);
  const Known piped = is_piped_ ? piped_ : Known{};
  is_piped_ = false;
  if (!piped.text.empty() && n == 0 && ascii::one_of(base, "cmd powershell pwsh")) {  // echo text | cmd
    read_code(reader_, base == "cmd" ? Dialect::cmd : Dialect::powershell, piped.code(), frame_);
    return;
  }
  if (run_written(name.text)) return;
  if (name.text.find(' ') != std::string_view::npos && text_.substr(start, 256).find_first_of("%!") < text_.substr(start, 256).find(' ')) {
    Known line = name;  // a variable held more than a program's name
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool blank = words[i].text.find(' ') != std::string_view::npos;
      line = joined(tree_, joined(tree_, line, blank ? " \"" : " ", words[i]), blank ? "\"" : "", Known{{}, words[i].span, false, 0});
    }
    Frame frame = frame_;
    frame.via |= via::kEvaluated;
    line.span = span;
    read_code(reader_, Dialect::cmd, line.code(), frame);
    return;
  }
  run_words(name, base, words, n, span);
}

inline void Batch::run_words(const Known& name, std::string_view base, const Known* words, std::uint32_t n, Span span) noexcept {
  if (name.is_blank()) {
    tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
    return;
  }
  if (ascii::one_of(base, "del erase rd rmdir")) return remove(base, words, n, span);
  if (ascii::one_of(base, "move ren rename")) return files("mv", words, n, span);
  if (ascii::one_of(base, "copy")) return files("cp", words, n, span);
  if (ascii::one_of(base, "type more")) return files("@read", words, n, span);
  if (ascii::one_of(base, "dir md mkdir cls path vol tree find findstr where whoami hostname ver help assoc date time popd sort fc comp")) return;
  if (ascii::one_of(base, "cd chdir pushd")) {
    frame_.cwd = {};
    for (std::uint32_t i = 0; i < n; ++i) {
      if (words[i].text.size() > 2 && words[i].text[1] == ':') frame_.cwd = words[i].text;
    }
    return;
  }
  if (base == "start") {
    std::uint32_t first = 0;
    while (first < n && (words[first].text.empty() || words[first].text[0] == '/' || (first == 0 && (words[first].flags & word_flag::kQuoted) != 0 && n > 1))) ++first;
    if (first < n) run_words(words[first], program_name(tree_, words[first].text), words + first + 1, n - first - 1, span);
    return;
  }
  if (ascii::one_of(base, kTools)) {
    CommandWriter writer(reader_, frame_, Dialect::cmd, base, span, false);
    for (std::uint32_t i = 0; i < n; ++i) writer.known(words[i]);
    writer.end();
    return;
  }
  Items<kWords + 1> all;
  all.add(name);
  for (std::uint32_t i = 0; i < n; ++i) all.add(words[i]);
  read_words(reader_, frame_, all.begin(), all.size(), span);
}

inline void Batch::remove(std::string_view base, const Known* words, std::uint32_t n, Span span) noexcept {
  bool recursive = false, quiet = false;
  const bool folder = ascii::one_of(base, "rd rmdir");
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!is_switch(words[i].text)) continue;
    for (std::size_t k = 0; k + 1 < words[i].text.size(); ++k) {
      if (words[i].text[k] != '/') continue;
      const char letter = ascii::lower(words[i].text[k + 1]);
      if (letter == 's') recursive = true;
      if (letter == 'q' || letter == 'f') quiet = true;
    }
  }
  CommandWriter writer(reader_, frame_, Dialect::cmd, folder && !recursive ? "rmdir" : "rm", span);
  if (recursive) writer.flag("-r");
  if (quiet && (recursive || !folder)) writer.flag("-f");
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!is_switch(words[i].text)) writer.known(words[i]);
  }
  writer.end();
}

inline void Batch::files(std::string_view program, const Known* words, std::uint32_t n, Span span) noexcept {
  CommandWriter writer(reader_, frame_, Dialect::cmd, program, span);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!is_switch(words[i].text)) writer.known(words[i]);
  }
  writer.end();
}

}  // namespace tipstaff::gate::cmd
