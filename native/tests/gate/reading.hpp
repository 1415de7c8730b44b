// What the tests of readers share: a text is read, and what comes out is written as lines that a table can hold.
// The shell's reader has its own tests: here each piece of shell code is one command, `$ TEXT`.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tipstaff/gate/tree/dialects.hpp"
#include "tipstaff/gate/tree/command_writer.hpp"

namespace tipstaff::gate {

void read_shell(Reader& reader, const Code& code, const Frame& frame) noexcept {
  CommandWriter writer(reader, frame, Dialect::shell, "$", code.origin);
  writer.word(code.text, code.origin,
              code.text.find(kUnknownPart) != std::string_view::npos ? word_flag::kUnknown : std::uint16_t{0});
  writer.end();
}
void read_make(Reader&, const Code&, std::string_view, const Frame&) noexcept {}
void read_crontab(Reader&, const Code&, const Frame&) noexcept {}

}  // namespace tipstaff::gate

namespace tipstaff::gate::test {

inline int failures = 0;
inline int checks = 0;

struct Sample {
  const char* text;
  const char* expected;  // one command a line; "!reason" for what could not be resolved
};

inline std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == kUnknownPart) {
      out += "<?>";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

inline void fail(const std::string& text, const char* what) {
  ++failures;
  std::fprintf(stderr, "%s: %s\n", shown(text).c_str(), what);
}

// Everything that must hold of any tree, whatever was read.
inline void check_tree(const Tree& tree, const std::string& text) {
  const auto inside = [&](Span span) { return span.start <= span.end && span.end <= text.size(); };
  for (std::uint32_t i = 0; i < tree.command_count(); ++i) {
    const Command& command = tree.command(i);
    if (!inside(command.span)) fail(text, "a command's span lies outside");
    if (command.first_word + command.word_count > tree.word_count()) fail(text, "a command has words that are not there");
    if (command.carrier != kNone && command.carrier >= tree.command_count()) fail(text, "a carrier is not there");
    for (std::uint32_t w = 0; w < command.word_count; ++w) {
      const Word& word = tree.arguments(command)[w];
      if (!inside(word.span)) fail(text, "a word's span lies outside");
      const bool unknown = word.text.find(kUnknownPart) != std::string_view::npos;
      if (unknown != word.has(word_flag::kUnknown)) fail(text, "kUnknown does not say what the text holds");
    }
  }
  for (std::uint32_t i = 0; i < tree.node_count(); ++i) {
    if (!inside(tree.nodes()[i].span)) fail(text, "a node's span lies outside");
    if (tree.nodes()[i].parent != kNone && tree.nodes()[i].parent >= i) fail(text, "a node comes before its parent");
  }
  for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) {
    if (!inside(tree.uncertainties()[i].span)) fail(text, "an uncertainty's span lies outside");
  }
}

class Machine {
 public:
  Machine() : memory_(std::size_t{4} << 20), tree(memory_.data(), memory_.size()) {
    surroundings.cwd = surroundings.repository = "/home/dev/proj";
    surroundings.home = "/home/dev";
  }
  // Library calls by name (`@call`) are drawn where `calls` asks for them, and then alone.
  std::string read(Dialect dialect, const std::string& text, std::string_view carrier = {}, bool calls = false) {
    // An exact copy on the heap: the sanitiser sees a read past its end.
    copy_.assign(text.begin(), text.end());
    copy_.shrink_to_fit();
    tree.clear();
    Reader reader{&tree, &surroundings};
    Frame frame;
    frame.cwd = surroundings.cwd;
    Node root;
    root.span = {0, static_cast<std::uint32_t>(text.size())};
    frame.node = tree.add_node(root);
    if (!carrier.empty()) {
      Command command;
      command.program = carrier;
      command.span = root.span;
      frame.carrier = tree.add_command(command);
    }
    Code code;
    code.text = std::string_view(copy_.data(), copy_.size());
    code.origin = root.span;
    read_code(reader, dialect, code, frame);
    check_tree(tree, text);
    std::string out;
    for (std::uint32_t i = carrier.empty() ? 0 : 1; i < tree.command_count(); ++i) {
      const Command& command = tree.command(i);
      if ((command.program == "@call") != calls) continue;
      if (!out.empty()) out += '\n';
      if (command.via & via::kDefinition) out += "[definition] ";
      out += shown(command.program);
      for (std::uint32_t w = 0; w < command.word_count; ++w) {
        const Word& word = tree.arguments(command)[w];
        out += ' ';
        out += word.text.empty() ? "''" : shown(word.text);
      }
    }
    for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) {
      if (!out.empty()) out += '\n';
      out += '!';
      out += name_of(tree.uncertainties()[i].reason);
    }
    return out;
  }

 private:
  std::vector<char> memory_;
  std::vector<char> copy_;

 public:
  Surroundings surroundings;
  Tree tree;
};

inline void check_sample(Machine& machine, Dialect dialect, const Sample& sample, std::string_view carrier = {}, bool calls = false) {
  ++checks;
  const std::string found = machine.read(dialect, sample.text, carrier, calls);
  if (found == sample.expected) return;
  ++failures;
  std::fprintf(stderr, "%s\n  found:    %s\n  expected: %s\n", shown(sample.text).c_str(), found.c_str(), sample.expected);
}

template <std::size_t N>
void check_samples(Machine& machine, Dialect dialect, const Sample (&samples)[N], std::string_view carrier = {}, bool calls = false) {
  for (const Sample& sample : samples) check_sample(machine, dialect, sample, carrier, calls);
}

inline int report() {
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace tipstaff::gate::test
