// Reads PowerShell.
#include "tipstaff/gate/powershell/cmdlets.hpp"
#include "tipstaff/gate/powershell/commands.hpp"
#include "tipstaff/gate/powershell/expressions.hpp"
#include "tipstaff/gate/powershell/functions.hpp"
#include "tipstaff/gate/powershell/statements.hpp"
#include "tipstaff/gate/powershell/words.hpp"

namespace tipstaff::gate {

namespace {

// PowerShell takes typographic quotes and dashes (U+2013 to U+2015, U+2018 to U+201E) for those of ASCII. Returns the sign
// that stands at `at`, three bytes long, or NUL.
char typographic(std::string_view text, std::size_t at) noexcept {
  if (at + 2 >= text.size() || text[at] != '\xe2' || text[at + 1] != '\x80') return '\0';
  const auto last = static_cast<unsigned char>(text[at + 2]);
  return last >= 0x93 && last <= 0x95 ? '-' : last >= 0x98 && last <= 0x9b ? '\'' : last >= 0x9c && last <= 0x9e ? '"' : '\0';
}

}  // namespace

void read_powershell(Reader& reader, const Code& code, const Frame& frame) noexcept {
  Code plain = code;
  std::size_t room = 0;
  if (code.text.find("\xe2\x80") != std::string_view::npos) {
    if (char* const out = reader.tree->draft(&room); room >= code.text.size()) {
      std::size_t n = 0;
      for (std::size_t at = 0; at < code.text.size(); ++at) {
        const char sign = typographic(code.text, at);
        out[n++] = sign != '\0' ? sign : code.text[at];
        if (sign != '\0') at += 2;
      }
      if (n != code.text.size()) plain = {reader.tree->keep(n), code.origin, false};
    } else {
      reader.tree->set_full();
    }
  }
  powershell::PowerShell(reader, plain, frame).read();
}

}  // namespace tipstaff::gate
