// Databases of tests on this machine: what is lost there is made again by the next run of the tests.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

inline bool is_local_host(string_view host) noexcept {
  return host.empty() || host[0] == '/' || one_of(host, "localhost 127.0.0.1 ::1 [::1] 0.0.0.0 host.docker.internal");
}

// scheme://user:password@host:port/database?options
inline bool is_trial_url(string_view url) noexcept {
  std::size_t at = url.find("://");
  if (at == string_view::npos) return false;
  url.remove_prefix(at + 3);
  at = url.find('/');
  if (at == string_view::npos) return false;
  string_view host = url.substr(0, at), name = url.substr(at + 1);
  if ((at = host.rfind('@')) != string_view::npos) host.remove_prefix(at + 1);
  if (host.empty() || host[0] != '[') host = host.substr(0, host.find(':'));
  name = name.substr(0, name.find('?'));
  // What is at hand for development as well, where the address says that it is of this machine.
  return is_local_host(host) && (is_trial_name(name) || (!host.empty() && host[0] != '/' && (ends_with(name, "_dev") || ends_with(name, "_development"))));
}

// This machine, or a service of the same compose file.
inline bool is_own_host(string_view host) noexcept {
  if (host.empty() || host[0] != '[') host = host.substr(0, host.find(':'));
  return is_local_host(host) || one_of(host, "db database postgres postgresql mysql mariadb mongo mongodb");
}

inline bool is_own_url(string_view url) noexcept {
  if (url.find(":memory:") != string_view::npos) return true;
  std::size_t at = url.find("://");
  if (at == string_view::npos) return is_trial_name(url);  // file:./test.db
  string_view host = url.substr(at + 3);
  at = host.find('/');
  const string_view name = at == string_view::npos ? string_view() : host.substr(at + 1);
  host = host.substr(0, at);
  if ((at = host.rfind('@')) != string_view::npos) host.remove_prefix(at + 1);
  return is_own_host(host) && is_trial_name(name.substr(0, name.find('?')));
}

inline Trial trial_of(string_view name, const Value& value) noexcept {
  if (!names_database(name)) return Trial::unsaid;
  if ((value.flags & word_flag::kUnknown) != 0) return Trial::denied;
  const string_view text = value.text;
  if (text.empty()) return Trial::unsaid;
  if (one_of(name, kEnvironments)) return one_of(text, "test testing ci") ? Trial::said : Trial::denied;
  if (name == kSettings) return is_trial_name(text) ? Trial::said : is_feared_name(text) ? Trial::denied : Trial::unsaid;
  if (name == "DATABASE_URL" && is_trial_url(text)) return Trial::said;
  if (one_of(name, kAddresses)) return is_own_url(text) ? Trial::unsaid : Trial::denied;
  if (one_of(name, kHosts)) return is_own_host(text) ? Trial::unsaid : Trial::denied;
  return is_trial_name(text) || text.find(":memory:") != string_view::npos ? Trial::unsaid : Trial::denied;
}

// All that is set: one variable that denies it outweighs those that say it.
inline Trial ShellReader::trial_environment() noexcept {
  Trial all = Trial::unsaid;
  any_database_variable([&](string_view name) noexcept {
    const Variable* const found = session_.find(name);
    for (std::uint32_t i = 0; found != nullptr && i < found->count; ++i) {
      const Trial one = trial_of(name, session_.values(*found)[i]);
      if (one == Trial::said && name == session_.unexported) continue;  // RAILS_ENV=test; rails db:drop
      if (one == Trial::denied || (one == Trial::said && found->count == 1)) all = one;
      if (one == Trial::denied) return true;
    }
    return false;
  });
  return all;
}

// What a command's own words say of it: --env=test, RAILS_ENV=production behind a task, the address of a database.
inline Trial ShellReader::trial_words(const Invocation& in) noexcept {
  Trial all = Trial::unsaid;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word& word = argument(in, i);
    const std::size_t equals = word.text.find('=');
    const string_view option = word.text.substr(0, equals);
    Value value{equals == string_view::npos ? string_view() : word.text.substr(equals + 1), word.flags};
    Trial one = Trial::unsaid;
    if (option == "--remote" && program_name(argument(in, 0)) == "wrangler") {
      one = Trial::denied;
    } else if (option == "--local" && program_name(argument(in, 0)) == "wrangler") {
      one = Trial::said;
    } else if (option == "-database" && i + 1 < in.count) {  // golang-migrate's
      one = is_trial_url(text_of(in, i + 1)) && !argument(in, i + 1).has(word_flag::kUnknown) ? Trial::said : Trial::denied;
    } else if (!option.empty() && option[0] == '-') {
      if (equals == string_view::npos && i + 1 < in.count) value = Value{text_of(in, i + 1), argument(in, i + 1).flags};
      const bool unknown = (value.flags & word_flag::kUnknown) != 0;
      if (value.text.empty() && !unknown) continue;
      if (option == "-e") one = one_of(value.text, "production prod staging stage live") ? Trial::denied : Trial::unsaid;
      else if (option.size() < sizeof "--db" - 1) continue;
      else if (one_of(option, "--env --environment")) one = !unknown && one_of(value.text, "test testing ci") ? Trial::said : Trial::denied;
      else if (one_of(option, "--database --connection --db --dbname")) one = unknown || is_feared_name(value.text) ? Trial::denied : Trial::unsaid;
      else if (one_of(option, "--host --db-host")) one = unknown || !is_own_host(value.text) ? Trial::denied : Trial::unsaid;
      else if (one_of(option, "--url --database-url --db-url")) one = unknown || !is_own_url(value.text) ? Trial::denied : Trial::unsaid;
    } else if (equals != string_view::npos) {
      one = trial_of(option, value);
    }
    if (one == Trial::denied) return one;
    if (one == Trial::said) all = one;
  }
  return all;
}

// A variable that is set for one command alone: by env, sudo, cross-env, docker exec -e.
inline void ShellReader::set_for_command(string_view name, const Value& value) noexcept {
  session_.names_environment = session_.names_environment || names_database(name) || names_other_daemon(name, value);
  if (!is_name(name)) return;
  session_.set(name, &value, 1, false, false);
  session_.mark_exported(name, Exported::yes);
}

// Another machine and a container have variables of their own.
inline void ShellReader::forget_environment() noexcept {
  if (!session_.names_environment) return;
  any_database_variable([&](string_view name) noexcept {
    const Value nothing;
    if (session_.find(name) != nullptr) session_.set(name, &nothing, 1, false, false);
    return false;
  });
}

// PGHOST=h psql is psql --host=h: what a client takes from variables becomes words of it.
inline void ShellReader::take_from_environment(Invocation& in, string_view program) noexcept {
  if (one_of(program, "rails rake pulumi serverless sls cdk cdktf sst sam convex terraform tofu terragrunt chalice zappa copilot amplify")) {
    for (std::size_t start = 0; start < kTargets.size();) {  // AWS_PROFILE=acme-prod pulumi up
      const std::size_t end = kTargets.find(' ', start);
      const string_view name = kTargets.substr(start, end == string_view::npos ? end : end - start);
      start = end == string_view::npos ? kTargets.size() : end + 1;
      const Variable* const found = session_.find(name);
      if (found == nullptr || found->count != 1 || !is_feared_name(session_.values(*found)[0].text)) continue;
      Word word = argument(in, 0);
      word.text = tree_.join(tree_.copy("--target="), session_.values(*found)[0].text);
      word.flags = word_flag::kPseudo;
      const std::uint32_t first = tree_.word_count();
      for (std::uint32_t i = 0; i < in.count; ++i)
        if (tree_.add_word(argument(in, i)) == kNone) return;
      if (tree_.add_word(word) == kNone) return;
      in.first = first;
      ++in.count;
      return;
    }
    return;
  }
  if (one_of(program, "docker docker-compose podman nerdctl")) {  // DOCKER_HOST=ssh://host docker rm x
    for (const string_view name : {string_view("DOCKER_HOST"), string_view("CONTAINER_HOST"), string_view("DOCKER_CONTEXT")}) {
      const Variable* const found = session_.find(name);
      if (found == nullptr || found->count != 1 || !names_other_daemon(name, session_.values(*found)[0])) continue;
      Word word = argument(in, 0);
      word.text = tree_.join(tree_.copy(name == "DOCKER_CONTEXT" ? "--context=" : program == "podman" ? "--url=" : "--host="), session_.values(*found)[0].text);
      word.flags = word_flag::kPseudo;
      const std::uint32_t first = tree_.word_count();
      if (tree_.add_word(argument(in, 0)) == kNone || tree_.add_word(word) == kNone) return;
      for (std::uint32_t i = 1; i < in.count; ++i)
        if (tree_.add_word(argument(in, i)) == kNone) return;
      in.first = first;
      ++in.count;
      return;
    }
    return;
  }
  const bool postgres = one_of(program, "psql pgcli dropdb dropuser pg_restore");
  if (!postgres && !one_of(program, "mysql mysqladmin mariadb mariadb-admin mycli")) return;
  bool host = false, database = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    host = host || starts_with(text, "-h") || starts_with(text, "--host");
    database = database || starts_with(text, "-d") || starts_with(text, "--dbname");
  }
  if (after_options(in, 1, "cdfFhLopPRTUv", "--command --dbname --file --host --port --username --set --variable --output --log-file") < in.count) database = true;
  Word added[2];
  std::uint32_t n = 0;
  const auto take = [&](string_view name, string_view option) noexcept {
    const Variable* const found = session_.find(name);
    if (found == nullptr || found->count == 0) return false;
    const Value value = session_.values(*found)[0];
    const bool unknown = found->count != 1 || (value.flags & word_flag::kUnknown) != 0;
    if (value.text.empty() && !unknown) return false;
    added[n].text = tree_.join(tree_.copy(option), value.text);
    added[n].span = argument(in, 0).span;
    added[n++].flags = static_cast<std::uint16_t>(value.flags | (unknown ? word_flag::kUnknown : 0));
    return true;
  };
  if (!host && !take(postgres ? "PGHOST" : "MYSQL_HOST", "--host=") && postgres) take("PGHOSTADDR", "--host=");
  if (!database && one_of(program, "psql pgcli")) take("PGDATABASE", "--dbname=");
  if (n == 0) return;
  const std::uint32_t first = tree_.word_count();
  if (tree_.add_word(argument(in, 0)) == kNone) return;
  for (std::uint32_t i = 0; i < n; ++i)
    if (tree_.add_word(added[i]) == kNone) return;
  for (std::uint32_t i = 1; i < in.count; ++i)
    if (tree_.add_word(argument(in, i)) == kNone) return;
  in.first = first;
  in.count += n;
}

// \c app, USE app, ATTACH, .open: what follows is done to another database than the one that the client was given.
inline bool leaves_database(string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const bool sign = text[at] == '\\' || text[at] == '.';
    if (sign) ++at;
    while (at < text.size() && is_name_byte(text[at])) ++at;
    if (at == start || (sign && at == start + 1)) {
      at = at == start ? at + 1 : at;
      continue;
    }
    const string_view word = text.substr(start, at - start);
    if (!ascii::one_of(word, "\\c \\connect \\u \\r use attach .open")) continue;
    if (at < text.size() && !holds(" \t", text[at])) continue;
    while (at < text.size() && holds(" \t\"'`", text[at])) ++at;
    const std::size_t name = at;
    while (at < text.size() && (is_name_byte(text[at]) || text[at] == '-')) ++at;
    const string_view other = text.substr(name, at - name);
    if (other.empty() || ascii::one_of(other, "index key")) continue;
    while (at < text.size() && holds(" \t\"'`", text[at])) ++at;
    const bool alone = at >= text.size() || holds(";\n\r\\", text[at]);
    if (!alone || !is_trial_name(other)) return true;
  }
  return false;
}

// Whether a client of a database is to speak to one of tests on this machine.
inline bool ShellReader::is_trial_database(const Invocation& in) noexcept {
  if ((in.via & via::kRemote) != 0) return false;
  bool found = false, by_variable = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    string_view text = text_of(in, i);
    if (argument(in, i).has(word_flag::kUnknown)) {  // "$TEST_DATABASE_URL", by its name
      const string_view name = ascii::variable_in(source_of(argument(in, i).span));
      bool named = is_name(name) && (starts_with(name, "TEST_") || name.find("_TEST_") != string_view::npos);
      for (const string_view other : {"PROD", "LIVE", "STAG", "UAT", "SHARED"}) named = named && name.find(other) == string_view::npos;
      if (text != kUnknown || found || !named || session_.find(name) != nullptr || trial_environment() == Trial::denied) return false;
      found = by_variable = true;
      continue;
    }
    if (text.find("://") != string_view::npos) {
      if (!is_trial_url(text)) return false;
      found = true;
      continue;
    }
    const std::size_t equals = text.find('=');
    string_view option = text.substr(0, equals), value = equals == string_view::npos ? string_view() : text.substr(equals + 1);
    const bool apart = equals == string_view::npos && i + 1 < in.count;
    if (one_of(option, "-h --host -H --hostname -S")) {
      if (apart) value = text_of(in, ++i);
      if (!is_local_host(value)) return false;
    } else if (one_of(option, "--eval -U -u --user --username -f --file -c --command -e --execute -p --port -P --set -v --output -o")) {
      i += apart ? 1 : 0;
    } else if (one_of(option, "-d -D --dbname --database")) {
      if (apart) value = text_of(in, ++i);
      if (value.find("://") != string_view::npos ? !is_trial_url(value) : !is_trial_name(value)) return false;
      found = true;
    } else if (text.size() > 2 && text[0] == '-' && text[1] == 'h') {
      if (!is_local_host(text.substr(2))) return false;
    } else if (!text.empty() && text[0] != '-' && text.find(' ') == string_view::npos) {
      // mongosh HOST:PORT/DATABASE
      if (one_of(text_of(in, 0), "mongo mongosh") && text.find('/') != string_view::npos && !is_local_host(text.substr(0, text.find_first_of(":/")))) return false;
      const bool temporary = one_of(text_of(in, 0), "sqlite3 sqlite duckdb") && starts_with(text, "/tmp/") && text.find("..") == string_view::npos;
      if (!found && !temporary && !is_trial_name(text)) return false;
      found = true;
    }
  }
  if (found && by_variable && in.command != kNone) tree_.command(in.command).via |= via::kTrial;
  return found;
}

// redis-cli -n 15: tests take one of the last stores of this machine, applications the first.
inline bool ShellReader::is_trial_store(const Invocation& in, std::uint32_t end) noexcept {
  if ((in.via & via::kRemote) != 0) return false;
  bool numbered = false;
  for (std::uint32_t i = 1; i < end && i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text == "-u" || text.find("://") != string_view::npos || argument(in, i).has(word_flag::kUnknown)) return false;
    if (text == "-h" && (i + 1 >= in.count || !is_local_host(text_of(in, i + 1)))) return false;
    if (text == "-n" && i + 1 < in.count) numbered = one_of(text_of(in, i + 1), "9 12 13 14 15");
  }
  return numbered;
}

// docker run -d -p 6380:6379 redis; redis-cli -p 6380 flushall: what a container holds that this text started without a volume.
inline bool ShellReader::speaks_to_started(const Invocation& in, std::uint32_t end) noexcept {
  if (session_.started_count == 0 || (in.via & (via::kRemote | via::kContainer)) != 0) return false;
  const auto started = [&](string_view port) noexcept {
    for (std::uint32_t i = 0; i < session_.started_count; ++i)
      if (session_.started_ports[i] == port) return true;
    return false;
  };
  bool found = false;
  for (std::uint32_t i = 1; i < end && i < in.count; ++i) {
    const string_view text = text_of(in, i);
    const std::size_t address = text.find("://");
    if (address != string_view::npos && text[0] != '-') {
      if (argument(in, i).has(word_flag::kUnknown)) return false;
      string_view host = text.substr(address + 3);
      host = host.substr(0, host.find('/'));
      if (const std::size_t at = host.rfind('@'); at != string_view::npos) host.remove_prefix(at + 1);
      const std::size_t colon = host.rfind(':');
      if (colon == string_view::npos || !is_local_host(host.substr(0, colon)) || !started(host.substr(colon + 1))) return false;
      found = true;
      continue;
    }
    const std::size_t equals = text.find('=');
    const string_view option = text.substr(0, equals);
    const bool named = equals != string_view::npos, more = i + 1 < in.count;
    const bool host = one_of(option, "-h --host -H --hostname"), port = one_of(option, "-p --port -P");
    if (!host && !port) continue;
    if (!named && !more) return false;
    const Word& value = argument(in, named ? i : i + 1);
    const string_view given = named ? text.substr(equals + 1) : value.text;
    if (value.has(word_flag::kUnknown) || (host ? !is_local_host(given) : !started(given))) return false;
    found = found || port;
    i += named ? 0 : 1;
  }
  return found;
}

}  // namespace tipstaff::gate::shell
