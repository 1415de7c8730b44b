// Tools that carry commands among other duties: containers, clusters, schedulers, run-in-environment tools.
#pragma once

#include "tipstaff/gate/shell/programs/trials.hpp"
#include "tipstaff/gate/shell/programs/git.hpp"

namespace tipstaff::gate::shell {

struct Assigned {
  string_view name;
  Value value;
};

// bash, bash:5.2, docker.io/library/bash
inline bool is_shell_image(string_view image) noexcept {
  image = image.substr(image.find_last_of('/') + 1);
  return image.substr(0, image.find_first_of(":@")) == "bash";
}

// "${GITHUB_WORKSPACE}:/src": where a pipeline has the repository.
inline bool names_workspace(string_view written) noexcept {
  const std::size_t dollar = written.find('$');
  if (dollar == string_view::npos) return false;
  written.remove_prefix(dollar + 1);
  if (starts_with(written, "{")) written.remove_prefix(1);
  return one_of(written.substr(0, written.find_first_of("}:,/")), "GITHUB_WORKSPACE CI_PROJECT_DIR TRAVIS_BUILD_DIR BITBUCKET_CLONE_DIR BUILD_SOURCESDIRECTORY WORKSPACE");
}

inline void ShellReader::run_container(Invocation& in) noexcept {
  const string_view program = tree_.command(in.command).program;
  std::uint32_t at = after_options(in, 1, "Hclfp", "--host --context --config --log-level --file --project-name "
                                   "--profile --env-file --project-directory -H");
  const bool compose = program == "docker-compose" || program == "podman-compose" || (at < in.count && text_of(in, at) == "compose");
  if (at < in.count && (text_of(in, at) == "compose" || text_of(in, at) == "container" || text_of(in, at) == "stack")) {
    at = after_options(in, at + 1, "fp", "--file --project-name --profile --env-file --project-directory");
  }
  if (at >= in.count) return;
  const string_view verb = text_of(in, at);
  if (verb == "unshare" && program == "podman") return run_inner(in, after_options(in, at + 1, "", ""), 0);
  const bool exec = verb == "exec", run = verb == "run" || verb == "create";
  if (!exec && !run) return;
  if (program == "lxc") {
    for (std::uint32_t i = at + 1; i < in.count; ++i) {
      if (text_of(in, i) == "--") return run_inner(in, i + 1, via::kContainer);
    }
    return;
  }
  constexpr string_view kLong =
      "--user --workdir --env --env-file --volume --mount --name --network --net --publish --entrypoint --hostname "
      "--label --memory --cpus --platform --device --add-host --cap-add --cap-drop --pull --restart --security-opt "
      "--shm-size --tmpfs --ulimit --ipc --pid --uts --userns --gpus --runtime --log-driver --log-opt --dns --expose "
      "--link --mac-address --volumes-from --detach-keys --index --cgroupns --cidfile --group-add --init-path --ip "
      "--isolation --kernel-memory --memory-swap --oom-score-adj --stop-signal --stop-timeout --storage-opt --sysctl "
      "--volume-driver --service-ports";
  const std::uint32_t operand = after_options(in, at + 1, exec ? "uwe" : "uwevpmhlca", kLong);
  const Session::Mark mark = session_.enter();
  // -e NAME hands on the variable that is set here.
  Pool<Assigned, 16> handed;
  for (std::uint32_t i = at + 1; i < operand && i < in.count; ++i) {
    string_view text = text_of(in, i);
    std::uint16_t flags = argument(in, i).flags;
    if (one_of(text, "-e --env") && i + 1 < operand && i + 1 < in.count) {
      text = text_of(in, i + 1);
      flags = argument(in, ++i).flags;
    } else if (starts_with(text, "--env=")) {
      text.remove_prefix(6);
    } else if (starts_with(text, "-e") && text.size() > 2) {
      text.remove_prefix(2);
    } else {
      continue;
    }
    const std::size_t equals = text.find('=');
    const string_view name = text.substr(0, equals);
    Value value;
    if (equals != string_view::npos) {
      value = Value{text.substr(equals + 1), flags};
    } else if (const Variable* const held = session_.find(name); held != nullptr && held->count == 1) {
      value = session_.values(*held)[0];
    }
    handed.add(Assigned{name, value});
  }
  forget_environment();
  for (std::uint32_t i = 0; i < handed.size(); ++i) set_for_command(handed[i].name, handed[i].value);
  Word entrypoint;
  string_view directory, published;
  bool keeps = exec;  // what is changed there stays: a container that runs already, a volume
  for (std::uint32_t i = at + 1; i < operand && i < in.count; ++i) {
    const string_view text = text_of(in, i);
    string_view value;
    bool volume = false, mount = false;
    const auto take = [&](string_view name) noexcept {
      if (text == name && i + 1 < in.count) value = text_of(in, i + 1);
      else if (text.size() > name.size() && starts_with(text, name) && text[name.size()] == '=') {
        value = text.substr(name.size() + 1);
      } else {
        return false;
      }
      return true;
    };
    if (take("-v") || take("--volume")) {
      volume = true;
    } else if (starts_with(text, "-v") && text.size() > 2) {
      value = text.substr(2);
      volume = true;
    } else if (take("--mount")) {
      mount = true;
    } else if (take("--entrypoint")) {
      entrypoint = argument(in, i);
      entrypoint.text = value;
      continue;
    } else if (take("-w") || take("--workdir")) {
      directory = value;
      continue;
    } else if (take("-p") || take("--publish")) {  // [ADDRESS:]PORT:PORT
      const std::size_t inner = value.rfind(':');
      const std::size_t outer = inner == string_view::npos || inner == 0 ? string_view::npos : value.rfind(':', inner - 1);
      if (inner != string_view::npos) published = value.substr(outer == string_view::npos ? 0 : outer + 1, inner - (outer == string_view::npos ? 0 : outer + 1));
      continue;
    }
    string_view host, inside;
    if (volume) {
      const std::size_t colon = value.find(':');
      if (colon == string_view::npos) continue;
      host = value.substr(0, colon);
      inside = value.substr(colon + 1);
      inside = inside.substr(0, inside.find(':'));
    } else if (mount) {
      string_view rest = value;
      while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const string_view part = rest.substr(0, comma);
        const std::size_t equals = part.find('=');
        const string_view key = part.substr(0, equals);
        const string_view held = equals == string_view::npos ? string_view() : part.substr(equals + 1);
        if (key == "source" || key == "src") host = held;
        if (key == "target" || key == "destination" || key == "dst") inside = held;
        rest = comma == string_view::npos ? string_view() : rest.substr(comma + 1);
      }
    }
    if (take("--volumes-from") || take("--volume-driver")) keeps = true;
    if (host.empty() || inside.empty() || inside[0] != '/') continue;
    // -v "${GITHUB_WORKSPACE}:/workspace"
    if (host.size() == 1 && host[0] == kUnknownPart && names_workspace(source_of(argument(in, i).span))) host = ".";
    if (host.size() == 1 && host[0] == kUnknownPart && i + 1 < in.count && one_of(text, "-v --volume --mount") && names_workspace(source_of(argument(in, i + 1).span))) host = ".";
    // A name without a slash is a volume, not a directory.
    if (host[0] != '/' && host[0] != '.' && host[0] != '~') {
      keeps = true;
      continue;
    }
    const string_view place = resolve(in.cwd, host);
    while (inside.size() > 1 && inside.back() == '/') inside.remove_suffix(1);
    if (!place.empty() && session_.mounts.add(Mount{place, inside}) == nullptr) uncertain(Unresolved::limit, in.span, in.command);
  }
  const string_view cwd = in.cwd;
  in.cwd = {};
  for (std::uint32_t m = 0; m < session_.mounts.size() && !directory.empty(); ++m) {
    const Mount& held = session_.mounts[m];
    if (starts_with(directory, held.inside)) {
      in.cwd = resolve(held.host, tree_.join(tree_.copy("."), directory.substr(held.inside.size())));
    }
  }
  if (in.cwd.empty() && !directory.empty() && directory[0] == '/') in.cwd = directory;
  if (compose) keeps = true;  // its file may name volumes
  if (!keeps && verb == "run" && !published.empty() && session_.mounts.size() == 0 && session_.started_count < Session::kStarted) session_.started_ports[session_.started_count++] = published;
  const std::uint32_t way = via::kContainer | (keeps ? 0u : via::kFresh);
  if (!entrypoint.text.empty()) {
    const std::uint32_t first = tree_.word_count();
    if (tree_.add_word(entrypoint) != kNone) {
      for (std::uint32_t i = operand + 1; i < in.count; ++i) {
        if (tree_.add_word(argument(in, i)) == kNone) break;
      }
      run_copied(in, first, tree_.word_count() - first, way, nullptr);
    }
  } else if (operand + 1 < in.count && starts_with(text_of(in, operand + 1), "-") && is_shell_image(text_of(in, operand))) {
    // docker run bash -c 'x': what the image starts takes the options.
    const std::uint32_t first = tree_.word_count();
    Word shell = argument(in, operand);
    shell.text = "bash";
    if (tree_.add_word(shell) != kNone) {
      for (std::uint32_t i = operand + 1; i < in.count; ++i) {
        if (tree_.add_word(argument(in, i)) == kNone) break;
      }
      run_copied(in, first, tree_.word_count() - first, way, nullptr);
    }
  } else {
    run_inner(in, operand + 1, way);
  }
  in.cwd = cwd;
  session_.leave(mark);
}

inline void ShellReader::run_kubectl(Invocation& in) noexcept {
  bool exec = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (one_of(text, "exec run debug") || (one_of(text, "job cronjob cj") && text_of(in, i - 1) == "create")) exec = true;
    if (text == "rsh") {
      // oc rsh POD COMMAND
      const std::uint32_t pod = after_options(in, i + 1, "ncs", "--namespace --container --shell");
      if (pod + 1 >= in.count) return;
      in.cwd = {};
      return run_inner(in, after_options(in, pod + 1, "", ""), via::kContainer | via::kRemote);
    }
    if (text != "--" || !exec) continue;
    const string_view cwd = in.cwd;
    in.cwd = {};
    run_inner(in, i + 1, via::kContainer | via::kRemote);
    in.cwd = cwd;
    return;
  }
}

// at and batch read what they will run from their input.
inline void ShellReader::run_at(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    if (one_of(text_of(in, i), "-l -d -r -c")) return;
  }
  Nested options;
  options.via = via::kScheduled | via::kEvaluated;
  Word file;
  if (find_option(in, 'f', "", &file) != kNone) {
    Stream stream;
    stream.kind = Stream::file;
    stream.text = file.text;
    stream.span = file.span;
    return nested_stream(in, stream, options, Dialect::shell);
  }
  nested_stream(in, in.input, options, Dialect::shell);
}

inline void ShellReader::run_crontab(Invocation& in) noexcept {
  std::uint32_t i = after_options(in, 1, "u", "");
  for (std::uint32_t k = 1; k < in.count; ++k) {
    if (one_of(text_of(in, k), "-l -r -e")) return;
  }
  Nested options;
  options.via = via::kScheduled;
  if (i < in.count && text_of(in, i) != "-" && text_of(in, i) != "/dev/stdin") {
    Stream stream;
    stream.kind = Stream::file;
    stream.text = text_of(in, i);
    stream.span = argument(in, i).span;
    return nested_stream(in, stream, options, Dialect::crontab);
  }
  nested_stream(in, in.input, options, Dialect::crontab);
}

// aws ssm send-command --parameters commands=["CODE"], az vm run-command invoke --scripts CODE, fab -- COMMAND.
inline void ShellReader::run_cloud(Invocation& in) noexcept {
  if (one_of(tree_.command(in.command).program, "terraform tofu opentofu")) {
    // A plan that destroys, saved in a file, does so when that file is applied.
    bool plan = false, apply = false, destroys = false;
    string_view file;
    for (std::uint32_t i = 1; i < in.count; ++i) {
      string_view text = text_of(in, i);
      if (apply && !text.empty() && text[0] != '-') {
        const string_view path = resolve(in.cwd, text);
        const WrittenFile* const saved = session_.find_file(path.empty() ? text : path);
        if (saved != nullptr && saved->content.kind == Stream::known) nested(in, saved->content.text, argument(in, i).span, Nested{});
        return;
      }
      if (text == "plan") plan = true;
      if (text == "apply") apply = true;
      while (starts_with(text, "-")) text.remove_prefix(1);
      if (text == "destroy") destroys = true;
      if (starts_with(text, "out=")) file = text.substr(4);
      if (text == "out" && i + 1 < in.count) file = text_of(in, i + 1);
    }
    if (plan && destroys && !file.empty()) {
      Stream content;
      content.kind = Stream::known;
      content.text = "terraform destroy";
      content.span = in.span;
      remember_file(in.cwd, file, content, false);
    }
    return;
  }
  Nested options;
  options.via = via::kRemote | via::kEvaluated;
  Invocation remote = in;
  remote.cwd = {};
  const string_view program = tree_.command(in.command).program;
  bool sends = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    if (one_of(word.text, "send-command run-command execute-command start-session")) sends = true;
    if (word.text == "--" && (program == "fab" || (program == "az" && i > 2 && text_of(in, 1) == "ssh"))) {
      if (i + 2 == in.count) return code_word(remote, argument(in, i + 1), options, Dialect::shell);
      return run_inner(remote, i + 1, via::kRemote);
    }
    if (program == "aws" && starts_with(word.text, "--endpoint-url")) {
      // A service of this machine that plays the cloud: as awslocal calls it.
      string_view address = word.text.size() > 14 ? word.text.substr(15) : i + 1 < in.count ? text_of(in, i + 1) : string_view();
      const std::size_t slashes = address.find("://");
      if (slashes != string_view::npos) address.remove_prefix(slashes + 3);
      if (is_local_host(address.substr(0, address.find_first_of(":/"))) && !address.empty()) tree_.command(in.command).program = "awslocal";
    }
    if (!sends) continue;
    if ((word.text == "--scripts" || word.text == "--command") && i + 1 < in.count) {
      code_word(remote, argument(in, i + 1), options, Dialect::shell);
      continue;
    }
    const std::size_t at = word.text.find("commands");
    if (at == string_view::npos || at > 8) continue;
    // commands=CODE, commands=["CODE", ...], {"commands":["CODE"]}
    string_view rest = word.text.substr(at + 8);
    while (!rest.empty() && holds("=\":[ {", rest[0]) && !(rest[0] == '"' && rest.find('"', 1) != string_view::npos && rest[1] != ':')) {
      rest.remove_prefix(1);
    }
    Word code = word;
    if (rest.empty() || rest[0] != '"') {
      while (!rest.empty() && holds("]}\"", rest.back())) rest.remove_suffix(1);
      code.text = rest;
      code_word(remote, code, options, Dialect::shell);
      continue;
    }
    while (!rest.empty()) {
      const std::size_t open = rest.find('"');
      if (open == string_view::npos) break;
      const std::size_t close = rest.find('"', open + 1);
      if (close == string_view::npos) break;
      code.text = rest.substr(open + 1, close - open - 1);
      code_word(remote, code, options, Dialect::shell);
      rest.remove_prefix(close + 1);
    }
  }
}

// poetry run COMMAND, bundle exec COMMAND ...
inline void ShellReader::run_tool(Invocation& in, const Program& program) noexcept {
  struct Verb {
    string_view tool, verb, short_values, long_values;
    std::uint8_t operands;
  };
  static constexpr Verb kVerbs[] = {
      {"poetry", "run", "", "", 0},     {"pipenv", "run", "", "", 0},
      {"uv", "run", "p", "--with --python --project --directory --extra --group --package --env-file", 0},
      {"uv", "tool", "p", "--from --with --python", 0}, {"hatch", "run", "", "", 0},      {"pdm", "run", "", "", 0},
      {"rye", "run", "", "", 0},        {"conda", "run", "np", "--name --prefix --cwd", 0},
      {"mamba", "run", "np", "", 0},    {"micromamba", "run", "np", "", 0}, {"bundle", "exec", "", "", 0},
      {"rbenv", "exec", "", "", 0},     {"pyenv", "exec", "", "", 0},     {"nodenv", "exec", "", "", 0},
      {"mise", "exec", "", "", 0},      {"mise", "x", "", "", 0},         {"asdf", "exec", "", "", 0},
      {"op", "run", "", "--env-file --account", 0}, {"doppler", "run", "pc", "--project --config", 0},
      {"aws-vault", "exec", "d", "--duration --region", 1}, {"chamber", "exec", "", "", 1}, {"direnv", "exec", "", "", 1},
      {"perf", "stat", "oeprdI", "", 0}, {"perf", "record", "oeFcCm", "", 0}, {"perf", "trace", "oe", "", 0},
      {"nix", "run", "", "", 1},        {"nix", "develop", "", "", 0},    {"nix", "shell", "", "", 0},
      {"pipx", "run", "", "--spec --python", 0}, {"dotenvx", "run", "f", "", 0},
      {"distrobox", "enter", "n", "--name", 0}, {"toolbox", "run", "cd", "--container", 0}, {"wsl", "", "du", "", 0},
      {"ip", "netns", "", "", 2},       {"infisical", "run", "", "--env --path --projectId --token", 0},
      {"foreman", "run", "ef", "--env --procfile", 0}, {"heroku", "local:run", "ep", "", 0},
      {"nvm", "exec", "", "", 1},       {"volta", "run", "", "--node --npm --yarn", 0},
      {"tsh", "ssh", "lLip", "--login --proxy --cluster", 1}, {"zellij", "run", "ndh", "--name --direction --cwd", 0},
      {"devbox", "run", "c", "", 0},    {"teller", "run", "", "", 0},
  };
  const std::uint32_t at = after_options(in, 1, "CP", "--directory --project");
  if (at >= in.count) return;
  if (program.name == "wsl") {
    std::uint32_t i = after_options(in, 1, "du", "--distribution --user");
    for (std::uint32_t k = 1; k < i; ++k) {
      if (one_of(text_of(in, k), "-e --exec --unregister --shutdown --terminate")) i = k + 1;
      if (one_of(text_of(in, k), "--unregister --shutdown --terminate")) return;
    }
    return run_inner(in, i, 0);
  }
  const string_view verb = text_of(in, at);
  for (const Verb& known : kVerbs) {
    if (known.tool != program.name || known.verb != verb) continue;
    std::uint32_t i = at + 1;
    if (verb == "develop" || verb == "shell" || verb == "enter") {
      for (std::uint32_t k = i; k + 1 < in.count; ++k) {
        if (one_of(text_of(in, k), "-c --command --")) return run_inner(in, k + 1, 0);
      }
      return;
    }
    if (program.name == "nix" && verb == "run") {  // nix run nixpkgs#bash -- -c CODE
      i = after_options(in, i, "I", "--option --override-input --impure_");
      if (i >= in.count) return;
      Word started = argument(in, i);
      started.text = started.text.substr(started.text.find_last_of("#/:") + 1);
      const std::uint32_t first = tree_.word_count();
      if (started.text.empty() || tree_.add_word(started) == kNone) return;
      for (++i; i < in.count; ++i)
        if (!(text_of(in, i) == "--" && tree_.word_count() == first + 1) && tree_.add_word(argument(in, i)) == kNone) return;
      return run_copied(in, first, tree_.word_count() - first, 0, nullptr);
    }
    if (program.name == "ip" && (i >= in.count || text_of(in, i) != "exec")) return;
    if (program.name == "uv" && verb == "tool") {  // install, upgrade and the like name packages
      if (i >= in.count || text_of(in, i) != "run") return;
      ++i;
    }
    Word code;
    if (one_of(program.name, "doppler infisical") && find_option(in, '\0', "--command", &code) != kNone) return code_word(in, code, Nested{}, Dialect::shell);
    i = after_options(in, i, known.short_values, known.long_values) + known.operands;
    if (i < in.count && text_of(in, i) == "--") ++i;
    // One word with blanks is a text for a shell, there or here.
    if (i + 1 == in.count && begins_command(text_of(in, i))) return code_word(in, argument(in, i), Nested{}, Dialect::shell);
    return run_inner(in, i, 0);
  }
}

}  // namespace tipstaff::gate::shell
