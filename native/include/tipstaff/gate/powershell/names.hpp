// The names of PowerShell's cmdlets, their aliases, and their parameters.
#pragma once

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/cmdlet_names.hpp"

namespace tipstaff::gate::powershell {

struct Alias {
  std::string_view names, cmdlet;
};
inline constexpr Alias kAliases[] = {
    {"ri rm del rd rmdir erase remove-item", "remove-item"},
    {"gci ls dir get-childitem", "get-childitem"},
    {"sal nal set-alias new-alias", "set-alias"},
    {"si set-item", "set-item"},
    {"gi get-item rvpa resolve-path gl", "get-item"},
    {"gc cat type get-content", "get-content"},
    {"sc set-content ac add-content out-file tee-object tee export-csv epcsv export-clixml", "set-content"},
    {"clc clear-content", "clear-content"},
    {"ni new-item", "new-item"},
    {"cp copy cpi copy-item", "copy-item"},
    {"mv move mi move-item", "move-item"},
    {"ren rni rename-item", "rename-item"},
    {"kill spps stop-process", "stop-process"},
    {"spsv stop-service", "stop-service"},
    {"iex invoke-expression", "invoke-expression"},
    {"icm invoke-command", "invoke-command"},
    {"iwr curl wget invoke-webrequest", "invoke-webrequest"},
    {"irm invoke-restmethod", "invoke-restmethod"},
    {"saps start start-process", "start-process"},
    {"% foreach foreach-object", "foreach-object"},
    {"? where where-object", "where-object"},
    {"rp remove-itemproperty", "remove-itemproperty"},
    {"clp clear-itemproperty", "clear-itemproperty"},
    {"sp set-itemproperty", "set-itemproperty"},
    {"cd chdir sl set-location pushd push-location", "set-location"},
    {"echo write write-output write-host write-verbose write-error write-warning write-debug out-host oh", "write-output"},
    {"select select-object sort sort-object measure measure-object ft format-table fl format-list fw group group-object "
     "out-null out-string convertto-json convertfrom-json test-path split-path get-date get-process gps ps get-service gsv get-help man get-command gcm "
     "get-member gm import-module ipmo get-location pwd gal get-alias compare-object diff start-sleep sleep select-string sls write-progress "
     "get-variable gv new-object join-path param cls clear-host clear get-host read-host",
     "reads"},
};
inline constexpr std::string_view kParameters =
    "recurse force confirm whatif path literalpath filter include exclude driveletter number erroraction verbose name id argumentlist "
    "filepath verb scriptblock computername executionpolicy uri outfile infile method body headers destination value encoding append "
    "nonewline itemtype target removedata removeoem noprofile command encodedcommand scope file credential wait passthru inputobject process "
    "stream depth directory hidden usebasicparsing windowstyle property begin end full";
inline constexpr std::string_view kSwitches =
    "recurse force whatif confirm verbose append nonewline wait passthru usebasicparsing removedata removeoem noprofile directory hidden file_ "
    "asjob nonewwindow full";

// The first of `list` that `name` begins, so that the commonest come first; empty where there is none.
inline std::string_view spelled_out(std::string_view name, std::string_view list) noexcept {
  if (name.empty()) return {};
  for (std::size_t start = 0; start < list.size();) {
    std::size_t end = list.find(' ', start);
    if (end == std::string_view::npos) end = list.size();
    const std::string_view word = list.substr(start, end - start);
    if (word.size() >= name.size() && ascii::equals(name, word.substr(0, name.size()))) return word;
    start = end + 1;
  }
  return {};
}

inline std::string_view cmdlet_of(std::string_view name) noexcept {
  for (const Alias& alias : kAliases) {
    if (ascii::one_of(name, alias.names)) return alias.cmdlet;
  }
  return {};
}

}  // namespace tipstaff::gate::powershell
