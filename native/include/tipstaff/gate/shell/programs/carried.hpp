// Commands that tools nobody knows are given: TOOL -- COMMAND, TOOL run COMMAND, TOOL --exec 'COMMAND'. And files that a
// tool loads by their name, where this very text wrote them: conftest.py, Rakefile, jest.config.js.
#pragma once

#include "tipstaff/gate/tree/name_signs.hpp"
#include "tipstaff/gate/shell/small_languages/cmake.hpp"
#include "tipstaff/gate/shell/programs/table.hpp"

namespace tipstaff::gate::shell {

// Whether an option's name says that its value is code: --exec, --post-cmd, --on-change, -c.
inline bool names_code(string_view option) noexcept {
  if (option.size() == 2) return holds("cex", option[1]);
  while (starts_with(option, "-")) option.remove_prefix(1);
  for (const string_view part : {"exec", "cmd", "command", "hook", "script", "shell", "run", "action", "on-", "pre-", "post-", "before", "after",
                                 "setup", "teardown", "cleanup"})
    if (option.find(part) != string_view::npos) return true;
  return false;
}

// What looks things up, or takes any words as text.
inline constexpr string_view kLookUps =
    "tldr cheat man apropos whatis which whereis info howdoi help navi explain how2 ack ag ugrep pgrep pidof type hash dpkg apt-cache rpm brew port pacman say "
    "shellcheck shfmt sqlfluff hadolint bat highlight pygmentize glow espeak notify-send figlet cowsay logger wall todo note jrnl t compgen complete claude codex aider llm gemini gh-copilot";

// Whether what follows -- may be a command: not where all of it are assignments (TOOL -- CFLAGS=-O2), nor where it begins with a
// quoted variable and no short option follows (tox -e notes -- "$VERSION" notes.md).
inline bool ShellReader::is_given_command(const Invocation& in, std::uint32_t at) noexcept {
  const Word& first = argument(in, at);
  const bool variable = first.has(word_flag::kUnknown) && first.has(word_flag::kQuoted) && starts_with(source_of(first.span), "\"$") &&
                        one_of(tree_.command(in.command).program, "tox nox pytest cargo npm yarn pnpm go dotnet");
  bool assigns = true;
  for (std::uint32_t i = at; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    const std::size_t equals = text.find('=');
    assigns = assigns && equals != string_view::npos && is_name(text.substr(0, equals));
    if (variable && i > at && text.size() > 1 && text[0] == '-' && text[1] != '-') return true;
  }
  return !assigns && !variable;
}

inline void ShellReader::run_carried(Invocation& in) noexcept {
  const string_view program = tree_.command(in.command).program;
  // wrapper rm -rf x: a command after the name of something that runs it in another way.
  if (const std::uint32_t at = after_options(in, 1, "", ""); at + 1 < in.count) {
    const string_view next = program_name(argument(in, at));
    // Verbs of tools are called like programs, too: tool cp a b, tool kill JOB.
    const bool as_program = one_of(next, "sudo sh bash python python3 perl terraform kubectl docker psql mysql systemctl git dd shred mkfs wipefs");
    const bool glob = text_of(in, at).find_first_of("*?[") != string_view::npos;  // names files
    if (!glob && (as_program || (next != "ssh" && starts_with(text_of(in, at + 1), "-") && is_feared(next))) && !argument(in, at).has(word_flag::kQuoted) &&
        !one_of(program, kLookUps))
      return run_inner(in, at, 0);
  }
  // What is typed into another window, or bound to a key.
  static constexpr Words kTypes("xdotool wtype ydotool dotool gsettings dconf xfconf-query kwriteconfig5 kwriteconfig6 incrontab dbus-send gdbus busctl qdbus");
  for (std::uint32_t i = 1; i < in.count && kTypes.has(program); ++i) {
    Word typed = argument(in, i);
    if (starts_with(typed.text, "string:")) typed.text.remove_prefix(7);
    if (typed.text.size() > 2 && (typed.text[0] == '\'' || typed.text[0] == '"')) typed.text = typed.text.substr(1, typed.text.size() - 2);
    if (begins_command(typed.text)) code_word(in, typed, Nested{}, Dialect::shell);
  }
  for (std::uint32_t i = 1; i < in.count; ++i) {
    Word word = argument(in, i);
    if (word.text == "--") {
      // What follows it in these is for a tool that they start themselves.
      if (one_of(program, "gotestsum dh_auto_configure dh_auto_build dh_auto_test dh_auto_install cargo-nextest pytest") && text_of(in, i + 1) == kUnknown) return;
      if ((in.via & via::kArgumentsAdded) != 0 && i + 2 == in.count && text_of(in, i + 1) == kUnknown) return;  // xargs prettier --write --
      if (i + 1 >= in.count || starts_with(text_of(in, i + 1), "-") || !is_given_command(in, i + 1)) return;
      if (i + 2 == in.count && begins_command(text_of(in, i + 1))) return code_word(in, argument(in, i + 1), Nested{}, Dialect::shell);
      return run_inner(in, i + 1, 0);
    }
    if (word.text.size() > 1 && word.text[0] == '-') {
      const std::size_t equals = word.text.find('=');
      if (!names_code(word.text.substr(0, equals))) continue;
      // tool check --cmd 'rm -rf x': it says what it thinks of it.
      if (i > 1 && ascii::one_of(text_of(in, i - 1), "check validate explain lint analyze classify simulate judge audit")) continue;
      if (equals != string_view::npos) word.text.remove_prefix(equals + 1);
      else if (i + 1 < in.count) word = argument(in, i + 1);
      if (begins_command(word.text)) code_word(in, word, Nested{}, Dialect::shell);
      continue;
    }
    if (i > 2 || !one_of(word.text, kCarryingVerbs)) continue;
    // tool exec COMMAND, tool exec TARGET COMMAND
    const std::uint32_t at = after_options(in, i + 1, "", "");
    for (std::uint32_t k = at; k < in.count && k < at + 2; ++k) {
      const Word next = argument(in, k);
      if (k + 1 == in.count ? begins_command(next.text) : next.text.find(' ') == string_view::npos && is_carried_program(program_name(next)))
        return k + 1 == in.count ? code_word(in, next, Nested{}, Dialect::shell) : run_inner(in, k, 0);
    }
  }
}

// Which files a tool loads without being told to. Of a file in a language of its own (`prose`) the lines count that begin
// with a command, after a key or a sign of a list; of a source (`make`) the texts that it hands to calls.
struct LoadedFile {
  string_view programs, names;  // a name with a * before it: how names end
  Dialect dialect;
};

inline constexpr string_view kConfigured =
    "jest vitest vite webpack rollup next nuxt eslint prettier tailwindcss postcss playwright cypress astro svelte-kit tsup esbuild babel metro expo karma "
    "remix gatsby vue-cli-service storybook knex drizzle-kit sequelize-cli stylelint commitlint lint-staged release-it semantic-release hardhat truffle "
    "gulp grunt mocha ava nyc c8 parcel turbo pm2 tsc node npm yarn pnpm bun prisma wdio protractor nightwatch codeceptjs";

inline constexpr LoadedFile kLoadedFiles[] = {
    {"rake", "Rakefile rakefile Rakefile.rb rakefile.rb *.rake", Dialect::ruby}, {"cap", "Capfile deploy.rb", Dialect::ruby},
    {"rake thor cap fastlane pod vagrant brew", "Rakefile rakefile Rakefile.rb *.rake Thorfile Capfile Fastfile Podfile Vagrantfile Brewfile", Dialect::make},  // sh "..."
    {"bundle bundler", "Gemfile gems.rb", Dialect::ruby}, {"gem bundle", "*.gemspec", Dialect::ruby}, {"pod", "Podfile", Dialect::ruby},
    {"vagrant", "Vagrantfile", Dialect::ruby}, {"brew", "Brewfile", Dialect::ruby}, {"fastlane", "Fastfile Appfile", Dialect::ruby},
    {"guard", "Guardfile", Dialect::ruby}, {"danger", "Dangerfile", Dialect::ruby}, {"thor", "Thorfile *.thor", Dialect::ruby},
    {"rspec", "spec_helper.rb rails_helper.rb *_spec.rb", Dialect::ruby}, {"rails rackup puma unicorn", "config.ru puma.rb application.rb seeds.rb", Dialect::ruby},
    {"irb pry rails", ".irbrc .pryrc", Dialect::ruby},
    {"pytest py.test tox nox coverage python python3", "conftest.py", Dialect::python}, {"pytest py.test", "test_*.py *_test.py", Dialect::python},
    {"python python2 python3 pip pip3 pytest ipython uv poetry", "sitecustomize.py usercustomize.py", Dialect::python},
    {"pip pip3 pipx uv poetry pdm hatch tox nox python python3 easy_install flit", "setup.py", Dialect::python},
    {"nox", "noxfile.py", Dialect::python}, {"fab", "fabfile.py", Dialect::python}, {"invoke inv", "tasks.py", Dialect::python},
    {"scons", "SConstruct SConscript", Dialect::python}, {"waf", "wscript", Dialect::python}, {"doit", "dodo.py", Dialect::python},
    {"snakemake", "Snakefile *.smk", Dialect::python}, {"snakemake", "Snakefile *.smk", Dialect::make}, {"locust", "locustfile.py", Dialect::python}, {"alembic", "env.py", Dialect::python},
    {"gunicorn", "gunicorn.conf.py", Dialect::python}, {"sphinx-build make", "conf.py", Dialect::python},
    {"django-admin manage.py python python3 celery", "settings.py", Dialect::python}, {"gdb", ".gdbinit", Dialect::python},
    {kConfigured, "*.config.js *.config.mjs *.config.cjs *.config.ts .eslintrc.js .eslintrc.cjs .babelrc.js .mocharc.js .pnpmfile.cjs gulpfile.js gulpfile.mjs "
                  "gulpfile.ts Gruntfile.js gruntfile.js Jakefile karma.conf.js wdio.conf.js knexfile.js knexfile.ts jest.setup.js *.test.js *.test.ts *.spec.js "
                  "*.spec.ts", Dialect::node},
    {"composer robo dep deployer phpunit pest", "RoboFile.php deploy.php bootstrap.php *Test.php", Dialect::php},
    {"task go-task", "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml", Dialect::prose}, {"composer", "composer.json", Dialect::prose},
    {"ninja samu", "build.ninja *.ninja", Dialect::prose}, {"foreman honcho overmind hivemind goreman heroku", "Procfile Procfile.dev .foreman", Dialect::prose},
    {"git lefthook", "lefthook.yml .lefthook.yml lefthook.yaml", Dialect::prose}, {"git pre-commit", ".pre-commit-config.yaml", Dialect::prose},
    {"deno", "deno.json deno.jsonc", Dialect::prose}, {"air", ".air.toml", Dialect::prose}, {"tilt", "Tiltfile", Dialect::prose},
    {"earthly", "Earthfile", Dialect::prose}, {"dvc", "dvc.yaml", Dialect::prose}, {"mise", "mise.toml .mise.toml", Dialect::prose}, {"pixi", "pixi.toml", Dialect::prose},
    {"docker docker-compose podman podman-compose", "compose.yml compose.yaml docker-compose.yml docker-compose.yaml", Dialect::prose},
    {"poe poetry pdm hatch uv tox nox", "pyproject.toml tox.ini", Dialect::prose}, {"cargo-make makers", "Makefile.toml", Dialect::prose},
    {"mvn ant", "pom.xml build.xml", Dialect::prose}, {"act gitlab-runner woodpecker-cli drone circleci wrkflw", "*.yml *.yaml", Dialect::prose}, {"terraform tofu opentofu", "*.tf", Dialect::prose},
    {"packer", "*.pkr.hcl *.json", Dialect::prose}, {"skaffold", "skaffold.yaml", Dialect::prose}, {"melos", "melos.yaml", Dialect::prose},
    {"nodemon", "nodemon.json", Dialect::prose}, {"lint-staged", ".lintstagedrc .lintstagedrc.json", Dialect::prose}, {"tmux", ".tmux.conf", Dialect::prose},
    {"bazel bazelisk", "BUILD BUILD.bazel *.bzl", Dialect::make}, {"puppet", "*.pp", Dialect::make}, {"salt-call salt-ssh", "*.sls", Dialect::prose},
    {"chef-client chef-apply chef-solo", "*.rb", Dialect::ruby}, {"jenkinsfile-runner", "Jenkinsfile", Dialect::make}, {"mprocs", "mprocs.yaml", Dialect::prose},
    {"rscript r quarto", "*.Rmd *.qmd", Dialect::make},
    {"meson", "meson.build", Dialect::make}, {"dotnet csc mcs", "*.cs", Dialect::make},
    {"nix nix-shell nix-build nixos-rebuild home-manager", "*.nix", Dialect::prose}, {"cmake ctest", "CMakeLists.txt", Dialect::make},
    {"cargo", "build.rs", Dialect::make}, {"go mage", "magefile.go *_test.go *.go", Dialect::make}, {"sbt", "build.sbt", Dialect::make},
    {"gradle gradlew", "*.gradle *.gradle.kts", Dialect::make}, {"zig", "build.zig", Dialect::make}, {"mix iex", "mix.exs", Dialect::make},
    {"rscript r", ".Rprofile", Dialect::make}, {"nextflow", "*.nf nextflow.config", Dialect::make}, {"nvim vim", "init.lua .nvimrc .exrc", Dialect::make},
    {"pdflatex latex tex pdftex xelatex xetex lualatex luatex latexmk tectonic lualatex-dev", "*.tex *.sty *.cls .latexmkrc latexmkrc", Dialect::make},
    {"ejs mustache handlebars hbs pug nunjucks eta liquid j2 jinja2 jinjanate jinja2-cli minijinja-cli gomplate tera mako-render cookiecutter copier plop hygen cheetah haml slimrb tilt mdbook quarto jupyter papermill",
     "*.ejs *.j2 *.jinja *.jinja2 *.pug *.njk *.tmpl *.tpl *.mako *.liquid *.haml *.slim *.hbs *.eta hooks.py pre_gen_project.py post_gen_project.py copier.yml plopfile.js *.qmd", Dialect::make},
    {"git", "pre-commit post-commit pre-push commit-msg post-checkout post-merge pre-rebase prepare-commit-msg", Dialect::shell},
};

inline bool is_loaded(string_view name, string_view names) noexcept {
  if (one_of(name, names)) return true;
  for (std::size_t at = names.find('*'); at != string_view::npos; at = names.find('*', at + 1)) {
    const string_view ending = names.substr(at + 1, names.find(' ', at) - at - 1);
    const string_view before = names.substr(names.rfind(' ', at) + 1, at - names.rfind(' ', at) - 1);
    if (name.size() > ending.size() + before.size() && ends_with(name, ending) && starts_with(name, before)) return true;
  }
  return false;
}

// Files of services that run commands when something is pushed.
inline bool is_pipeline(string_view path) noexcept {
  return is_loaded(base_name(path), ".gitlab-ci.yml .travis.yml Jenkinsfile .drone.yml .woodpecker.yml bitbucket-pipelines.yml azure-pipelines.yml cloudbuild.yaml buildspec.yml appveyor.yml "
                                    "codemagic.yaml .cirrus.yml pipeline.yml fly.toml netlify.toml vercel.json amplify.yml wercker.yml .semaphore.yml") ||
         path.find(".github/workflows/") != string_view::npos || path.find(".circleci/") != string_view::npos || path.find(".buildkite/") != string_view::npos || path.find(".gitea/workflows/") != string_view::npos;
}

inline bool is_test_source(string_view name) noexcept {
  return is_loaded(name, "conftest.py test_*.py *_test.py *_test.go *.test.js *.test.ts *.spec.js *.spec.ts *_spec.rb *Test.php");
}

// go generate: the lines after //go:generate.
inline void ShellReader::generate(Invocation& in, string_view text) noexcept {
  constexpr string_view kMark = "//go:generate ";
  Nested options;
  options.via = via::kScript;
  options.subshell = true;
  for (std::size_t at = text.find(kMark); at != string_view::npos; at = text.find(kMark, at)) {
    at += kMark.size();
    nested(in, text.substr(at, text.find('\n', at) - at), in.span, options);
  }
}

// `dir: web` of a task, the folder of the commands beside it and below it, as YAML indents them.
class TaskFolder {
 public:
  // Whether the folder holds for a line; takes the line's own `dir:`.
  bool holds_for(string_view line) noexcept {
    const std::size_t written = line.find_first_not_of(" \t");
    if (written == string_view::npos || line[written] == '#') return !folder_.empty();
    string_view key = line.substr(written);
    std::size_t indent = written;
    if (starts_with(key, "- ")) key.remove_prefix(2), indent += 2;
    if (written < indent_) folder_ = {};
    const std::size_t colon = key.find(": ");
    if (colon != string_view::npos && one_of(key.substr(0, colon), "dir working-directory working_directory")) {
      const string_view value = unquoted_value(trim(key.substr(colon + 2)));
      folder_ = value.find_first_of("{$#") == string_view::npos ? value : string_view();
      indent_ = indent;
    }
    return !folder_.empty();
  }
  string_view folder() const noexcept { return folder_; }

 private:
  string_view folder_;
  std::size_t indent_ = 0;
};

inline void ShellReader::run_loaded(Invocation& in, string_view program, std::uint32_t files) noexcept {
  if (one_of(program, "task go-task") && only_shows_tasks(in, program)) return;
  // A pipeline that is pushed runs elsewhere, in a machine made for it: what it does to services counts.
  bool pushes = false;
  for (std::uint32_t i = 1; program == "git" && i < in.count && !pushes; ++i) pushes = text_of(in, i) == "push";
  for (std::uint32_t i = 0; pushes && i < files && i < session_.files.size(); ++i) {
    const WrittenFile file = session_.files[i];
    if (file.content.kind != Stream::known || !is_pipeline(file.path)) continue;
    const std::uint32_t way = in.via;
    in.via |= via::kFresh | via::kContainer;
    read_loaded(in, file.content, Dialect::prose);
    in.via = way;
  }
  // docker build -f FILE: its lines run in the image that is built.
  const bool images = one_of(program, "docker podman") && in.count > 1 && one_of(text_of(in, 1), "build buildx image builder");
  for (const LoadedFile& loaded : kLoadedFiles) {
    if (!one_of(program, loaded.programs)) continue;
    for (std::uint32_t i = 0; i < files && i < session_.files.size(); ++i) {
      const WrittenFile file = session_.files[i];
      if (file.content.kind != Stream::known) continue;
      bool named = is_loaded(base_name(file.path), loaded.names);
      // task -t FILE, ninja -f FILE
      for (std::uint32_t k = 1; k < in.count && !named && !images && loaded.dialect == Dialect::prose && program != "git"; ++k)
        named = resolve(in.cwd, text_of(in, k)) == file.path || text_of(in, k) == file.path;
      if (!named) continue;
      const std::uint32_t way = in.via;
      if (is_test_source(base_name(file.path)) && trial_environment() != Trial::denied) in.via |= via::kTrial;  // its database is one of tests
      if (program == "go" && in.count > 1 && text_of(in, 1) == "generate") {
        generate(in, file.content.text);
      } else if (program == "cmake") read_cmake(in, file.content.text, in.span, true);
      else read_loaded(in, file.content, loaded.dialect);
      in.via = way;
    }
  }
}

inline void ShellReader::read_loaded(Invocation& in, const Stream& content, Dialect dialect) noexcept {
  if (dialect == Dialect::make) return read_texts_of(in, content.text, in.span, 0);
  Nested options;
  options.via = via::kScript;
  options.subshell = true;
  if (dialect == Dialect::shell) return nested(in, content.text, in.span, options);
  if (dialect == Dialect::python && holds_any(content.text, {"def pytest_", "def test_"})) {  // pytest calls these by their names
    string_view called = tree_.join(tree_.copy(""), content.text);
    for (std::size_t at = content.text.find("\ndef test_"); at != string_view::npos; at = content.text.find("\ndef test_", at + 5)) {
      std::size_t end = at + 5;
      while (end < content.text.size() && is_name_byte(content.text[end])) ++end;
      if (content.text.substr(end, 2) != "()") continue;  // what fixtures give is not known
      // Of databases, those of tests; of files and programs, what is there.
      const string_view body = content.text.substr(end, content.text.find("\ndef ", end) - end);
      if (!holds_any(body, {"rmtree(", "os.system(", "subprocess.", "os.remove(", ".unlink("})) continue;
      called = tree_.join(tree_.join(tree_.join(called, "\n"), content.text.substr(at + 5, end - at - 5)), "()\n");
    }
    for (std::size_t at = content.text.find("def pytest_"); at != string_view::npos; at = content.text.find("def pytest_", at + 4)) {
      std::size_t end = at + 4;
      while (end < content.text.size() && is_name_byte(content.text[end])) ++end;
      called = tree_.join(tree_.join(tree_.join(called, "\n"), content.text.substr(at + 4, end - at - 4)), "(None)\n");
    }
    return other_dialect(in, dialect, called, in.span, via::kScript);
  }
  if (dialect != Dialect::prose) return other_dialect(in, dialect, content.text, in.span, via::kScript);
  string_view rest = content.text;
  TaskFolder folder;
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    string_view line = rest.substr(0, newline);
    rest = newline == string_view::npos ? string_view() : rest.substr(newline + 1);
    Invocation placed = in;
    if (folder.holds_for(line)) placed.cwd = resolve(in.cwd, folder.folder());
    // What comes before a command: keys, signs of lists and quotes.
    for (std::size_t at = 0; at < line.size(); ++at) {
      const bool begins = at == 0 || holds(" \t\"'`[{:=>", line[at - 1]);
      if (!begins || !is_name_start(line[at]) || !begins_command(line.substr(at))) continue;
      const std::size_t next = line.find_first_not_of(' ', line.find(' ', at));
      if (next != string_view::npos && holds("=:", line[next])) continue;  // command = ..., a key
      line.remove_prefix(at);
      const char quote = at > 0 && rest.data() != line.data() ? line.data()[-1] : '\0';
      const std::size_t end = quote == '"' || quote == '\'' ? line.find(quote) : line.find_last_not_of(" \t\"'`]},<\r") + 1;
      nested(placed, line.substr(0, end), in.span, options);
      break;
    }
  }
}

}  // namespace tipstaff::gate::shell
