// A tree of shell syntax as text, in a normal form: what bash prints of a function (`declare -f`) reads as the function does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tipstaff/syntax/shell.hpp"

namespace tipstaff::syntax {

class Printer {
 public:
  explicit Printer(const Tree& tree) : tree_(tree) {}
  std::string out;

  void children(const Node& node) {
    for (std::uint32_t i = node.first_child; i != kNone; i = tree_[i].next) print(i);
  }

  void print(std::uint32_t index) {
    const Node& node = tree_[index];
    switch (node.kind) {
      case Kind::foreign: break;  // no host says what is
      case Kind::list: return wrapped("list", node);
      case Kind::background: return wrapped("bg", node);
      case Kind::and_if: return wrapped("and", node);
      case Kind::or_if: return wrapped("or", node);
      case Kind::negated: return wrapped("not", node);
      case Kind::timed: return wrapped("time", node);
      case Kind::pipeline: return pipeline(node);
      case Kind::subshell: return wrapped("sub", node);
      case Kind::group: return wrapped("group", node);
      case Kind::if_clause: return branches(node.first_child);
      case Kind::while_loop: return wrapped("while", node);
      case Kind::until_loop: return wrapped("until", node);
      case Kind::for_loop:
      case Kind::select_loop: {
        out += node.kind == Kind::for_loop ? "(for " : "(select ";
        std::uint32_t i = node.first_child;
        print(i);
        if (!node.has(flag::kIn)) out += "\"<$@>\" ";
        for (i = tree_[i].next; i != kNone; i = tree_[i].next) print(i);
        out += ") ";
        return;
      }
      case Kind::counting_loop: return wrapped("count", node);
      case Kind::case_clause: return wrapped("case", node);
      case Kind::case_item: return wrapped(node.has(flag::kFallsOn) ? "item;&" : node.has(flag::kTestsOn) ? "item;;&" : "item", node);
      case Kind::function: {
        const std::uint32_t body = tree_[node.first_child].next;
        const bool wraps = tree_[body].kind != Kind::group;
        out += "(function ";
        print(node.first_child);
        if (wraps) out += "(group (list ";
        print(body);
        out += wraps ? ") ) ) " : ") ";
        return;
      }
      case Kind::coprocess:
        out += node.has(flag::kNamed) ? "(coproc " : "(coproc COPROC ";
        children(node);
        out += ") ";
        return;
      case Kind::simple: return simple(node);
      case Kind::test: return wrapped("test", node);
      case Kind::test_or: return wrapped("||", node);
      case Kind::test_and: return wrapped("&&", node);
      case Kind::test_not: return wrapped("!", node);
      case Kind::test_unary:
        out += '(';
        if (tree_[node.first_child].kind != Kind::name) out += "-n ";
        children(node);
        out += ") ";
        return;
      case Kind::test_binary: return wrapped("", node);
      case Kind::arithmetic: return wrapped("((", node);
      case Kind::assignment:
        out += "(set ";
        children(node);
        out += node.has(flag::kAppends) ? "+) " : ") ";
        return;
      case Kind::array: return wrapped("array", node);
      case Kind::redirection: return redirection(node);
      case Kind::name:
        out += tree_.text(node.span);
        out += ' ';
        return;
      case Kind::subscript:
        out += '[';
        children(node);
        out += "] ";
        return;
      case Kind::word:
        children(node);
        out += ' ';
        return;
      case Kind::literal:
      case Kind::brace_open:
      case Kind::brace_comma:
      case Kind::brace_close: out += tree_.text(node.span); return;
      case Kind::tilde:
        out += "<tilde " + std::string(tree_.text(node.span)) + '>';
        return;
      case Kind::escape: out += tree_.text(node.span); return;
      case Kind::single_quoted: quote(std::string(tree_.text(node.span))); return;
      case Kind::ansi_quoted: {
        const std::string_view text = tree_.text(node.span);
        std::vector<char> decoded(text.size() + 1);
        quote(std::string(decoded.data(), decode_ansi(text, decoded.data())));
        return;
      }
      case Kind::double_quoted:
        out += '"';
        children(node);
        out += '"';
        return;
      case Kind::parameter: {
        if (node.flags == (node.flags & flag::kQuoted) && node.aux == 0 && tree_[node.first_child].next == kNone) {
          out += "<$" + std::string(tree_.text(node.first_child)) + '>';
          return;
        }
        out += "<${" + std::to_string(node.flags & ~flag::kQuoted) + "," + std::to_string(node.aux) + ' ';
        children(node);
        out += '>';
        return;
      }
      case Kind::command_substitution:
        out += "<$( ";
        children(node);
        out += ")>";
        return;
      case Kind::back_quoted:
        out += "<` ";
        out += tree_.text(node.span);
        out += ">";
        return;
      case Kind::arithmetic_expansion:
        out += "<$(( ";
        children(node);
        out += ">";
        return;
      case Kind::process_substitution:
        out += node.has(flag::kOutput) ? "<>( " : "<<( ";
        children(node);
        out += ">";
        return;
      case Kind::extended_glob:
        out += '<';
        out += static_cast<char>(node.aux);
        for (std::uint32_t i = node.first_child; i != kNone; i = tree_[i].next) {
          out += '|';
          print(i);
        }
        out += '>';
        return;
    }
  }

 private:
  void wrapped(const char* name, const Node& node) {
    out += '(';
    out += name;
    out += ' ';
    children(node);
    out += ") ";
  }
  void quote(const std::string& text) {
    out += '\'';
    out += text;
    out += '\'';
  }
  void branches(std::uint32_t at) {
    // elif is an if within else.
    std::uint32_t body = tree_[at].next;
    out += "(if ";
    print(at);
    print(body);
    std::uint32_t rest = tree_[body].next;
    if (rest != kNone && tree_[rest].kind == Kind::list && !tree_[rest].has(flag::kElse)) {
      out += "(list ";
      branches(rest);
      out += ") ) ";
      return;
    }
    for (; rest != kNone; rest = tree_[rest].next) print(rest);
    out += ") ";
  }
  void pipeline(const Node& node) {
    out += "(pipe ";
    for (std::uint32_t i = node.first_child; i != kNone; i = tree_[i].next) {
      print(i);
      if (tree_[i].has(flag::kErrorToo)) out.insert(out.size() - (tree_[i].kind == Kind::function ? 4 : 2), "{2>& 1 } ");
    }
    out += ") ";
  }
  void simple(const Node& node) {
    out += "(do ";
    for (std::uint32_t i = node.first_child; i != kNone; i = tree_[i].next)
      if (tree_[i].kind != Kind::redirection) print(i);
    for (std::uint32_t i = node.first_child; i != kNone; i = tree_[i].next)
      if (tree_[i].kind == Kind::redirection) print(i);
    out += ") ";
  }
  void redirection(const Node& node) {
    static const char* const kNames[] = {"<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<<"};
    std::uint32_t target = node.first_child;
    std::string descriptor;
    if (tree_[target].kind == Kind::name) {
      descriptor = std::string(tree_.text(target));
      target = tree_[target].next;
    }
    auto kind = static_cast<Redirect>(node.aux);
    const bool reads = kind == Redirect::input || kind == Redirect::both || kind == Redirect::from_descriptor ||
                       kind == Redirect::here_document || kind == Redirect::here_string;
    if (descriptor == (reads ? "0" : "1") && kind != Redirect::from_descriptor && kind != Redirect::to_descriptor) descriptor.clear();
    const std::string_view text = tree_.text(target);
    if (kind == Redirect::to_descriptor && descriptor.empty() && text.find_first_not_of("0123456789-") != std::string_view::npos &&
        text.find('$') == std::string_view::npos)
      kind = Redirect::all_output;
    if ((kind == Redirect::to_descriptor || kind == Redirect::from_descriptor) && descriptor.empty()) descriptor = reads ? "0" : "1";
    out += '{' + descriptor + kNames[node.aux == 0 ? 0 : static_cast<int>(kind)] + ' ';
    if (kind == Redirect::here_document) {
      Printer body(tree_);
      if (tree_[target].next != kNone) body.print(tree_[target].next);
      bool line_start = true;
      for (const char c : body.out) {
        if (!(line_start && c == '\t' && node.has(flag::kStripsTabs))) out += c;
        line_start = c == '\n' || (line_start && (c == '\t' || c == '\''));
      }
    } else {
      print(target);
    }
    out += "} ";
  }

  const Tree& tree_;
};

}  // namespace tipstaff::syntax
