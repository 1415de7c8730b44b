// After which words a tool is given a command for another machine, or code of another dialect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/dialects.hpp"
#include "tipstaff/gate/tree/name_hash.hpp"
#include "tipstaff/gate/tree/command.hpp"

namespace tipstaff::gate::shell {

using std::string_view;

// One way into another machine. `verb`: words that come first, separated by blanks; `operands`: words between them and
// the command; `option`: a long option whose value is the command, and its letter.
struct RemoteVerb {
  string_view tool, verb;
  std::uint8_t operands;
  string_view short_values, long_values;
  string_view option = {};
  char letter = '\0';
  std::uint32_t via = via::kRemote;
};

inline constexpr RemoteVerb kRemoteVerbs[] = {
    {"heroku", "run", 0, "ase", "--app --size --env --remote --type"},
    {"heroku", "run:detached", 0, "ase", "--app --size --env --remote --type"},
    {"heroku", "run:inside", 1, "ase", "--app --size --env --remote"},
    {"heroku", "ps:exec", 0, "ads", "--app --dyno --remote"},
    {"heroku", "local:run", 0, "ep", "--env --port", {}, '\0', 0},
    {"fly", "ssh console", 0, "aCcorgstu", "--app --access-token --config --org --region --select --user --address --machine", "--command", 'C'},
    {"flyctl", "ssh console", 0, "aCcorgstu", "--app --access-token --config --org --region --select --user --address --machine", "--command", 'C'},
    {"fly", "machine exec", 1, "a", "--app --timeout"}, {"flyctl", "machine exec", 1, "a", "--app --timeout"},
    {"fly", "console", 0, "aC", "--app", "--command", 'C'},
    {"adb", "shell", 0, "sHPLte", ""}, {"adb", "exec-out", 0, "sHPLt", ""}, {"hdc", "shell", 0, "", ""},
    {"railway", "run", 0, "ses", "--service --environment --project", {}, '\0', 0},
    {"railway", "ssh", 0, "sep", "--service --environment --project"},
    {"scalingo", "run", 0, "a", "--app --region --size"}, {"clever", "ssh", 0, "", "", "--command", 'c'},
    {"cf", "ssh", 0, "iLp", "", "--command", 'c'}, {"eb", "ssh", 0, "ne", "--number --profile", "--command", 'c'},
    {"dokku", "run", 1, "", "--cron-id"}, {"dokku", "enter", 2, "", ""}, {"convox", "run", 1, "ars", "--app --rack"},
    {"convox", "exec", 1, "ars", "--app --rack"}, {"porter", "app", 2, "", ""}, {"kamal", "app exec", 0, "rdce", "--roles --hosts --reuse --version"},
    {"kamal", "server exec", 0, "rh", "--roles --hosts"}, {"kamal", "accessory exec", 1, "", "--hosts"},
    {"lando", "ssh", 0, "su", "--service --user", "--command", 'c'}, {"ddev", "exec", 0, "sd", "--service --dir", {}, '\0', via::kContainer},
    {"ddev", "ssh", 0, "s", "--service", "--command", 'c', via::kContainer},
    {"multipass", "exec", 1, "d", "--working-directory"}, {"limactl", "shell", 1, "", "--workdir --shell"},
    {"lima", "", 0, "", "--workdir"}, {"colima", "ssh", 0, "p", "--profile"}, {"orb", "run", 0, "muw", "--machine --user --workdir"},
    {"incus", "exec", 1, "", "--cwd --env --user --group", {}, '\0', via::kContainer},
    {"minikube", "ssh", 0, "pn", "--profile --node"}, {"docker-machine", "ssh", 1, "", ""}, {"kind", "exec", 1, "", ""},
    {"gh", "codespace ssh", 0, "cR", "--codespace --profile --repo --server-port"}, {"gh", "cs ssh", 0, "cR", "--codespace --profile --repo --server-port"},
    {"coder", "ssh", 1, "", "--wait --identity-agent"}, {"devpod", "ssh", 1, "", "--user --workdir", "--command", '\0'},
    {"nomad", "alloc exec", 1, "e", "-task -address -region -namespace -token -group"}, {"nomad", "exec", 1, "e", "-task -address -region -namespace"},
    {"pct", "exec", 1, "", ""}, {"qm", "guest exec", 1, "", "--timeout"}, {"crictl", "exec", 1, "", "--timeout", {}, '\0', via::kContainer | via::kRemote},
    {"ctr", "task exec", 1, "n", "--exec-id --cwd --user --namespace", {}, '\0', via::kContainer},
    {"ctr", "tasks exec", 1, "n", "--exec-id --cwd --user --namespace", {}, '\0', via::kContainer}, {"ctr", "t exec", 1, "n", "--exec-id --cwd --user --namespace", {}, '\0', via::kContainer},
    {"mco", "shell run", 0, "FITSC", "--with-fact --with-identity"}, {"buildah", "run", 1, "v", "--volume --user --workingdir --env --mount", {}, '\0', via::kContainer},
    {"buildah", "unshare", 0, "m", "--mount", {}, '\0', 0}, {"pueue", "add", 0, "wagdpl", "--working-directory --after --group --delay --priority --label", {}, '\0', 0},
    {"launchctl", "submit", 0, "lpoe", "", {}, '\0', 0}, {"i3-msg", "exec", 0, "", "", {}, '\0', 0}, {"swaymsg", "exec", 0, "", "", {}, '\0', 0},
    {"hyprctl", "dispatch exec", 0, "", "", {}, '\0', 0}, {"sops", "exec-env", 1, "", "--user", {}, '\0', 0}, {"sops", "exec-file", 1, "", "--user --filename", {}, '\0', 0}, {"jexec", "", 1, "uU", "", {}, '\0', via::kContainer},
    {"machinectl", "shell", 1, "", "--uid --setenv", {}, '\0', via::kContainer}, {"systemd-nspawn", "", 0, "DMiu", "--directory --machine --image --user --bind", {}, '\0', via::kContainer},
    {"schroot", "", 0, "cus", "--chroot --user --directory", {}, '\0', via::kContainer},
    {"devcontainer", "exec", 0, "", "--workspace-folder --config --container-id", {}, '\0', via::kContainer},
    {"bolt", "command run", 0, "tniu", "--targets --inventory --user"}, {"knife", "ssh", 1, "xPi", "--ssh-user --attribute"},
    {"repo", "forall", 0, "", "", "--command", 'c', 0}, {"lerna", "exec", 0, "", "--scope --ignore --concurrency --since", {}, '\0', 0},
    {"cdist", "exec", 0, "", ""}, {"pyinfra", "", 1, "", ""}, {"az", "webapp ssh", 0, "gn", "--resource-group --name", "--command", '\0'},
    {"ibmcloud", "dev shell", 0, "", ""}, {"doctl", "compute ssh", 0, "", "", "--ssh-command", '\0'},
    {"kubectl", "node-shell", 1, "", ""}, {"teleport", "ssh", 1, "", ""}, {"waypoint", "exec", 0, "", ""},
    {"platform", "ssh", 0, "peA", "--project --environment --app"}, {"upsun", "ssh", 0, "peA", "--project --environment --app"},
    {"terminus", "remote:wp", 1, "", ""}, {"acli", "remote:ssh", 1, "", ""}, {"symfony", "ssh", 0, "pe", "--project --environment"},
    {"sail", "exec", 1, "", "", {}, '\0', via::kContainer}, {"sail", "shell", 0, "", "", "--command", 'c', via::kContainer},
    {"winrs", "", 0, "", ""}, {"psexec", "", 1, "up", ""}, {"psexec64", "", 1, "up", ""}, {"paexec", "", 1, "up", ""},
    {"virt-customize", "", 0, "ad", "--add --domain", "--run-command", '\0', via::kContainer},
};

// Code of another dialect that a tool is given: after a verb, or as an option's value.
struct CodeVerb {
  string_view tool, verb, option;
  char letter;
  Dialect dialect;
};

inline constexpr CodeVerb kCodeVerbs[] = {
    {"rails", "runner", {}, '\0', Dialect::ruby}, {"rails", "r", {}, '\0', Dialect::ruby}, {"rails", "console", {}, '\0', Dialect::ruby},
    {"rails", "c", {}, '\0', Dialect::ruby}, {"spring", "rails runner", {}, '\0', Dialect::ruby}, {"irb", "", {}, '\0', Dialect::ruby},
    {"pry", "", "--exec", 'e', Dialect::ruby}, {"artisan", "tinker", "--execute", '\0', Dialect::php},
    {"manage.py", "shell", "--command", 'c', Dialect::python}, {"manage.py", "shell_plus", "--command", 'c', Dialect::python},
    {"django-admin", "shell", "--command", 'c', Dialect::python}, {"django", "shell", "--command", 'c', Dialect::python}, {"flask", "shell", {}, '\0', Dialect::python},
    {"sage", "", "--command_", 'c', Dialect::python}, {"blender", "", "--python-expr", '\0', Dialect::python}, {"freecadcmd", "", "--console_", 'c', Dialect::python},
    {"hython", "", "--command_", 'c', Dialect::python}, {"mayapy", "", "--command_", 'c', Dialect::python}, {"pvpython", "", "--command_", 'c', Dialect::python},
    {"jython", "", "--command_", 'c', Dialect::python}, {"micropython", "", "--command_", 'c', Dialect::python}, {"graalpy", "", "--command_", 'c', Dialect::python},
    {"bpython", "", "--command_", 'c', Dialect::python}, {"hy", "", "--command_", 'c', Dialect::python}, {"gimp", "", "--batch", 'b', Dialect::python}, {"scrapy", "shell", "--command_", 'c', Dialect::python},
    {"odoo", "shell", {}, '\0', Dialect::python}, {"odoo-bin", "shell", {}, '\0', Dialect::python}, {"superset", "shell", {}, '\0', Dialect::python}, {"nautobot-server", "nbshell", "--command", 'c', Dialect::python},
    {"mruby", "", "--eval_", 'e', Dialect::ruby}, {"truffleruby", "", "--eval_", 'e', Dialect::ruby}, {"hanami", "console", {}, '\0', Dialect::ruby}, {"chef-shell", "", {}, '\0', Dialect::ruby},
    {"jrunscript", "", "--eval_", 'e', Dialect::node}, {"rhino", "", "--eval_", 'e', Dialect::node}, {"qjs", "", "--eval", 'e', Dialect::node}, {"d8", "", "--eval_", 'e', Dialect::node}, {"electron", "", "--eval_", 'e', Dialect::node},
    {"frida", "", "--eval", 'e', Dialect::node}, {"tjs", "eval", {}, '\0', Dialect::node}, {"llrt", "", "--eval", 'e', Dialect::node},
    {"hhvm", "", "--eval_", 'r', Dialect::php}, {"frankenphp", "php-cli", "--run", 'r', Dialect::php}, {"n98-magerun2", "dev:console", {}, '\0', Dialect::php}, {"osqueryi", "", {}, '\0', Dialect::sql},
    {"gitlab-rails", "runner", {}, '\0', Dialect::ruby}, {"gitlab-rails", "r", {}, '\0', Dialect::ruby},
    {"console", "doctrine:query:sql", {}, '\0', Dialect::sql}, {"console", "dbal:run-sql", {}, '\0', Dialect::sql},
    {"wp", "eval", {}, '\0', Dialect::php}, {"wp", "shell", {}, '\0', Dialect::php}, {"drush", "php:eval", {}, '\0', Dialect::php}, {"drush", "ev", {}, '\0', Dialect::php},
    {"drush", "eval", {}, '\0', Dialect::php}, {"psysh", "", {}, '\0', Dialect::php},
    {"wp", "db query", {}, '\0', Dialect::sql}, {"drush", "sql:query", {}, '\0', Dialect::sql}, {"drush", "sqlq", {}, '\0', Dialect::sql},
    {"manage.py", "dbshell", "--command", 'c', Dialect::sql}, {"django-admin", "dbshell", "--command", 'c', Dialect::sql},
    {"fly", "postgres connect", {}, '\0', Dialect::sql}, {"flyctl", "postgres connect", {}, '\0', Dialect::sql}, {"fly", "pg connect", {}, '\0', Dialect::sql},
    {"pscale", "shell", {}, '\0', Dialect::sql}, {"heroku", "pg:psql", "--command", 'c', Dialect::sql}, {"prisma", "db execute", {}, '\0', Dialect::sql},
    {"wrangler", "d1 execute", "--command", '\0', Dialect::sql}, {"turso", "db shell", {}, '\0', Dialect::sql},
    {"supabase", "db execute", {}, '\0', Dialect::sql}, {"n98-magerun2", "db:query", {}, '\0', Dialect::sql},
    {"ddev", "mysql", "--execute", 'e', Dialect::sql}, {"lando", "mysql", "--execute", 'e', Dialect::sql}, {"dbt", "run-operation", {}, '\0', Dialect::sql},
    {"snow", "sql", "--query", 'q', Dialect::sql}, {"databricks", "sql", {}, '\0', Dialect::sql}, {"dolt", "sql", "--query", 'q', Dialect::sql},
    {"rqlite", "", {}, '\0', Dialect::sql}, {"surreal", "sql", {}, '\0', Dialect::sql}, {"gel", "query", {}, '\0', Dialect::sql}, {"edgedb", "query", {}, '\0', Dialect::sql},
};

// The first words of a tool's verbs, by the tool's hash: `test` of each until one is true. Whether one was; a verb of no
// words is an empty one.
class VerbTools {
 public:
  constexpr VerbTools() : remote_{}, code_{} {
    for (std::size_t i = 0; i < kRemote; ++i) remote_[i] = hash_name(kRemoteVerbs[i].tool);
    for (std::size_t i = 0; i < kCode; ++i) code_[i] = hash_name(kCodeVerbs[i].tool);
  }
  template <typename Test>
  bool any(std::uint32_t tool, Test test) const noexcept {
    for (std::size_t i = 0; i < kRemote; ++i)
      if (remote_[i] == tool && test(first_of(kRemoteVerbs[i].verb))) return true;
    for (std::size_t i = 0; i < kCode; ++i)
      if (code_[i] == tool && test(first_of(kCodeVerbs[i].verb))) return true;
    return false;
  }

 private:
  static constexpr std::size_t kRemote = sizeof kRemoteVerbs / sizeof kRemoteVerbs[0], kCode = sizeof kCodeVerbs / sizeof kCodeVerbs[0];
  static constexpr string_view first_of(string_view verb) noexcept { return verb.substr(0, verb.find(' ')); }

  std::uint32_t remote_[kRemote], code_[kCode];
};
inline constexpr VerbTools kVerbTools;

}  // namespace tipstaff::gate::shell
