// Names by which a database, or an environment, is one of tests; variables that name either.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate {

// app_test, test-app, ci, tests.db: a part of the name says what it is for. Names with "prod" in them never do.
inline bool is_trial_name(std::string_view name) noexcept {
  if (name.find("prod") != std::string_view::npos || name.find("live") != std::string_view::npos) return false;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && name[end] != '_' && name[end] != '-' && name[end] != '.' && name[end] != '/') ++end;
    if (ascii::one_of(name.substr(at, end - at), "test tests testing ci scratch")) return true;
    at = end + 1;
  }
  return false;
}

// Variables that say which environment or which database a framework's command is for.
constexpr std::string_view kEnvironments = "RAILS_ENV RACK_ENV NODE_ENV APP_ENV MIX_ENV DJANGO_ENV FLASK_ENV HANAMI_ENV SYMFONY_ENV DEPLOY_ENV ENVIRONMENT";
constexpr std::string_view kAddresses = "DATABASE_URL DB_URL DATABASE_URI SQLALCHEMY_DATABASE_URI DIRECT_URL POSTGRES_URL MYSQL_URL PRIMARY_DATABASE_URL "
                                   "TEST_DATABASE_URL JDBC_DATABASE_URL SPRING_DATASOURCE_URL MONGO_URL MONGO_URI MONGODB_URL MONGODB_URI";
constexpr std::string_view kHosts = "DB_HOST DATABASE_HOST DB_HOSTNAME PGHOST PGHOSTADDR MYSQL_HOST POSTGRES_HOST MONGO_HOST";
constexpr std::string_view kDatabases = "DB_DATABASE DB_NAME DATABASE_NAME PGDATABASE MYSQL_DATABASE POSTGRES_DB";
constexpr std::string_view kSettings = "DJANGO_SETTINGS_MODULE";

// Calls `take` with each of them, until it returns true.
template <typename Take>
bool any_database_variable(Take take) noexcept {
  for (std::string_view list : {kEnvironments, kAddresses, kHosts, kDatabases, kSettings}) {
    while (!list.empty()) {
      const std::size_t blank = list.find(' ');
      if (take(list.substr(0, blank))) return true;
      list = blank == std::string_view::npos ? std::string_view() : list.substr(blank + 1);
    }
  }
  return false;
}

inline bool names_database(std::string_view name) noexcept {
  return name.size() > 4 && any_database_variable([name](std::string_view known) noexcept { return known == name; });
}

// What one of them says: that all of this is a trial, that it is none, or nothing of it.
enum class Trial : std::uint8_t { unsaid, said, denied };

}  // namespace tipstaff::gate
