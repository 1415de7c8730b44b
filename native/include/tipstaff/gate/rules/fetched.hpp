// The addresses that a command's code comes from: curl URL | sh, sh -c "$(curl URL)", curl -o x URL; sh x.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/tree.hpp"

namespace tipstaff::gate::rules {

class FetchedCode {
 public:
  FetchedCode(const Tree& tree, std::uint32_t index) noexcept : tree_(tree), index_(index) {}

  // Whether `known(address)` is true of each address that is fetched for the command, nothing else is mixed into it, and
  // the connection is checked as usual.
  template <typename Known>
  bool all(Known known) const noexcept {
    if (index_ >= tree_.command_count()) return false;
    const Command& command = tree_.command(index_);
    if (command.pipe_from != kNone) return by_pipe(command.pipe_from, known);
    bool inside = false;
    if (!by_substitution(command.span, known, &inside)) return false;
    return inside || by_file(known);
  }

 private:
  static constexpr std::uint32_t kChain = 8, kNear = 64, kWords = 64;

  static bool is_downloader(const Command& command) noexcept { return ascii::one_of(command.program, "curl wget"); }
  static bool is_pseudo(const Command& command) noexcept { return !command.program.empty() && command.program[0] == '@'; }

  template <typename Known>
  bool by_pipe(std::uint32_t at, Known known) const noexcept {
    bool some = false;
    for (std::uint32_t steps = 0; at != kNone; at = tree_.command(at).pipe_from, ++steps) {
      if (steps == kChain || !is_downloader(tree_.command(at)) || !fetches(tree_.command(at), known)) return false;
      some = true;
    }
    return some;
  }
  // Commands among the words of the command; those of curl alone make its code.
  template <typename Known>
  bool by_substitution(Span span, Known known, bool* some) const noexcept {
    const std::uint32_t count = tree_.command_count();
    const std::uint32_t from = index_ > kNear ? index_ - kNear : 0, to = count - index_ > kNear ? index_ + kNear : count;
    for (std::uint32_t i = from; i < to; ++i) {
      const Command& other = tree_.command(i);
      if (i == index_ || other.span.start < span.start || other.span.end > span.end || is_pseudo(other)) continue;
      if (other.span.start == span.start && other.span.end == span.end) continue;
      // A wrapper around the command, or what it carries itself.
      if (other.carrier == index_ && (other.via & via::kSubstitution) == 0) return false;
      if (!is_downloader(other) || !fetches(other, known)) return false;
      *some = true;
    }
    return true;
  }
  // Commands that leave a file as it was downloaded.
  bool keeps_files(const Command& command) const noexcept {
    if (command.program == "@write") return command.carrier != kNone && is_downloader(tree_.command(command.carrier));
    return is_pseudo(command) ? command.program == "@read" || command.program == "@assign" : ascii::one_of(command.program, "chmod cd mkdir sudo doas command export set echo ls less more cat head tail wc sha256sum sha512sum shasum gpg test [ [[ true : env file stat apt-get apt apk which if");
  }
  // A file that was downloaded before: each that is downloaded is one of these, and nothing changes it.
  template <typename Known>
  bool by_file(Known known) const noexcept {
    bool some = false;
    for (std::uint32_t i = 0; i < index_ && i < kNear; ++i) {
      const Command& other = tree_.command(i);
      if (!is_downloader(other)) {
        if (!keeps_files(other)) return false;
        continue;
      }
      if (!fetches(other, known)) return false;
      some = true;
    }
    return some && index_ < kNear;
  }

  template <typename Known>
  bool fetches(const Command& command, Known known) const noexcept {
    const Word* const words = tree_.arguments(command);
    bool some = false, value = false;
    if (command.word_count > kWords || (command.via & via::kArgumentsAdded) != 0) return false;
    for (std::uint32_t i = 0; i < command.word_count; ++i) {
      const std::string_view text = words[i].text;
      if (value) {
        value = false;
        continue;
      }
      if (text.empty()) return false;
      if (text[0] == '-' && text.size() > 1) {
        if (!option(command, text, &value)) return false;
        continue;
      }
      if (text == "-" && command.program == "wget") continue;
      // A climb leads out of the folder that is known.
      if (text.find("..") != std::string_view::npos || text.find("%2") != std::string_view::npos || text.find('\\') != std::string_view::npos || !known(text)) return false;
      some = true;
    }
    return some && !value;
  }
  // Whether an option leaves the address and the check of its certificate as they are; `value`: it takes the next word.
  static bool option(const Command& command, std::string_view text, bool* value) noexcept {
    const bool curl = command.program == "curl";
    if (text[1] == '-') {
      const std::size_t equals = text.find('=');
      const std::string_view name = text.substr(0, equals);
      if (ascii::one_of(name, "--output --retry --retry-delay --retry-max-time --max-time --connect-timeout --proto --proto-redir --user-agent --tries --timeout --waitretry --output-document --tls-max --secure-protocol --max-redirs --speed-limit --speed-time --limit-rate --progress")) {
        *value = equals == std::string_view::npos;
        return true;
      }
      return ascii::one_of(name, "--fail --silent --show-error --location --fail-with-body --compressed --tlsv1.2 --tlsv1.3 --tlsv1 --retry-connrefused --retry-all-errors --progress-bar --remote-name --remote-header-name --quiet --no-verbose --show-progress --https-only --ipv4 --ipv6 --http1.1 --http2 --no-progress-meter --no-cache --continue --no-hsts --ssl-reqd --inet4-only --inet6-only --no-buffer --globoff --verbose --create-dirs --no-clobber --timestamping --content-disposition --trust-server-names");
    }
    for (std::size_t at = 1; at < text.size(); ++at) {
      const char c = text[at];
      if (std::string_view(curl ? "omA" : "OtTU").find(c) != std::string_view::npos) {
        *value = at + 1 == text.size();
        return true;
      }
      if (std::string_view(curl ? "fsSLgO#JNqv012346" : "qncvS46N").find(c) == std::string_view::npos) return false;
    }
    return true;
  }

  const Tree& tree_;
  const std::uint32_t index_;
};

}  // namespace tipstaff::gate::rules
