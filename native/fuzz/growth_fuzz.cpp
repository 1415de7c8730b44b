// Repeats what it is fed, and checks that the time that reading takes grows with the text and not faster.
//
// Of an input the first byte is a dialect, the second and third how long the beginning and the end are; what is
// between them is what is repeated.
#include <ctime>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tipstaff/gate/tree/dialects.hpp"

namespace {

using namespace tipstaff::gate;

constexpr Dialect kDialects[] = {Dialect::shell, Dialect::make,  Dialect::crontab, Dialect::python, Dialect::node,
                                 Dialect::perl,  Dialect::ruby,  Dialect::php,     Dialect::awk,    Dialect::sql,
                                 Dialect::redis, Dialect::mongo, Dialect::powershell, Dialect::cmd, Dialect::patch};
constexpr std::size_t kSmall = 8 * 1024, kTimes = 8, kLongestPiece = 256;

double seconds() {
  std::timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double time_of(const std::string& text, Dialect dialect) {
  static std::vector<unsigned char> memory(64 << 20);
  Tree tree(memory.data(), memory.size());
  Surroundings around;
  around.cwd = around.repository = "/home/dev/proj";
  around.home = "/home/dev";
  Reader reader{&tree, &around};
  Node root;
  root.span = {0, static_cast<std::uint32_t>(text.size())};
  Frame frame;
  frame.node = tree.add_node(root);
  frame.cwd = around.cwd;
  const double start = seconds();
  read_code(reader, dialect, {text, root.span, true}, frame);
  return seconds() - start;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4 || size > kLongestPiece) return 0;
  const Dialect dialect = kDialects[data[0] % std::size(kDialects)];
  const std::string whole(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t begin = data[1] % whole.size(), end = data[2] % (whole.size() - begin);
  const std::string piece = whole.substr(begin, whole.size() - begin - end);
  const auto of_size = [&](std::size_t bytes) {
    std::string text = whole.substr(0, begin);
    while (text.size() < bytes) text += piece;
    return text + whole.substr(whole.size() - end);
  };
  const std::string large = of_size(kSmall * kTimes);
  // Most are quick at once. A factor of four, and the best of three, leave room for a machine with other things to do.
  double slow = time_of(large, dialect);
  if (slow < 0.3) return 0;
  const double quick = time_of(of_size(kSmall), dialect);
  for (int i = 0; i < 2 && slow > 4 * kTimes * quick; ++i) {
    const double again = time_of(large, dialect);
    if (again < slow) slow = again;
  }
  if (slow <= 4 * kTimes * quick) return 0;
  std::fprintf(stderr, "dialect %d: %.3f s, and %.3f s for %zu times as much of '%s'\n", static_cast<int>(dialect), quick, slow,
               kTimes, piece.c_str());
  std::abort();
}
