// Prints what the shell parser makes of texts: `shell_printer bash|dash|zsh < TEXTS`; texts and answers each end with NUL.
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/drawn_syntax.hpp"

using namespace tipstaff::syntax;

int main(int count, char** arguments) {
  const std::string_view shell = count > 1 ? arguments[1] : "bash";
  Options options;
  options.shell = shell == "dash" ? Shell::dash : shell == "zsh" ? Shell::zsh : Shell::bash;
  const std::string all((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  std::vector<Node> nodes(1 << 20);
  std::string answer;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\0', at);
    const std::string text = all.substr(at, end == std::string::npos ? end : end - at);
    at = end == std::string::npos ? all.size() : end + 1;
    Tree tree(nodes.data(), nodes.size() * sizeof(Node), text.data());
    const Parsed parsed = parse_shell(tree, 0, static_cast<std::uint32_t>(text.size()), options);
    static const char* const kStatus[] = {"complete", "open", "wrong", "depth", "full"};
    answer = kStatus[static_cast<int>(parsed.status)];
    answer += ' ';
    Printer printer(tree);
    if (parsed.root != kNone) printer.print(parsed.root);
    answer += printer.out;
    answer += '\0';
    std::cout << answer;
  }
  return 0;
}
