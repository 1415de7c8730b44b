// What a request was found to name, and what is still wanted of it.
#ifndef TIPSTAFF_FOCUS_FOUND_HPP
#define TIPSTAFF_FOCUS_FOUND_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/focus/bytes.hpp"

namespace tipstaff {

inline constexpr int max_focus_paths = 16;
inline constexpr int max_focus_symbols = 16;

enum FocusSignal : unsigned {
  focus_continues = 1,
  focus_plans = 2,
  focus_changes = 4,
  focus_verifies = 8,
};

// What was found; texts must outlive it.
struct Focus {
  ByteView paths[max_focus_paths];
  int owners[max_focus_paths];  // which text a path was found in
  int n_paths;
  int path_limit;
  ByteView marked[max_focus_symbols];  // written as code
  int n_marked;
  ByteView bare[max_focus_symbols];
  int n_bare;
  int symbol_limit;
  unsigned signals;
};
namespace focus {

static inline bool same(ByteView left, ByteView right) noexcept {
  return left.size == right.size &&
         std::memcmp(left.data, right.data, static_cast<std::size_t>(left.size)) == 0;
}

static inline void add(ByteView* list, int* count, int limit, Bytes s, Bytes e) noexcept {
  const ByteView one = {s, e - s};
  for (int i = 0; i < *count; ++i) {
    if (same(list[i], one)) return;
  }
  if (*count < limit) list[(*count)++] = one;
}

static inline void add_path(Focus* found, int owner, Bytes s, Bytes e) noexcept {
  const int before = found->n_paths;
  add(found->paths, &found->n_paths, found->path_limit, s, e);
  if (found->n_paths > before) found->owners[before] = owner;
}

enum Wanted : unsigned { want_symbols = 1, want_signals = 2, within_code = 4 };

// Whether no further name can change what was found: what is written as code goes before the rest.
static inline bool has_names(const Focus& found, unsigned wanted) noexcept {
  return found.n_paths == found.path_limit &&
         ((wanted & want_symbols) == 0 || found.n_marked == found.symbol_limit);
}

// Whether names that are not written as code are still taken.
static inline bool takes_bare(const Focus& found, unsigned wanted) noexcept {
  return (wanted & want_symbols) != 0 && found.n_bare < found.symbol_limit;
}

static inline bool has_all(const Focus& found, unsigned wanted) noexcept {
  constexpr unsigned every = focus_continues | focus_plans | focus_changes | focus_verifies;
  return has_names(found, wanted) && ((wanted & want_signals) == 0 || found.signals == every);
}

}  // namespace focus
}  // namespace tipstaff

#endif
