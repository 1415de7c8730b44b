// Databases of tests on this machine: what is lost there is made again by the next run of the tests.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

// app_test, test-app, ci, tests.db: a part of the name says what it is for. Names with "prod" in them never do.
inline bool is_trial_name(string_view name) noexcept {
  if (name.find("prod") != string_view::npos || name.find("live") != string_view::npos) return false;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && name[end] != '_' && name[end] != '-' && name[end] != '.' && name[end] != '/') ++end;
    if (one_of(name.substr(at, end - at), "test tests testing ci scratch")) return true;
    at = end + 1;
  }
  return false;
}

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
  return is_local_host(host) && is_trial_name(name.substr(0, name.find('?')));
}

// Whether a variable of the environment says that all of this is a trial: those of frameworks, and a database's address.
inline bool is_trial_variable(string_view name, const Value& value) noexcept {
  if ((value.flags & word_flag::kUnknown) != 0) return false;
  if (name == "DATABASE_URL") return is_trial_url(value.text);
  if (name == "DJANGO_SETTINGS_MODULE") return is_trial_name(value.text);
  return one_of(name, "RAILS_ENV RACK_ENV NODE_ENV APP_ENV MIX_ENV DJANGO_ENV FLASK_ENV") && one_of(value.text, "test testing ci");
}

inline bool ShellReader::is_trial_environment() noexcept {
  for (const string_view name : {string_view("RAILS_ENV"), string_view("RACK_ENV"), string_view("NODE_ENV"), string_view("APP_ENV"),
                                 string_view("MIX_ENV"), string_view("DJANGO_ENV"), string_view("FLASK_ENV"), string_view("DATABASE_URL"),
                                 string_view("DJANGO_SETTINGS_MODULE")}) {
    const Variable* const found = session_.find(name);
    if (found != nullptr && found->count == 1 && is_trial_variable(name, session_.values(*found)[0])) return true;
  }
  return false;
}

// Whether a client of a database is to speak to one of tests on this machine.
inline bool ShellReader::is_trial_database(const Invocation& in) noexcept {
  if ((in.via & via::kRemote) != 0) return false;
  const Variable* const host = session_.find("PGHOST");
  if (host != nullptr && (host->count != 1 || !is_local_host(session_.values(*host)[0].text))) return false;
  bool found = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    string_view text = text_of(in, i);
    if (argument(in, i).has(word_flag::kUnknown)) return false;
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

}  // namespace tipstaff::gate::shell
