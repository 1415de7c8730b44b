// How cmdlets of PowerShell are named: by an approved verb and a noun.
#pragma once

#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::powershell {

inline constexpr std::string_view kVerbs =
    "add approve backup block checkpoint clear close complete compress confirm connect convert copy debug deny disable "
    "disconnect dismount edit enable enter exit expand export find format get grant group hide import initialize install "
    "invoke join limit lock measure merge mount move new open optimize out ping pop protect publish push read receive "
    "redo register remove rename repair request reset resize resolve restart restore resume revoke save search select "
    "send set show skip split start step stop submit suspend switch sync test trace unblock undo uninstall unlock "
    "unprotect unpublish unregister update use wait watch write";

// Get-ChildItem, as people write a cmdlet's name.
inline bool is_cmdlet_name(std::string_view name) noexcept {
  const std::size_t hyphen = name.find('-');
  if (hyphen == std::string_view::npos || hyphen + 1 >= name.size() || name[0] < 'A' || name[0] > 'Z') return false;
  return name[hyphen + 1] >= 'A' && name[hyphen + 1] <= 'Z' && ascii::one_of(name.substr(0, hyphen), kVerbs);
}

}  // namespace tipstaff::gate::powershell
