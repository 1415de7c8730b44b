// Releases by their version, which are packed or unpacked again.
#pragma once

#include <algorithm>
#include <string_view>

#include "tipstaff/gate/paths/build_names.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::rules {

// A release by its version, $(NAME)-$(VERSION) or foo-${VERSION}: what such a folder is packed from or unpacked to.
inline bool is_release_by_variable(std::string_view written) noexcept {
  if (written.size() > 2 && written[0] == '"' && written.back() == '"') written = written.substr(1, written.size() - 2);
  // The name of the variable at `at`, which is set to what follows it; empty where there is none.
  const auto variable = [written](std::size_t* at) noexcept {
    std::size_t start = *at + 1;
    if (start >= written.size() || written[*at] != '$') return std::string_view();
    const char close = written[start] == '{' ? '}' : written[start] == '(' ? ')' : '\0';
    if (close != '\0') ++start;
    std::size_t end = start;
    while (end < written.size() && ascii::is_name(written[end])) ++end;
    if (close != '\0' && (end >= written.size() || written[end] != close)) return std::string_view();
    *at = close != '\0' ? end + 1 : end;
    return written.substr(start, end - start);
  };
  std::size_t at = 0;
  if (!written.empty() && written[0] == '$') {
    if (!ascii::one_of(variable(&at), "name package pkg pkgname package_name project project_name prog program progname distname app appname tarname pname")) return false;
  } else {
    while (at < written.size() && (ascii::is_name(written[at]) || (written[at] == '-' && at + 1 < written.size() && written[at + 1] != '$'))) ++at;
    for (std::size_t from = 0; from < at;) {
      const std::size_t to = std::min(at, written.find_first_of("-_", from));
      if (ascii::one_of(written.substr(from, to - from), kKeptNames)) return false;
      from = to + 1;
    }
  }
  if (at == 0 || at + 1 >= written.size() || written[at++] != '-') return false;
  const std::string_view version = variable(&at);
  if (!ascii::one_of(version, "v ver pkgver tag release rel vsn") && !ascii::ends_with(version, "version")) return false;
  return at == written.size() || (written[at] == '/' && at + 1 == written.size());
}

}  // namespace tipstaff::gate::rules
