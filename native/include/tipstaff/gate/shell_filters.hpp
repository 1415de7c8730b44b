// What filters make of a text that is known.
#pragma once

#include "tipstaff/gate/shell_prints.hpp"

namespace tipstaff::gate::shell {

// tr: sets of bytes and ranges; classes like [:upper:] are not followed.
inline bool ShellReader::translate(string_view text, const Invocation& in, string_view* made) noexcept {
  std::uint32_t i = 1;
  bool remove = false;
  for (; i < in.count && text_of(in, i).size() > 1 && text_of(in, i)[0] == '-'; ++i) {
    if (text_of(in, i) != "-d") return false;
    remove = true;
  }
  const auto expand = [&](string_view set, unsigned char* out) noexcept {
    std::size_t n = 0;
    for (std::size_t k = 0; k < set.size() && n < 256; ++k) {
      if (set[k] == '[' || set[k] == '\\') return std::size_t{0};
      if (k + 2 < set.size() && set[k + 1] == '-') {
        for (int c = static_cast<unsigned char>(set[k]); c <= static_cast<unsigned char>(set[k + 2]) && n < 256; ++c) {
          out[n++] = static_cast<unsigned char>(c);
        }
        k += 2;
      } else {
        out[n++] = static_cast<unsigned char>(set[k]);
      }
    }
    return n;
  };
  unsigned char from[256], to[256];
  if (i >= in.count || in.count - i != (remove ? 1u : 2u)) return false;
  const std::size_t n = expand(text_of(in, i), from), m = remove ? 1 : expand(text_of(in, i + 1), to);
  if (n == 0 || m == 0) return false;
  short map[256];
  for (int c = 0; c < 256; ++c) map[c] = static_cast<short>(c);
  for (std::size_t k = 0; k < n; ++k) map[from[k]] = remove ? -1 : to[k < m ? k : m - 1];
  std::size_t room = 0;
  char* out = tree_.draft(&room);
  if (room < text.size()) return false;
  std::size_t kept = 0;
  for (const char c : text) {
    const short put = map[static_cast<unsigned char>(c)];
    if (put >= 0) out[kept++] = static_cast<char>(put);
  }
  *made = tree_.keep(kept);
  return true;
}

}  // namespace tipstaff::gate::shell
