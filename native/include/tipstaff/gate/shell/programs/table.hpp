// The programs that a reader of commands must know: those that run, carry or make code, and those whose output is
// known. What a program destroys is none of this table's business; rules say that.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/name_hash.hpp"
#include "tipstaff/gate/shell/language/bytes.hpp"
#include "tipstaff/gate/shell/tables/program_rows.hpp"

namespace tipstaff::gate::shell {

inline constexpr Row kRows[] = {
    // Wrappers: one command follows.
    {Handler::prefix, "sudo", "ugpCchrtTRDU",
     "--user --group --prompt --close-from --chdir --host --role --type --command-timeout --chroot --other-user",
     0, via::kSudo},
    {Handler::prefix, "doas", "Cu", "", 0, via::kSudo},
    {Handler::prefix, "pkexec", "", "--user", 0, via::kSudo},
    {Handler::prefix, "gosu su-exec s6-setuidgid", "", "", 1, via::kSudo},
    {Handler::prefix, "setpriv", "", "--reuid --regid --groups", 0, via::kSudo},
    {Handler::prefix, "chpst", "uUbenmodfpcrtl/"},
    {Handler::env, "env", "uC", "--unset --chdir"},
    {Handler::prefix, "exec", "a"},
    {Handler::prefix, Output::which, "command"},
    {Handler::prefix, "builtin nohup setsid unbuffer valgrind firejail busybox toybox systemd-inhibit catchsegv entr cross-env "
     "chronic arch shx pgrphack eatmydata rootlesskit fakeroot-ng"},
    {Handler::prefix, "nice", "n", "--adjustment"},
    {Handler::prefix, "ionice", "cnpPu", "--class --classdata"},
    {Handler::prefix, "chrt", "TPD", "", 1},
    {Handler::prefix, "taskset setarch faketime datefudge setuidgid envuidgid envdir", "", "", 1},
    {Handler::prefix, "cgexec", "g", "--sticky"},
    {Handler::prefix, "numactl", "mNCip", "--membind --cpunodebind --physcpubind --interleave"},
    {Handler::prefix, "timeout gtimeout", "ks", "--kill-after --signal", 1},
    {Handler::prefix, "stdbuf", "ioe", "--input --output --error"},
    {Handler::prefix, "rlwrap", "abcDfFgHilnpPqstz"},
    {Handler::prefix, "time", "fo", "--format --output"},
    {Handler::prefix, "strace", "eopsuaEPIOSUbX"},
    {Handler::prefix, "ltrace", "eopsuaAnlFxD"},
    {Handler::prefix, "chroot", "", "--userspec --groups", 1, via::kContainer},
    {Handler::prefix, "arch-chroot", "u", "", 1, via::kContainer},
    {Handler::prefix, "unshare", "RwSG", "--root --wd --setuid --setgid --map-user --map-group"},
    {Handler::prefix, "nsenter", "tSGW", "--target --setuid --setgid"},
    {Handler::prefix, "fakeroot", "lisb"},
    {Handler::prefix, "proot", "rbwqkS"},
    {Handler::prefix, "bwrap", "", "--chdir --dev --proc --tmpfs --dir --uid --gid --hostname"},
    {Handler::prefix, "cpulimit", "lpPe", "--limit --pid"},
    {Handler::prefix, "prlimit", "po", "--pid --output"},
    {Handler::prefix, "xvfb-run", "efnpsw", "--server-num --server-args --error-file"},
    {Handler::prefix, "dbus-run-session", "", "--config-file --dbus-daemon"},
    {Handler::prefix, "systemd-run", "tpuMHEC",
     "--unit --property --description --slice --on-active --on-boot --on-calendar --uid --gid --setenv --machine", 0,
     via::kScheduled},
    {Handler::prefix, "caffeinate", "tw"},
    {Handler::prefix, "torsocks", "uaP"},
    {Handler::prefix, "proxychains proxychains4", "f"},
    {Handler::prefix, "gdb", "xcspn", "--command --symbols --core --pid -ex -iex"},
    {Handler::prefix, "lldb", "sSkKop"},
    {Handler::prefix, "dumb-init", "r"},
    {Handler::prefix, "tini", "pe"},
    {Handler::prefix, "daemonize", "aceEoplu", "", 0, via::kBackground},
    {Handler::prefix, "npx bunx pnpx", "p", "--package"},
    {Handler::prefix, "uvx", "p", "--from --with --python"},
    {Handler::tool, "pipx dotenvx"},
    {Handler::prefix, "dotenv", "ef"},
    {Handler::prefix, "retry", "tdsm", "--times --delay --tries --max"},
    {Handler::prefix, "dtach", "er", "", 1},
    {Handler::prefix, "abduco", "e", "", 1},
    {Handler::prefix, "run0", "ugD", "--user --group --unit --property --description --chdir --setenv", 0, via::kSudo},
    {Handler::prefix, "runcon", "turl", "--type --user --role --range"},
    {Handler::prefix, "softlimit", "acdflmoprst"},
    {Handler::prefix, "fakechroot", "ceb"},
    {Handler::prefix, "heaptrack", "o", "--output"},
    {Handler::prefix, "daemon", "nDPFCLOEoUuer", "--name --chdir --pidfile --user --output", 0, via::kBackground},
    {Handler::prefix, "tsp", "LNDdWOE", "", 0, via::kBackground},
    {Handler::prefix, "nq", "", "", 0, via::kBackground},
    {Handler::prefix, "srun", "nNtpcGJoewACDi",
     "--ntasks --nodes --time --partition --job-name --output --error --gres --mem --account --cpus-per-task "
     "--chdir --nodelist"},
    {Handler::prefix, "mpirun mpiexec", "nxHN",
     "-np --np -c -host --host --hostfile -hostfile -machinefile --map-by --bind-to --mca -mca -wdir -ppn"},
    {Handler::prefix, "qsub", "bNqoejlpPSvw", "-pe", 0, via::kBackground},
    {Handler::prefix, "kitty", "cdoT", "--config --title --directory --override"},
    {Handler::prefix, "foot", "cfTaWw", "--config --font --title --app-id"},
    // A command after one word of theirs.
    {Handler::rest, "xterm urxvt rxvt st konsole ghostty x-terminal-emulator", "", "-e"},
    {Handler::rest, "alacritty lxterminal", "", "-e --command"},
    {Handler::rest, "terminator xfce4-terminal", "", "-x -e --command --execute"},
    {Handler::rest, "tilix", "", "-e -x --command"},
    {Handler::rest, "mate-terminal", "", "-x -e --command --execute --"},
    {Handler::rest, "gnome-terminal", "", "-x -e --command --"},
    {Handler::rest, "wezterm", "", "-e --"},
    {Handler::rest, "capsh", "", "-c"},
    {Handler::rest, "start-stop-daemon", "", "--exec --startas -x -a"},
    {Handler::rest, "samply rr", "", "record"},
    {Handler::rest, "uftrace", "", "record live"},
    {Handler::prefix, "ld.so ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1", "",
     "--library-path --preload --argv0"},
    {Handler::node, "ts-node tsx"},
    // Tools with a word for it: poetry run, bundle exec ...
    {Handler::tool, "poetry pipenv uv hatch pdm rye conda mamba micromamba bundle op doppler aws-vault chamber perf nix wsl "
     "distrobox toolbox ip infisical foreman nvm volta tsh zellij devbox teller"},
    {Handler::tool, Output::trusted, "rbenv pyenv nodenv mise asdf direnv"},
    {Handler::prefix, "flatpak-spawn"},
    {Handler::elsewhere, "heroku"},
    {Handler::prefix, "envchain", "", "", 1},
    // Shell code as an option's value, or as operands.
    {Handler::code_option, "su", "gGsw", "", 0, via::kSudo},
    {Handler::code_option, "runuser", "ugGsw", "", 0, via::kSudo},
    {Handler::code_option, "sg", "", "", 0, via::kSudo},
    {Handler::code_option, "newgrp expect"},
    {Handler::code_option, "script", "EImoOBTt"},
    {Handler::code_option, "flock", "wE", "--timeout --wait --conflict-exit-code", 1},
    {Handler::code_option, "vagrant ansible gcloud", "", "", 0, via::kRemote},
    {Handler::code_option, "nix-shell", "pAIE"},
    {Handler::joined, "rush", "jDdknrtTi", "--jobs --record-delimiter --field-delimiter --nrecords"},
    {Handler::joined, "bsub", "qnoeJRWMPGwmi", "", 0, via::kBackground},
    {Handler::joined, "salt-ssh", "tbc", "--timeout --batch-size --roster-file", 2, via::kRemote},
    {Handler::joined, "salt-call", "lcg", "--log-level --config-dir", 1},
    {Handler::joined, "watch", "nq", "--interval --equexit"},
    {Handler::joined, "hyperfine", "wrmMpcsSnuLPDN",
     "--warmup --runs --min-runs --max-runs --prepare --cleanup --setup --shell --command-name --export-json "
     "--export-csv --export-markdown --parameter-list"},
    {Handler::joined, "concurrently", "ncsplm",
     "--names --name --prefix-colors --prefixColors --prefix --prefix-length --name-separator --max-processes "
     "--maxProcesses --success --restart-tries --restart-after --kill-signal --teardown --hide"},
    {Handler::joined, "pdsh", "wxlfutSR", "", 0, via::kRemote},
    {Handler::joined, "pssh parallel-ssh", "hHlptoexX", "--hosts --host --user --par --timeout", 0, via::kRemote},
    {Handler::joined, "clush", "wgxfl", "", 0, via::kRemote},
    {Handler::joined, "dsh", "gmfr", "", 0, via::kRemote},
    {Handler::joined, "salt", "tbc", "--timeout --batch-size", 2, via::kRemote},
    // Programs that they start, named by an option.
    {Handler::option_code, Output::cat, "batcat", "", "--pager"},
    {Handler::option_code, "delta", "", "--pager"},
    {Handler::option_code, "svn", "", "--editor-cmd --diff-cmd --diff3-cmd"},
    {Handler::option_code, "dpkg", "", "--pre-invoke --post-invoke --status-logger"},
    {Handler::option_code, "rpm", "", "--pipe --eval -E"},
    {Handler::option_code, "tcpdump", "", "-z"},
    {Handler::option_code, "openvpn", "", "--up --down --route-up --ipchange --tls-verify --client-connect"},
    {Handler::option_code, "rdiff-backup", "", "--remote-schema"},
    {Handler::option_code, "restic rclone", "", "--password-command"},
    {Handler::option_code, "borg", "", "--rsh"},
    {Handler::option_code, "cpio", "", "--rsh-command"},
    {Handler::option_code, "sbatch", "", "--wrap"},
    {Handler::option_code, "bpftrace", "", "-c"},
    {Handler::option_code, "chokidar", "", "-c --command"},
    {Handler::option_code, "compgen complete", "", "-C"},
    {Handler::option_code, "hg", "", "--config"},
    {Handler::option_code, "apt apt-get", "", "-o --option"},
    {Handler::option_code, "aptitude", "", "-o"},
    {Handler::option_code, "sdiff diff3", "", "--diff-program"},
    {Handler::joined, "watchexec", "wWeiofdsEjN",
     "--watch --exts --ignore --filter --signal --stop-signal --stop-timeout --debounce --delay-run --env "
     "--project-origin --workdir --shell --emit-events-to"},
    {Handler::code_option, "man zip"},
    {Handler::code_option, "nodemon", "wei", "--watch --ext --ignore"},
    // Shells and their builtins.
    {Handler::shell, "sh bash zsh dash ksh mksh ash rbash fish csh tcsh yash"},
    {Handler::eval, "eval"},
    {Handler::source, "source ."},
    {Handler::builtin, Output::empty, "cd chdir export declare typeset local readonly unset set shift read mapfile "
     "readarray alias trap hash"},
    {Handler::none, Output::empty, "let : true false test [ [[ sleep mkdir touch exit return break continue wait umask shopt "
     "chmod rm"},
    // What is printed for certain.
    {Handler::none, Output::echo, "echo"},
    {Handler::builtin, Output::unknown, "pushd popd"},
    {Handler::builtin, Output::printf, "printf"},
    {Handler::none, Output::cat, "cat"},
    {Handler::none, Output::filter, "tac head tail grep egrep fgrep uniq cut shuf gunzip zcat gzip xz zstd bzip2 bunzip2 fold "
     "envsubst"},
    {Handler::option_code, Output::cat, "bat", "", "--pager"},
    {Handler::none, Output::base64, "base64 gbase64 openssl"},
    {Handler::none, Output::hex, "xxd"},
    {Handler::none, Output::reverse, "rev"},
    {Handler::option_code, Output::filter, "rg", "", "--pre --hostname-bin"},
    {Handler::option_code, Output::filter, "sort", "", "--compress-program"},
    {Handler::none, Output::translate, "tr"},
    {Handler::none, Output::same, "dos2unix pv"},
    {Handler::tee, Output::empty, "sponge"},
    {Handler::none, Output::pwd, "pwd"},
    {Handler::none, Output::dirname, "dirname"},
    {Handler::none, Output::basename, "basename"},
    {Handler::none, Output::realpath, "realpath readlink"},
    {Handler::none, Output::mktemp, "mktemp"},
    {Handler::none, Output::which, "which type whereis"},
    {Handler::none, Output::list, "ls"},
    {Handler::none, Output::yes, "yes"},
    // Code that a program is there to print, to be evaluated.
    {Handler::prefix, Output::trusted, "ssh-agent", "aEOPt"},
    {Handler::none, Output::trusted, "brew starship zoxide fnm opam dircolors lesspipe keychain gpg-agent thefuck "
     "register-python-argcomplete luarocks atuin resize tset jenv"},
    {Handler::elsewhere, Output::trusted, "minikube docker-machine"},
    {Handler::option_code, Output::trusted, "fzf", "", "--preview --with-shell --bind"},
    {Handler::alias, "gh"},
    // Commands for another machine, code for an application: elsewhere.hpp.
    {Handler::elsewhere, "fly flyctl adb hdc railway scalingo clever cf eb dokku convox porter kamal lando ddev multipass limactl "
     "lima colima orb incus coder devpod doctl mco buildah pueue launchctl i3-msg swaymsg hyprctl sops glab nomad pct qm crictl "
     "ctr jexec machinectl systemd-nspawn schroot devcontainer bolt knife pyinfra ibmcloud teleport waypoint platform upsun "
     "terminus acli symfony sail virt-customize rails spring irb pry artisan manage.py django-admin django pscale flask wp drush "
     "winrs psexec psexec64 paexec "
     "sage blender freecadcmd hython mayapy pvpython jython micropython graalpy bpython gimp scrapy odoo odoo-bin superset nautobot-server mruby truffleruby hanami "
     "chef-shell jrunscript rhino qjs d8 electron frida tjs llrt hhvm frankenphp osqueryi psysh prisma wrangler turso supabase n98-magerun2 snow databricks dolt edgedb gel repo lerna gitlab-rails console"},
    {Handler::playbook, "ansible-playbook ansible-console"},
    // Sources that are compiled and run on the spot.
    {Handler::compiler, "gcc cc clang tcc rustc go javac java kotlinc zig dart dotnet csc mcs gfortran fpc ldc2 dmd v rust-script "
     "cargo odin hare swiftc rdmd instantfpc"},
    {Handler::inline_code, "mix iex"},
    // More commands from input or operands.
    {Handler::parallel, "sem parallel"},
    {Handler::xargs, "xargs gxargs"},
    {Handler::find, Output::find, "find gfind"},
    {Handler::fd, Output::find, "fd fdfind"},
    {Handler::ssh, "ssh mosh autossh"},
    {Handler::prefix, "sshpass", "pfdP"},
    {Handler::none, "scp"},
    {Handler::container, "docker podman nerdctl docker-compose podman-compose lxc"},
    {Handler::kubectl, "kubectl oc"},
    {Handler::prefix, "k3s"},
    {Handler::git, Output::git, "git"},
    {Handler::cmake, "cmake"},
    {Handler::node, "zx"},
    {Handler::make, "make gmake"},
    {Handler::package, "npm yarn pnpm"},
    {Handler::just, "just"},
    {Handler::build, "rake ant gradle mvn rmlint task go-task"},
    {Handler::none, Output::compiled, "esbuild babel tsc swc"},
    {Handler::at, "at batch"},
    {Handler::crontab, "crontab"},
    {Handler::editor, "vim vi nvim ex view gvim ed less more ftp lftp dc bc"},
    {Handler::inline_code, "emacs emacsclient tclsh wish"},
    {Handler::cloud, "fab aws az terraform tofu opentofu"},
    {Handler::tar, "tar gtar bsdtar split gsplit"},
    {Handler::rsync, "rsync"},
    {Handler::terminal, "tmux screen byobu"},
    {Handler::sed, Output::filter, "sed gsed"},
    {Handler::tee, Output::same, "tee"},
    {Handler::download, Output::remote, "curl wget fetch aria2c http https xh xhs curlie awscurl"},
    {Handler::none, Output::remote, "lynx w3m dig"},
    {Handler::socket, Output::remote, "nc ncat netcat telnet socat"},
    {Handler::copy, Output::empty, "cp mv ln install"},
    {Handler::copy, "dd"},
    {Handler::patch, "patch"},
    // Code of other dialects.
    {Handler::python, "python python2 python3 pypy pypy3 ipython"},
    {Handler::node, "node nodejs deno bun"},
    {Handler::perl, "perl"},
    {Handler::ruby, "ruby jruby"},
    {Handler::inline_code, "lua lua5.1 lua5.2 lua5.3 lua5.4 luajit texluajit hy utop rscript raku clj jshell r julia groovy elixir erl ghc runghc guile sbcl osascript swift "
     "scala kotlin gnuplot octave racket clojure bb joker nbb csharprepl gore yaegi evcxr ocaml nim crystal octave-cli matlab maxima gp gap scilab scilab-cli scilab-adv-cli wolframscript math csi "
     "chibi-scheme gosh ecl clisp ccl abcl mit-scheme janet fennel factor gforth swipl gprolog yap pike jimsh texlua luau rep escript amm scala-cli raco newlisp jconsole "
     "dyalog apl chez scheme io qore falcon kotlinc-jvm jython-console rakudo littler frege eta idl gdl m4 erb "
     "pdflatex latex tex pdftex xelatex xetex lualatex luatex luahbtex latexmk tectonic j2 jinja2 jinjanate minijinja-cli ejs mustache handlebars hbs pug "
     "nunjucks eta liquid gomplate tera mako-render cheetah haml slimrb"},
    {Handler::code_option, "nu xonsh elvish"},
    {Handler::php, "php"},
    {Handler::awk, Output::filter, "awk gawk mawk nawk"},
    {Handler::sql, "psql ysqlsh", "dhpUvFRPTLoVf", "--dbname --host --port --username --set --variable --output"},
    {Handler::sql, "ycqlsh cqlsh", "upk"},
    {Handler::sql, "gsql", "dhpUvF", "--dbname --host --port --username"},
    {Handler::sql, "pgcli", "dhpUu", "--host --port --username --user --dbname"},
    {Handler::sql, "mysql mariadb", "uhPDS", "--user --host --port --database --socket"},
    {Handler::sql, "mycli", "uhPD", "--user --host --port --database"},
    {Handler::sql, "sqlite3", "", "-separator -cmd -init -newline -nullvalue"},
    {Handler::sql, "sqlite", "", "-separator -cmd -init"},
    {Handler::sql, "litecli bq sqlplus hive spark-sql isql"},
    {Handler::sql, "sqlcmd", "SUPdDlt"},
    {Handler::sql, "duckdb", "", "-separator -init -newline -nullvalue"},
    {Handler::sql, "clickhouse-client clickhouse", "hdu", "--host --port --user --password --database"},
    {Handler::sql, "cockroach", "du", "--url --host --database --user"},
    {Handler::sql, "usql", "vFR"},
    {Handler::sql, "snowsql", "acudswr"},
    {Handler::sql, "trino presto", "", "--server --catalog --schema --user"},
    {Handler::sql, "beeline", "unpd"},
    {Handler::sql, "impala-shell", "iduks", "--impalad --database --user"},
    {Handler::sql, "vsql", "hpdUw", "--host --port --dbname --username"},
    {Handler::none, "d1"},
    {Handler::redis, "redis-cli valkey-cli"},
    {Handler::mongo, "mongosh mongo"},
    {Handler::powershell, "powershell pwsh"},
    {Handler::cmd, "cmd"},
};

constexpr std::uint32_t count_programs() {
  std::uint32_t count = 0;
  for (const Row& row : kRows) {
    ++count;
    for (const char c : row.names) count += c == ' ' ? 1 : 0;
  }
  return count;
}

constexpr std::uint32_t kProgramCount = count_programs();

constexpr std::array<Program, kProgramCount> make_programs() {
  std::array<Program, kProgramCount> programs{};
  std::uint32_t count = 0;
  for (const Row& row : kRows) {
    for (string_view names = row.names; !names.empty();) {
      const std::size_t blank = names.find(' ');
      programs[count] = row.program;
      programs[count++].name = names.substr(0, blank);
      names.remove_prefix(blank == string_view::npos ? names.size() : blank + 1);
    }
  }
  return programs;
}

inline constexpr std::array<Program, kProgramCount> kPrograms = make_programs();
constexpr std::uint32_t kProgramSlots = 1024;

constexpr std::array<std::uint16_t, kProgramSlots> make_program_index() {
  std::array<std::uint16_t, kProgramSlots> index{};
  for (std::uint32_t i = 0; i < kProgramCount; ++i) {
    std::uint32_t slot = hash_name(kPrograms[i].name) % kProgramSlots;
    while (index[slot] != 0) slot = (slot + 1) % kProgramSlots;
    index[slot] = static_cast<std::uint16_t>(i + 1);
  }
  return index;
}

inline constexpr std::array<std::uint16_t, kProgramSlots> kProgramIndex = make_program_index();
inline constexpr Program kOtherProgram{};

// `hash`: of the name.
inline const Program& find_program(string_view name, std::uint32_t hash) noexcept {
  std::uint32_t slot = hash % kProgramSlots;
  while (kProgramIndex[slot] != 0) {
    const Program& program = kPrograms[kProgramIndex[slot] - 1];
    if (ascii::same_bytes(program.name, name)) return program;
    slot = (slot + 1) % kProgramSlots;
  }
  return kOtherProgram;
}
inline const Program& find_program(string_view name) noexcept { return find_program(name, hash_name(name)); }

// What a glob or an unknown word in a program's place is tried against: programs that do harm, the worst first.
inline constexpr string_view kFeared[] = {
    "rm",   "dd",   "sh",    "bash",  "mkfs",     "shred",  "chmod",  "chown",   "find",  "git",      "mv",     "kill",
    "sudo", "curl", "wget",  "nc",    "python3",  "python", "perl",   "truncate", "unlink", "rmdir",  "shutdown", "reboot",
    "halt", "poweroff", "kubectl", "docker", "terraform", "psql", "mysql", "wipefs", "fdisk", "parted", "killall", "pkill",
    "systemctl", "iptables", "crontab", "ssh", "scp", "rsync", "tar", "cp", "ln", "cat", "tee", "env", "xargs", "eval",
};

// zsh's zf_rm, and the g that GNU's tools have beside those of a BSD: how many bytes come before the tool's own name.
inline std::size_t foreign_prefix(string_view name) noexcept {
  if (name.size() < 3 || (name[0] != 'g' && name[0] != 'z')) return 0;
  if (name[0] == 'g') return one_of(name.substr(1), "rm mv cp ln dd chmod chown chgrp rmdir shred truncate unlink install tee") ? 1 : 0;
  return name[1] == 'f' && name[2] == '_' && one_of(name.substr(3), "rm mv ln chmod chown chgrp rmdir") ? 3 : 0;
}

// Words after which a tool that nobody knows is given a command.
inline constexpr string_view kCarryingVerbs = "run exec execute x shell ssh";

inline bool is_feared(string_view name) noexcept {
  for (const string_view feared : kFeared)
    if (feared == name) return true;
  return false;
}

// Whether a word names a program that others are given to run: one that carries or makes something, or does harm.
inline bool is_carried_program(string_view name) noexcept {
  if (find_program(name).handler != Handler::none) return true;
  return is_feared(name) || one_of(name, "helm dropdb dropuser mysqladmin pulumi rake alembic flyway gcloud redis-cli mongosh heroku npm npx yarn");
}

// Whether a text of several words begins with such a program: the text of a command, where an option takes one.
inline bool begins_command(string_view text) noexcept {
  if (starts_with(text, "-")) text = text.substr(text.find('=') + 1);  // --exec=CODE
  text = trim(text);
  const std::size_t blank = text.find(' ');
  return blank != string_view::npos && is_carried_program(base_name(text.substr(0, blank)));
}

}  // namespace tipstaff::gate::shell
