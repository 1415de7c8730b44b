// The programs that a reader of commands must know: those that run, carry or make code, and those whose output is
// known. What a program destroys is none of this table's business; rules say that.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/name_hash.hpp"
#include "tipstaff/gate/shell/language/bytes.hpp"

namespace tipstaff::gate::shell {

enum class Handler : std::uint8_t {
  none,
  prefix,       // runs the command that follows its options
  env,
  code_option,  // -c CODE
  option_code,  // code of a shell as the value of any of its long options
  rest,         // a command after one of the words that are its long options
  joined,       // its operands, joined, are shell code
  shell,
  eval,
  source,
  builtin,
  xargs,
  parallel,
  find,
  fd,
  ssh,
  container,
  kubectl,
  git,
  make,
  cmake,
  socket,
  package,
  just,
  at,
  crontab,
  editor,
  tar,
  rsync,
  terminal,
  sed,
  tee,
  download,
  copy,
  patch,
  python,
  node,
  perl,
  ruby,
  php,
  awk,
  inline_code,
  sql,
  redis,
  mongo,
  powershell,
  cmd,
  tool,
  cloud,      // shell code among the options of a tool for many machines
  elsewhere,  // a command for another machine, or code for an application's own shell, after some verb
  playbook,
  compiler,   // of sources that this very text wrote
  alias,      // gh alias set
};

enum class Output : std::uint8_t {
  unknown,
  empty,
  echo,
  printf,
  cat,
  base64,
  hex,
  reverse,
  translate,
  filter,  // part of what goes in
  same,    // what goes in
  remote,
  pwd,
  dirname,
  basename,
  realpath,
  mktemp,
  which,
  trusted,
  git,
  find,
  list,
  yes,
};

struct Program {
  string_view name;
  Handler handler = Handler::none;
  Output output = Output::unknown;
  string_view short_values = {};  // letters of options that take a value
  string_view long_values = {};   // names of long ones that take a value as the next word
  std::uint8_t operands = 0;  // that are before the command
  std::uint32_t via = 0;
};

inline constexpr Program kPrograms[] = {
    // Wrappers: one command follows.
    {"sudo", Handler::prefix, Output::unknown, "ugpCchrtTRDU",
     "--user --group --prompt --close-from --chdir --host --role --type --command-timeout --chroot --other-user", 0,
     via::kSudo},
    {"doas", Handler::prefix, Output::unknown, "Cu", "", 0, via::kSudo},
    {"pkexec", Handler::prefix, Output::unknown, "", "--user", 0, via::kSudo},
    {"gosu", Handler::prefix, Output::unknown, "", "", 1, via::kSudo},
    {"su-exec", Handler::prefix, Output::unknown, "", "", 1, via::kSudo},
    {"setpriv", Handler::prefix, Output::unknown, "", "--reuid --regid --groups", 0, via::kSudo},
    {"s6-setuidgid", Handler::prefix, Output::unknown, "", "", 1, via::kSudo},
    {"chpst", Handler::prefix, Output::unknown, "uUbenmodfpcrtl/", "", 0, 0},
    {"env", Handler::env, Output::unknown, "uC", "--unset --chdir", 0, 0},
    {"exec", Handler::prefix, Output::unknown, "a", "", 0, 0},
    {"command", Handler::prefix, Output::which, "", "", 0, 0},
    {"builtin", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"nohup", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"setsid", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"nice", Handler::prefix, Output::unknown, "n", "--adjustment", 0, 0},
    {"ionice", Handler::prefix, Output::unknown, "cnpPu", "--class --classdata", 0, 0},
    {"chrt", Handler::prefix, Output::unknown, "TPD", "", 1, 0},
    {"taskset", Handler::prefix, Output::unknown, "", "", 1, 0},
    {"numactl", Handler::prefix, Output::unknown, "mNCip", "--membind --cpunodebind --physcpubind --interleave", 0, 0},
    {"timeout", Handler::prefix, Output::unknown, "ks", "--kill-after --signal", 1, 0},
    {"gtimeout", Handler::prefix, Output::unknown, "ks", "--kill-after --signal", 1, 0},
    {"stdbuf", Handler::prefix, Output::unknown, "ioe", "--input --output --error", 0, 0},
    {"unbuffer", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"rlwrap", Handler::prefix, Output::unknown, "abcDfFgHilnpPqstz", "", 0, 0},
    {"time", Handler::prefix, Output::unknown, "fo", "--format --output", 0, 0},
    {"strace", Handler::prefix, Output::unknown, "eopsuaEPIOSUbX", "", 0, 0},
    {"ltrace", Handler::prefix, Output::unknown, "eopsuaAnlFxD", "", 0, 0},
    {"valgrind", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"chroot", Handler::prefix, Output::unknown, "", "--userspec --groups", 1, via::kContainer},
    {"arch-chroot", Handler::prefix, Output::unknown, "u", "", 1, via::kContainer},
    {"unshare", Handler::prefix, Output::unknown, "RwSG", "--root --wd --setuid --setgid --map-user --map-group", 0, 0},
    {"nsenter", Handler::prefix, Output::unknown, "tSGW", "--target --setuid --setgid", 0, 0},
    {"setarch", Handler::prefix, Output::unknown, "", "", 1, 0},
    {"firejail", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"fakeroot", Handler::prefix, Output::unknown, "lisb", "", 0, 0},
    {"proot", Handler::prefix, Output::unknown, "rbwqkS", "", 0, 0},
    {"bwrap", Handler::prefix, Output::unknown, "", "--chdir --dev --proc --tmpfs --dir --uid --gid --hostname", 0, 0},
    {"busybox", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"toybox", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"cpulimit", Handler::prefix, Output::unknown, "lpPe", "--limit --pid", 0, 0},
    {"prlimit", Handler::prefix, Output::unknown, "po", "--pid --output", 0, 0},
    {"xvfb-run", Handler::prefix, Output::unknown, "efnpsw", "--server-num --server-args --error-file", 0, 0},
    {"dbus-run-session", Handler::prefix, Output::unknown, "", "--config-file --dbus-daemon", 0, 0},
    {"systemd-run", Handler::prefix, Output::unknown, "tpuMHEC",
     "--unit --property --description --slice --on-active --on-boot --on-calendar --uid --gid --setenv --machine", 0,
     via::kScheduled},
    {"systemd-inhibit", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"caffeinate", Handler::prefix, Output::unknown, "tw", "", 0, 0},
    {"torsocks", Handler::prefix, Output::unknown, "uaP", "", 0, 0},
    {"proxychains", Handler::prefix, Output::unknown, "f", "", 0, 0},
    {"proxychains4", Handler::prefix, Output::unknown, "f", "", 0, 0},
    {"gdb", Handler::prefix, Output::unknown, "xcspn", "--command --symbols --core --pid -ex -iex", 0, 0},
    {"lldb", Handler::prefix, Output::unknown, "sSkKop", "", 0, 0},
    {"dumb-init", Handler::prefix, Output::unknown, "r", "", 0, 0},
    {"tini", Handler::prefix, Output::unknown, "pe", "", 0, 0},
    {"catchsegv", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"daemonize", Handler::prefix, Output::unknown, "aceEoplu", "", 0, via::kBackground},
    {"entr", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"npx", Handler::prefix, Output::unknown, "p", "--package", 0, 0},
    {"bunx", Handler::prefix, Output::unknown, "p", "--package", 0, 0},
    {"pnpx", Handler::prefix, Output::unknown, "p", "--package", 0, 0},
    {"uvx", Handler::prefix, Output::unknown, "p", "--from --with --python", 0, 0},
    {"pipx", Handler::tool},
    {"dotenv", Handler::prefix, Output::unknown, "ef", "", 0, 0},
    {"dotenvx", Handler::tool},
    {"cross-env", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"chronic", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"arch", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"retry", Handler::prefix, Output::unknown, "tdsm", "--times --delay --tries --max", 0, 0},
    {"dtach", Handler::prefix, Output::unknown, "er", "", 1, 0},
    {"abduco", Handler::prefix, Output::unknown, "e", "", 1, 0},
    {"shx", Handler::prefix, Output::unknown, "", "", 0, 0},
    {"faketime", Handler::prefix, Output::unknown, "", "", 1, 0},
    {"datefudge", Handler::prefix, Output::unknown, "", "", 1, 0}, {"run0", Handler::prefix, Output::unknown, "ugD", "--user --group --unit --property --description --chdir --setenv", 0, via::kSudo},
    {"runcon", Handler::prefix, Output::unknown, "turl", "--type --user --role --range", 0, 0}, {"softlimit", Handler::prefix, Output::unknown, "acdflmoprst", "", 0, 0},
    {"setuidgid", Handler::prefix, Output::unknown, "", "", 1, 0}, {"envuidgid", Handler::prefix, Output::unknown, "", "", 1, 0}, {"envdir", Handler::prefix, Output::unknown, "", "", 1, 0},
    {"pgrphack", Handler::prefix}, {"eatmydata", Handler::prefix}, {"rootlesskit", Handler::prefix}, {"fakechroot", Handler::prefix, Output::unknown, "ceb", "", 0, 0},
    {"fakeroot-ng", Handler::prefix}, {"heaptrack", Handler::prefix, Output::unknown, "o", "--output", 0, 0}, {"daemon", Handler::prefix, Output::unknown, "nDPFCLOEoUuer", "--name --chdir --pidfile --user --output", 0, via::kBackground},
    {"tsp", Handler::prefix, Output::unknown, "LNDdWOE", "", 0, via::kBackground}, {"nq", Handler::prefix, Output::unknown, "", "", 0, via::kBackground},
    {"srun", Handler::prefix, Output::unknown, "nNtpcGJoewACDi", "--ntasks --nodes --time --partition --job-name --output --error --gres --mem --account --cpus-per-task --chdir --nodelist", 0, 0},
    {"mpirun", Handler::prefix, Output::unknown, "nxHN", "-np --np -c -host --host --hostfile -hostfile -machinefile --map-by --bind-to --mca -mca -wdir -ppn", 0, 0},
    {"mpiexec", Handler::prefix, Output::unknown, "nxHN", "-np --np -c -host --host --hostfile -hostfile -machinefile --map-by --bind-to --mca -mca -wdir -ppn", 0, 0},
    {"qsub", Handler::prefix, Output::unknown, "bNqoejlpPSvw", "-pe", 0, via::kBackground},
    {"kitty", Handler::prefix, Output::unknown, "cdoT", "--config --title --directory --override", 0, 0}, {"foot", Handler::prefix, Output::unknown, "cfTaWw", "--config --font --title --app-id", 0, 0},
    // A command after one word of theirs.
    {"xterm", Handler::rest, Output::unknown, "", "-e"}, {"urxvt", Handler::rest, Output::unknown, "", "-e"}, {"rxvt", Handler::rest, Output::unknown, "", "-e"},
    {"st", Handler::rest, Output::unknown, "", "-e"}, {"konsole", Handler::rest, Output::unknown, "", "-e"}, {"alacritty", Handler::rest, Output::unknown, "", "-e --command"},
    {"ghostty", Handler::rest, Output::unknown, "", "-e"}, {"x-terminal-emulator", Handler::rest, Output::unknown, "", "-e"}, {"terminator", Handler::rest, Output::unknown, "", "-x -e --command --execute"},
    {"tilix", Handler::rest, Output::unknown, "", "-e -x --command"}, {"xfce4-terminal", Handler::rest, Output::unknown, "", "-x -e --command --execute"},
    {"lxterminal", Handler::rest, Output::unknown, "", "-e --command"}, {"mate-terminal", Handler::rest, Output::unknown, "", "-x -e --command --execute --"},
    {"gnome-terminal", Handler::rest, Output::unknown, "", "-x -e --command --"}, {"wezterm", Handler::rest, Output::unknown, "", "-e --"},
    {"capsh", Handler::rest, Output::unknown, "", "-c"}, {"start-stop-daemon", Handler::rest, Output::unknown, "", "--exec --startas -x -a"},
    {"samply", Handler::rest, Output::unknown, "", "record"}, {"rr", Handler::rest, Output::unknown, "", "record"}, {"uftrace", Handler::rest, Output::unknown, "", "record live"},
    {"ld.so", Handler::prefix, Output::unknown, "", "--library-path --preload --argv0", 0, 0},
    {"ld-linux-x86-64.so.2", Handler::prefix, Output::unknown, "", "--library-path --preload --argv0", 0, 0},
    {"ld-linux-aarch64.so.1", Handler::prefix, Output::unknown, "", "--library-path --preload --argv0", 0, 0},
    {"ld-musl-x86_64.so.1", Handler::prefix, Output::unknown, "", "--library-path --preload --argv0", 0, 0},
    {"ts-node", Handler::node},
    {"tsx", Handler::node},
    // Tools with a word for it: poetry run, bundle exec ...
    {"poetry", Handler::tool}, {"pipenv", Handler::tool}, {"uv", Handler::tool}, {"hatch", Handler::tool},
    {"pdm", Handler::tool}, {"rye", Handler::tool}, {"conda", Handler::tool}, {"mamba", Handler::tool},
    {"micromamba", Handler::tool}, {"bundle", Handler::tool}, {"rbenv", Handler::tool, Output::trusted},
    {"pyenv", Handler::tool, Output::trusted}, {"nodenv", Handler::tool, Output::trusted},
    {"mise", Handler::tool, Output::trusted}, {"asdf", Handler::tool, Output::trusted}, {"op", Handler::tool},
    {"doppler", Handler::tool}, {"aws-vault", Handler::tool}, {"chamber", Handler::tool}, {"direnv", Handler::tool, Output::trusted},
    {"perf", Handler::tool}, {"nix", Handler::tool}, {"wsl", Handler::tool}, {"distrobox", Handler::tool},
    {"toolbox", Handler::tool}, {"flatpak-spawn", Handler::prefix}, {"ip", Handler::tool},
    {"infisical", Handler::tool}, {"foreman", Handler::tool}, {"heroku", Handler::elsewhere}, {"nvm", Handler::tool},
    {"volta", Handler::tool}, {"tsh", Handler::tool}, {"zellij", Handler::tool}, {"devbox", Handler::tool},
    {"teller", Handler::tool}, {"envchain", Handler::prefix, Output::unknown, "", "", 1, 0},
    // Shell code as an option's value, or as operands.
    {"su", Handler::code_option, Output::unknown, "gGsw", "", 0, via::kSudo},
    {"runuser", Handler::code_option, Output::unknown, "ugGsw", "", 0, via::kSudo},
    {"sg", Handler::code_option, Output::unknown, "", "", 0, via::kSudo}, {"newgrp", Handler::code_option},
    {"script", Handler::code_option, Output::unknown, "EImoOBTt", "", 0, 0},
    {"flock", Handler::code_option, Output::unknown, "wE", "--timeout --wait --conflict-exit-code", 1, 0},
    {"vagrant", Handler::code_option, Output::unknown, "", "", 0, via::kRemote},
    {"nix-shell", Handler::code_option, Output::unknown, "pAIE", "", 0, 0},
    {"expect", Handler::code_option},
    {"rush", Handler::joined, Output::unknown, "jDdknrtTi", "--jobs --record-delimiter --field-delimiter --nrecords", 0, 0},
    {"bsub", Handler::joined, Output::unknown, "qnoeJRWMPGwmi", "", 0, via::kBackground},
    {"salt-ssh", Handler::joined, Output::unknown, "tbc", "--timeout --batch-size --roster-file", 2, via::kRemote},
    {"salt-call", Handler::joined, Output::unknown, "lcg", "--log-level --config-dir", 1, 0},
    {"watch", Handler::joined, Output::unknown, "nq", "--interval --equexit", 0, 0},
    {"hyperfine", Handler::joined, Output::unknown, "wrmMpcsSnuLPDN", "--warmup --runs --min-runs --max-runs --prepare "
     "--cleanup --setup --shell --command-name --export-json --export-csv --export-markdown --parameter-list", 0, 0},
    {"concurrently", Handler::joined, Output::unknown, "ncsplm", "--names --name --prefix-colors --prefixColors --prefix --prefix-length --name-separator "
     "--max-processes --maxProcesses --success --restart-tries --restart-after --kill-signal --teardown --hide", 0, 0},
    {"pdsh", Handler::joined, Output::unknown, "wxlfutSR", "", 0, via::kRemote},
    {"pssh", Handler::joined, Output::unknown, "hHlptoexX", "--hosts --host --user --par --timeout", 0, via::kRemote},
    {"parallel-ssh", Handler::joined, Output::unknown, "hHlptoexX", "--hosts --host --user --par --timeout", 0, via::kRemote},
    {"clush", Handler::joined, Output::unknown, "wgxfl", "", 0, via::kRemote},
    {"dsh", Handler::joined, Output::unknown, "gmfr", "", 0, via::kRemote},
    {"salt", Handler::joined, Output::unknown, "tbc", "--timeout --batch-size", 2, via::kRemote},
    {"ansible", Handler::code_option, Output::unknown, "", "", 0, via::kRemote},
    {"gcloud", Handler::code_option, Output::unknown, "", "", 0, via::kRemote},
    // Programs that they start, named by an option.
    {"batcat", Handler::option_code, Output::cat, "", "--pager"}, {"delta", Handler::option_code, Output::unknown, "", "--pager"},
    {"svn", Handler::option_code, Output::unknown, "", "--editor-cmd --diff-cmd --diff3-cmd"},
    {"dpkg", Handler::option_code, Output::unknown, "", "--pre-invoke --post-invoke --status-logger"},
    {"rpm", Handler::option_code, Output::unknown, "", "--pipe --eval -E"}, {"tcpdump", Handler::option_code, Output::unknown, "", "-z"},
    {"openvpn", Handler::option_code, Output::unknown, "", "--up --down --route-up --ipchange --tls-verify --client-connect"},
    {"rdiff-backup", Handler::option_code, Output::unknown, "", "--remote-schema"},
    {"restic", Handler::option_code, Output::unknown, "", "--password-command"},
    {"rclone", Handler::option_code, Output::unknown, "", "--password-command"},
    {"borg", Handler::option_code, Output::unknown, "", "--rsh"}, {"cpio", Handler::option_code, Output::unknown, "", "--rsh-command"},
    {"sbatch", Handler::option_code, Output::unknown, "", "--wrap"}, {"bpftrace", Handler::option_code, Output::unknown, "", "-c"},
    {"chokidar", Handler::option_code, Output::unknown, "", "-c --command"}, {"compgen", Handler::option_code, Output::unknown, "", "-C"},
    {"complete", Handler::option_code, Output::unknown, "", "-C"},
    {"hg", Handler::option_code, Output::unknown, "", "--config"}, {"apt", Handler::option_code, Output::unknown, "", "-o --option"},
    {"apt-get", Handler::option_code, Output::unknown, "", "-o --option"}, {"aptitude", Handler::option_code, Output::unknown, "", "-o"},
    {"sdiff", Handler::option_code, Output::unknown, "", "--diff-program"}, {"diff3", Handler::option_code, Output::unknown, "", "--diff-program"},
    {"watchexec", Handler::joined, Output::unknown, "wWeiofdsEjN",
     "--watch --exts --ignore --filter --signal --stop-signal --stop-timeout --debounce --delay-run --env --project-origin --workdir --shell --emit-events-to", 0, 0},
    {"man", Handler::code_option},
    {"zip", Handler::code_option},
    {"nodemon", Handler::code_option, Output::unknown, "wei", "--watch --ext --ignore", 0, 0},
    // Shells and their builtins.
    {"sh", Handler::shell}, {"bash", Handler::shell}, {"zsh", Handler::shell}, {"dash", Handler::shell},
    {"ksh", Handler::shell}, {"mksh", Handler::shell}, {"ash", Handler::shell}, {"rbash", Handler::shell},
    {"fish", Handler::shell}, {"csh", Handler::shell}, {"tcsh", Handler::shell}, {"yash", Handler::shell},
    {"eval", Handler::eval}, {"source", Handler::source}, {".", Handler::source},
    {"cd", Handler::builtin, Output::empty}, {"chdir", Handler::builtin, Output::empty},
    {"pushd", Handler::builtin, Output::empty}, {"popd", Handler::builtin, Output::empty},
    {"export", Handler::builtin, Output::empty}, {"declare", Handler::builtin, Output::empty},
    {"typeset", Handler::builtin, Output::empty}, {"local", Handler::builtin, Output::empty},
    {"readonly", Handler::builtin, Output::empty}, {"unset", Handler::builtin, Output::empty},
    {"set", Handler::builtin, Output::empty}, {"shift", Handler::builtin, Output::empty},
    {"read", Handler::builtin, Output::empty}, {"mapfile", Handler::builtin, Output::empty},
    {"readarray", Handler::builtin, Output::empty}, {"alias", Handler::builtin, Output::empty},
    {"trap", Handler::builtin, Output::empty}, {"let", Handler::none, Output::empty},
    {":", Handler::none, Output::empty}, {"true", Handler::none, Output::empty},
    {"false", Handler::none, Output::empty}, {"test", Handler::none, Output::empty},
    {"[", Handler::none, Output::empty}, {"[[", Handler::none, Output::empty},
    {"sleep", Handler::none, Output::empty}, {"mkdir", Handler::none, Output::empty},
    {"touch", Handler::none, Output::empty}, {"exit", Handler::none, Output::empty},
    {"return", Handler::none, Output::empty}, {"break", Handler::none, Output::empty},
    {"continue", Handler::none, Output::empty}, {"wait", Handler::none, Output::empty},
    {"umask", Handler::none, Output::empty}, {"hash", Handler::builtin, Output::empty},
    {"shopt", Handler::none, Output::empty}, {"chmod", Handler::none, Output::empty},
    {"rm", Handler::none, Output::empty},
    // What is printed for certain.
    {"echo", Handler::none, Output::echo}, {"printf", Handler::builtin, Output::printf},
    {"cat", Handler::none, Output::cat}, {"tac", Handler::none, Output::filter}, {"bat", Handler::option_code, Output::cat, "", "--pager"},
    {"base64", Handler::none, Output::base64}, {"gbase64", Handler::none, Output::base64},
    {"openssl", Handler::none, Output::base64}, {"xxd", Handler::none, Output::hex},
    {"rev", Handler::none, Output::reverse}, {"head", Handler::none, Output::filter},
    {"tail", Handler::none, Output::filter}, {"grep", Handler::none, Output::filter},
    {"egrep", Handler::none, Output::filter}, {"fgrep", Handler::none, Output::filter},
    {"rg", Handler::option_code, Output::filter, "", "--pre --hostname-bin"}, {"sort", Handler::option_code, Output::filter, "", "--compress-program"},
    {"uniq", Handler::none, Output::filter}, {"cut", Handler::none, Output::filter},
    {"tr", Handler::none, Output::translate}, {"shuf", Handler::none, Output::filter},
    {"gunzip", Handler::none, Output::filter}, {"zcat", Handler::none, Output::filter},
    {"gzip", Handler::none, Output::filter}, {"xz", Handler::none, Output::filter},
    {"zstd", Handler::none, Output::filter}, {"bzip2", Handler::none, Output::filter},
    {"bunzip2", Handler::none, Output::filter}, {"fold", Handler::none, Output::filter},
    {"dos2unix", Handler::none, Output::same}, {"envsubst", Handler::none, Output::filter},
    {"pv", Handler::none, Output::same}, {"sponge", Handler::tee, Output::empty},
    {"pwd", Handler::none, Output::pwd}, {"dirname", Handler::none, Output::dirname},
    {"basename", Handler::none, Output::basename}, {"realpath", Handler::none, Output::realpath},
    {"readlink", Handler::none, Output::realpath}, {"mktemp", Handler::none, Output::mktemp},
    {"which", Handler::none, Output::which}, {"type", Handler::none, Output::which},
    {"whereis", Handler::none, Output::which}, {"ls", Handler::none, Output::list},
    {"yes", Handler::none, Output::yes},
    // Code that a program is there to print, to be evaluated.
    {"ssh-agent", Handler::prefix, Output::trusted, "aEOPt", "", 0, 0},
    {"brew", Handler::none, Output::trusted}, {"starship", Handler::none, Output::trusted},
    {"zoxide", Handler::none, Output::trusted}, {"fnm", Handler::none, Output::trusted},
    {"opam", Handler::none, Output::trusted}, {"dircolors", Handler::none, Output::trusted},
    {"lesspipe", Handler::none, Output::trusted}, {"minikube", Handler::elsewhere, Output::trusted},
    {"docker-machine", Handler::elsewhere, Output::trusted}, {"keychain", Handler::none, Output::trusted},
    {"gpg-agent", Handler::none, Output::trusted}, {"thefuck", Handler::none, Output::trusted},
    {"register-python-argcomplete", Handler::none, Output::trusted}, {"luarocks", Handler::none, Output::trusted},
    {"atuin", Handler::none, Output::trusted}, {"fzf", Handler::option_code, Output::trusted, "", "--preview --with-shell"},
    {"gh", Handler::alias}, {"resize", Handler::none, Output::trusted},
    {"tset", Handler::none, Output::trusted}, {"jenv", Handler::none, Output::trusted},
    // Commands for another machine, code for an application: elsewhere.hpp.
    {"fly", Handler::elsewhere}, {"flyctl", Handler::elsewhere}, {"adb", Handler::elsewhere},
    {"hdc", Handler::elsewhere}, {"railway", Handler::elsewhere}, {"scalingo", Handler::elsewhere},
    {"clever", Handler::elsewhere}, {"cf", Handler::elsewhere}, {"eb", Handler::elsewhere},
    {"dokku", Handler::elsewhere}, {"convox", Handler::elsewhere}, {"porter", Handler::elsewhere},
    {"kamal", Handler::elsewhere}, {"lando", Handler::elsewhere}, {"ddev", Handler::elsewhere},
    {"multipass", Handler::elsewhere}, {"limactl", Handler::elsewhere}, {"lima", Handler::elsewhere},
    {"colima", Handler::elsewhere}, {"orb", Handler::elsewhere}, {"incus", Handler::elsewhere},
    {"coder", Handler::elsewhere}, {"devpod", Handler::elsewhere}, {"doctl", Handler::elsewhere}, {"mco", Handler::elsewhere}, {"buildah", Handler::elsewhere},
    {"pueue", Handler::elsewhere}, {"launchctl", Handler::elsewhere}, {"i3-msg", Handler::elsewhere}, {"swaymsg", Handler::elsewhere},
    {"hyprctl", Handler::elsewhere}, {"sops", Handler::elsewhere}, {"glab", Handler::elsewhere},
    {"nomad", Handler::elsewhere}, {"pct", Handler::elsewhere}, {"qm", Handler::elsewhere},
    {"crictl", Handler::elsewhere}, {"ctr", Handler::elsewhere}, {"jexec", Handler::elsewhere},
    {"machinectl", Handler::elsewhere}, {"systemd-nspawn", Handler::elsewhere}, {"schroot", Handler::elsewhere},
    {"devcontainer", Handler::elsewhere}, {"bolt", Handler::elsewhere}, {"knife", Handler::elsewhere},
    {"pyinfra", Handler::elsewhere}, {"ibmcloud", Handler::elsewhere}, {"teleport", Handler::elsewhere},
    {"waypoint", Handler::elsewhere}, {"platform", Handler::elsewhere}, {"upsun", Handler::elsewhere},
    {"terminus", Handler::elsewhere}, {"acli", Handler::elsewhere}, {"symfony", Handler::elsewhere},
    {"sail", Handler::elsewhere}, {"virt-customize", Handler::elsewhere}, {"rails", Handler::elsewhere},
    {"spring", Handler::elsewhere}, {"irb", Handler::elsewhere}, {"pry", Handler::elsewhere},
    {"artisan", Handler::elsewhere}, {"manage.py", Handler::elsewhere}, {"django-admin", Handler::elsewhere}, {"django", Handler::elsewhere}, {"pscale", Handler::elsewhere},
    {"flask", Handler::elsewhere}, {"wp", Handler::elsewhere}, {"drush", Handler::elsewhere},
    {"psysh", Handler::elsewhere}, {"prisma", Handler::elsewhere}, {"wrangler", Handler::elsewhere},
    {"turso", Handler::elsewhere}, {"supabase", Handler::elsewhere}, {"n98-magerun2", Handler::elsewhere},
    {"snow", Handler::elsewhere}, {"databricks", Handler::elsewhere}, {"dolt", Handler::elsewhere},
    {"edgedb", Handler::elsewhere}, {"gel", Handler::elsewhere},
    {"repo", Handler::elsewhere}, {"lerna", Handler::elsewhere}, {"gitlab-rails", Handler::elsewhere}, {"console", Handler::elsewhere},
    {"ansible-playbook", Handler::playbook},
    // Sources that are compiled and run on the spot.
    {"gcc", Handler::compiler}, {"cc", Handler::compiler},
    {"clang", Handler::compiler}, {"tcc", Handler::compiler},
    {"rustc", Handler::compiler}, {"go", Handler::compiler}, {"javac", Handler::compiler}, {"java", Handler::compiler},
    {"kotlinc", Handler::compiler}, {"zig", Handler::compiler}, {"dart", Handler::compiler},
    {"dotnet", Handler::compiler}, {"csc", Handler::compiler}, {"mcs", Handler::compiler},
    {"gfortran", Handler::compiler}, {"fpc", Handler::compiler}, {"ldc2", Handler::compiler},
    {"dmd", Handler::compiler}, {"v", Handler::compiler}, {"rust-script", Handler::compiler},
    {"cargo", Handler::compiler}, {"odin", Handler::compiler}, {"hare", Handler::compiler},
    {"swiftc", Handler::compiler},
    {"mix", Handler::inline_code}, {"iex", Handler::inline_code},
    // More commands from input or operands.
    {"sem", Handler::parallel}, {"xargs", Handler::xargs}, {"gxargs", Handler::xargs}, {"parallel", Handler::parallel},
    {"find", Handler::find, Output::find}, {"gfind", Handler::find, Output::find},
    {"fd", Handler::fd, Output::find}, {"fdfind", Handler::fd, Output::find},
    {"ssh", Handler::ssh}, {"mosh", Handler::ssh}, {"sshpass", Handler::prefix, Output::unknown, "pfdP", "", 0, 0},
    {"autossh", Handler::ssh}, {"scp", Handler::none},
    {"docker", Handler::container}, {"podman", Handler::container}, {"nerdctl", Handler::container},
    {"docker-compose", Handler::container}, {"podman-compose", Handler::container}, {"lxc", Handler::container},
    {"kubectl", Handler::kubectl}, {"oc", Handler::kubectl}, {"k3s", Handler::prefix},
    {"git", Handler::git, Output::git}, {"cmake", Handler::cmake}, {"zx", Handler::node}, {"make", Handler::make}, {"gmake", Handler::make},
    {"npm", Handler::package}, {"yarn", Handler::package}, {"pnpm", Handler::package},
    {"just", Handler::just}, {"at", Handler::at}, {"batch", Handler::at}, {"crontab", Handler::crontab},
    {"vim", Handler::editor}, {"vi", Handler::editor}, {"nvim", Handler::editor}, {"ex", Handler::editor},
    {"view", Handler::editor}, {"gvim", Handler::editor}, {"ed", Handler::editor}, {"less", Handler::editor},
    {"more", Handler::editor}, {"emacs", Handler::inline_code}, {"emacsclient", Handler::inline_code},
    {"ftp", Handler::editor}, {"lftp", Handler::editor}, {"dc", Handler::editor}, {"bc", Handler::editor},
    {"fab", Handler::cloud}, {"aws", Handler::cloud}, {"az", Handler::cloud},
    {"terraform", Handler::cloud}, {"tofu", Handler::cloud}, {"opentofu", Handler::cloud}, {"tclsh", Handler::inline_code},
    {"wish", Handler::inline_code}, {"tar", Handler::tar}, {"gtar", Handler::tar}, {"bsdtar", Handler::tar}, {"split", Handler::tar}, {"gsplit", Handler::tar}, {"rsync", Handler::rsync},
    {"tmux", Handler::terminal}, {"screen", Handler::terminal}, {"byobu", Handler::terminal}, {"sed", Handler::sed, Output::filter},
    {"gsed", Handler::sed, Output::filter}, {"tee", Handler::tee, Output::same},
    {"curl", Handler::download, Output::remote}, {"wget", Handler::download, Output::remote},
    {"fetch", Handler::download, Output::remote}, {"aria2c", Handler::download, Output::remote},
    {"http", Handler::download, Output::remote}, {"https", Handler::download, Output::remote},
    {"xh", Handler::download, Output::remote}, {"xhs", Handler::download, Output::remote},
    {"curlie", Handler::download, Output::remote}, {"awscurl", Handler::download, Output::remote},
    {"lynx", Handler::none, Output::remote}, {"w3m", Handler::none, Output::remote},
    {"nc", Handler::socket, Output::remote}, {"ncat", Handler::socket, Output::remote},
    {"netcat", Handler::socket, Output::remote}, {"telnet", Handler::socket, Output::remote},
    {"socat", Handler::socket, Output::remote}, {"dig", Handler::none, Output::remote},
    {"cp", Handler::copy, Output::empty}, {"mv", Handler::copy, Output::empty}, {"ln", Handler::copy, Output::empty},
    {"install", Handler::copy, Output::empty}, {"dd", Handler::copy}, {"patch", Handler::patch},
    // Code of other dialects.
    {"python", Handler::python}, {"python2", Handler::python}, {"python3", Handler::python}, {"pypy", Handler::python},
    {"pypy3", Handler::python}, {"ipython", Handler::python}, {"node", Handler::node}, {"nodejs", Handler::node},
    {"deno", Handler::node}, {"bun", Handler::node}, {"perl", Handler::perl}, {"ruby", Handler::ruby},
    {"jruby", Handler::ruby},
    {"lua", Handler::inline_code}, {"luajit", Handler::inline_code}, {"rscript", Handler::inline_code}, {"raku", Handler::inline_code}, {"clj", Handler::inline_code}, {"jshell", Handler::inline_code},
    {"r", Handler::inline_code}, {"julia", Handler::inline_code}, {"groovy", Handler::inline_code},
    {"elixir", Handler::inline_code}, {"erl", Handler::inline_code}, {"ghc", Handler::inline_code},
    {"runghc", Handler::inline_code}, {"guile", Handler::inline_code}, {"sbcl", Handler::inline_code},
    {"osascript", Handler::inline_code}, {"swift", Handler::inline_code}, {"scala", Handler::inline_code},
    {"kotlin", Handler::inline_code}, {"gnuplot", Handler::inline_code}, {"octave", Handler::inline_code},
    {"racket", Handler::inline_code}, {"clojure", Handler::inline_code}, {"bb", Handler::inline_code},
    {"ocaml", Handler::inline_code}, {"nim", Handler::inline_code}, {"crystal", Handler::inline_code},
    {"nu", Handler::code_option}, {"xonsh", Handler::code_option}, {"elvish", Handler::code_option}, {"php", Handler::php}, {"awk", Handler::awk, Output::filter},
    {"gawk", Handler::awk, Output::filter}, {"mawk", Handler::awk, Output::filter},
    {"nawk", Handler::awk, Output::filter},
    {"psql", Handler::sql, Output::unknown, "dhpUvFRPTLoVf", "--dbname --host --port --username --set --variable --output", 0, 0},
    {"ysqlsh", Handler::sql, Output::unknown, "dhpUvFRPTLoVf", "--dbname --host --port --username --set --variable --output", 0, 0},
    {"ycqlsh", Handler::sql, Output::unknown, "upk", "", 0, 0}, {"gsql", Handler::sql, Output::unknown, "dhpUvF", "--dbname --host --port --username", 0, 0},
    {"pgcli", Handler::sql, Output::unknown, "dhpUu", "--host --port --username --user --dbname", 0, 0},
    {"mysql", Handler::sql, Output::unknown, "uhPDS", "--user --host --port --database --socket", 0, 0},
    {"mariadb", Handler::sql, Output::unknown, "uhPDS", "--user --host --port --database --socket", 0, 0},
    {"mycli", Handler::sql, Output::unknown, "uhPD", "--user --host --port --database", 0, 0},
    {"sqlite3", Handler::sql, Output::unknown, "", "-separator -cmd -init -newline -nullvalue", 0, 0},
    {"sqlite", Handler::sql, Output::unknown, "", "-separator -cmd -init", 0, 0},
    {"litecli", Handler::sql, Output::unknown, "", "", 0, 0},
    {"sqlcmd", Handler::sql, Output::unknown, "SUPdDlt", "", 0, 0},
    {"duckdb", Handler::sql, Output::unknown, "", "-separator -init -newline -nullvalue", 0, 0},
    {"clickhouse-client", Handler::sql, Output::unknown, "hdu", "--host --port --user --password --database", 0, 0},
    {"clickhouse", Handler::sql, Output::unknown, "hdu", "--host --port --user --password --database", 0, 0},
    {"cockroach", Handler::sql, Output::unknown, "du", "--url --host --database --user", 0, 0},
    {"usql", Handler::sql, Output::unknown, "vFR", "", 0, 0}, {"bq", Handler::sql, Output::unknown, "", "", 0, 0},
    {"snowsql", Handler::sql, Output::unknown, "acudswr", "", 0, 0}, {"sqlplus", Handler::sql},
    {"trino", Handler::sql, Output::unknown, "", "--server --catalog --schema --user", 0, 0},
    {"presto", Handler::sql, Output::unknown, "", "--server --catalog --schema --user", 0, 0},
    {"beeline", Handler::sql, Output::unknown, "unpd", "", 0, 0}, {"hive", Handler::sql},
    {"impala-shell", Handler::sql, Output::unknown, "iduks", "--impalad --database --user", 0, 0},
    {"vsql", Handler::sql, Output::unknown, "hpdUw", "--host --port --dbname --username", 0, 0},
    {"spark-sql", Handler::sql}, {"isql", Handler::sql}, {"cqlsh", Handler::sql, Output::unknown, "upk", "", 0, 0},
    {"d1", Handler::none}, {"redis-cli", Handler::redis}, {"valkey-cli", Handler::redis},
    {"mongosh", Handler::mongo}, {"mongo", Handler::mongo},
    {"powershell", Handler::powershell}, {"pwsh", Handler::powershell}, {"cmd", Handler::cmd},
};

constexpr std::uint32_t kProgramCount = sizeof kPrograms / sizeof kPrograms[0];
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
