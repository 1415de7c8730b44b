// Sees whether a list of messages is what it was, by the identities of its objects and the versions of its dictionaries.
#ifndef TIPSTAFF_TREE_GUARD_HPP
#define TIPSTAFF_TREE_GUARD_HPP

#include <Python.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

// A dictionary's version changes whenever the dictionary does, and no two ever have the same one (PEP 509). Python 3.12
// gave some of its bits to others and 3.14 removed it.
#if PY_VERSION_HEX < 0x030C0000 && !defined(Py_GIL_DISABLED)
#define TIPSTAFF_DICT_VERSIONS 1
#else
#define TIPSTAFF_DICT_VERSIONS 0
#endif

namespace tipstaff {

// Length in UTF-16 units: a character above U+FFFF is two.
inline Py_ssize_t utf16_length(PyObject* text) noexcept {
  Py_ssize_t length = PyUnicode_GET_LENGTH(text);
  if (PyUnicode_KIND(text) != PyUnicode_4BYTE_KIND) return length;
  const Py_UCS4* data = PyUnicode_4BYTE_DATA(text);
  Py_ssize_t astral = 0;
  for (Py_ssize_t i = 0; i < length; ++i) astral += data[i] > 0xFFFF;
  return length + astral;
}

class TreeGuard {
 public:
  TreeGuard() noexcept = default;
  TreeGuard(const TreeGuard&) = delete;
  TreeGuard& operator=(const TreeGuard&) = delete;
  ~TreeGuard() { forget(0); }

  Py_ssize_t size() const noexcept { return static_cast<Py_ssize_t>(messages_.size()); }

  // How many messages from the first on are unchanged; -1 with a Python error.
  Py_ssize_t unchanged(PyObject* sequence) noexcept {
    PyObject** items;
    Py_ssize_t count;
    if (!open(sequence, &items, &count)) return -1;
    Py_ssize_t same = 0;
    const Py_ssize_t most = count < size() ? count : size();
    if (most > 0 && std::memcmp(items, objects_.data(), static_cast<std::size_t>(most) * sizeof *items) == 0) same = most;
    while (same < most && items[same] == objects_[static_cast<std::size_t>(same)]) ++same;
    // Objects are compared before any is looked into: what the checks below read is then what was recorded.
    same = first_changed(same);
    return same;
  }

  int record(PyObject* sequence, Py_ssize_t start) noexcept {
    PyObject** items;
    Py_ssize_t count;
    if (!open(sequence, &items, &count)) return -1;
    forget(start);
    try {
      for (Py_ssize_t i = start; i < count; ++i) {
        PyObject* message = items[i];
        // Both have room before either grows: they must stay of one size.
        if (objects_.size() == objects_.capacity()) objects_.reserve(2 * objects_.size() + 8);
        messages_.push_back(Message{dicts_.size(), lists_.size(), items_.size()});
        objects_.push_back(message);
        Py_INCREF(message);
        if (!add(message, 0) && messages_.size() <= first_unguarded_) first_unguarded_ = messages_.size() - 1;
      }
    } catch (const std::bad_alloc&) {
      forget(0);
      PyErr_NoMemory();
      return -1;
    }
    return 0;
  }

 private:
  static constexpr int max_depth = 64;

  struct Message {
    // Where its dictionaries, lists and items begin.
    std::size_t dicts;
    std::size_t lists;
    std::size_t items;
  };
  struct Dict {
    PyObject* object;
#if TIPSTAFF_DICT_VERSIONS
    std::uint64_t version;
#else
    std::size_t first;  // of its keys and values among items_
    Py_ssize_t size;
#endif
  };
  struct List {
    PyObject* object;
    std::size_t first;
    Py_ssize_t size;
  };

  std::vector<Message> messages_;
  std::vector<PyObject*> objects_;  // the messages themselves
  std::vector<Dict> dicts_;
  std::vector<List> lists_;
  std::vector<PyObject*> items_;
  // The first message with something in it that cannot be watched.
  std::size_t first_unguarded_ = PY_SSIZE_T_MAX;

  static bool open(PyObject* sequence, PyObject*** items, Py_ssize_t* count) noexcept {
    if (!PyList_Check(sequence) && !PyTuple_Check(sequence)) {
      PyErr_Format(PyExc_TypeError, "messages: expected a list or a tuple, got %.100s", Py_TYPE(sequence)->tp_name);
      return false;
    }
    *items = PySequence_Fast_ITEMS(sequence);
    *count = PySequence_Fast_GET_SIZE(sequence);
    return true;
  }

#if TIPSTAFF_DICT_VERSIONS
  static std::uint64_t version(PyObject* dict) noexcept {
    return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
  }
#endif

  void keep(PyObject* object) {
    items_.push_back(object);
    Py_INCREF(object);
  }

  // Records a tree; false where something in it cannot be watched.
  bool add(PyObject* object, int depth) {
    if (PyUnicode_CheckExact(object) || object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) ||
        PyFloat_CheckExact(object) || PyBytes_CheckExact(object)) {
      return true;
    }
    if (depth > max_depth) return false;
    if (PyDict_CheckExact(object)) return add_dict(object, depth);
    if (PyList_CheckExact(object)) {
      const List list{object, items_.size(), PyList_GET_SIZE(object)};
      for (Py_ssize_t i = 0; i < list.size; ++i) keep(PyList_GET_ITEM(object, i));
      lists_.push_back(list);
      Py_INCREF(object);
      for (Py_ssize_t i = 0; i < list.size; ++i) {
        if (!add(items_[list.first + static_cast<std::size_t>(i)], depth + 1)) return false;
      }
      return true;
    }
    if (PyTuple_CheckExact(object)) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
        if (!add(PyTuple_GET_ITEM(object, i), depth + 1)) return false;
      }
      return true;
    }
    return false;
  }

  bool add_dict(PyObject* object, int depth) {
    const std::size_t first = items_.size();
    const Py_ssize_t size = PyDict_GET_SIZE(object);
#if TIPSTAFF_DICT_VERSIONS
    const Dict dict{object, version(object)};
#else
    const Dict dict{object, first, size};
#endif
    PyObject* key;
    PyObject* value;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &value)) {
      keep(key);
      keep(value);
    }
    dicts_.push_back(dict);
    Py_INCREF(object);
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!add(items_[first + 2 * static_cast<std::size_t>(i) + 1], depth + 1)) return false;
    }
    return true;
  }

  bool same(const Dict& dict) const noexcept {
#if TIPSTAFF_DICT_VERSIONS
    return version(dict.object) == dict.version;
#else
    if (PyDict_GET_SIZE(dict.object) != dict.size) return false;
    PyObject* key;
    PyObject* value;
    Py_ssize_t position = 0;
    PyObject* const* expected = items_.data() + dict.first;
    for (Py_ssize_t i = 0; i < dict.size; ++i, expected += 2) {
      if (!PyDict_Next(dict.object, &position, &key, &value)) return false;
      if (key != expected[0] || value != expected[1]) return false;
    }
    return true;
#endif
  }

  bool same(const List& list) const noexcept {
    const Py_ssize_t size = list.size;
    if (PyList_GET_SIZE(list.object) != size) return false;
    if (size == 0) return true;
    PyObject* const* now = reinterpret_cast<PyListObject*>(list.object)->ob_item;
    PyObject* const* then = items_.data() + list.first;
    // Most lists have one block or two: the first and the last are all of them, without a loop to foretell.
    if (now[0] != then[0] || now[size - 1] != then[size - 1]) return false;
    for (Py_ssize_t i = 1; i < size - 1; ++i) {
      if (now[i] != then[i]) return false;
    }
    return true;
  }

#if TIPSTAFF_DICT_VERSIONS
  // The first of `n` dictionaries that changed, else `n`. Eight are compared between two branches.
  std::size_t first_changed_dict(std::size_t n) const noexcept {
    const Dict* dicts = dicts_.data();
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
      std::uint64_t difference = 0;
      for (std::size_t j = i; j < i + 8; ++j) difference |= version(dicts[j].object) ^ dicts[j].version;
      if (difference != 0) break;
    }
    while (i < n && same(dicts[i])) ++i;
    return i;
  }
#else
  std::size_t first_changed_dict(std::size_t n) const noexcept {
    std::size_t i = 0;
    while (i < n && same(dicts_[i])) ++i;
    return i;
  }
#endif

  // The first of `count` messages that changed, else `count`. All dictionaries, then all lists: each check reads memory
  // that does not depend on the one before it.
  Py_ssize_t first_changed(Py_ssize_t count) const noexcept {
    const std::size_t n = static_cast<std::size_t>(count);
    const std::size_t n_dicts = n < messages_.size() ? messages_[n].dicts : dicts_.size();
    const std::size_t n_lists = n < messages_.size() ? messages_[n].lists : lists_.size();
    std::size_t first = n;
    const std::size_t changed = first_changed_dict(n_dicts);
    if (changed < n_dicts) first = owner(&Message::dicts, changed);
    for (std::size_t i = 0; i < n_lists; ++i) {
      if (!same(lists_[i])) {
        const std::size_t found = owner(&Message::lists, i);
        if (found < first) first = found;
        break;
      }
    }
    return static_cast<Py_ssize_t>(first < first_unguarded_ ? first : first_unguarded_);
  }

  // The message that the i-th of such records belongs to: the last that begins at or before it.
  std::size_t owner(std::size_t Message::*start, std::size_t i) const noexcept {
    std::size_t low = 0;
    std::size_t high = messages_.size();
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      if (messages_[middle].*start <= i) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  void forget(Py_ssize_t start) noexcept {
    const std::size_t n = static_cast<std::size_t>(start);
    if (n >= messages_.size()) return;
    const Message first = messages_[n];
    // Nothing may be found half forgotten by code that a finaliser runs.
    std::vector<PyObject*> dropped;
    try {
      dropped.reserve(dicts_.size() + lists_.size() + items_.size() + messages_.size());
    } catch (const std::bad_alloc&) {
      return leak(n, first);
    }
    for (std::size_t i = first.dicts; i < dicts_.size(); ++i) dropped.push_back(dicts_[i].object);
    for (std::size_t i = first.lists; i < lists_.size(); ++i) dropped.push_back(lists_[i].object);
    for (std::size_t i = first.items; i < items_.size(); ++i) dropped.push_back(items_[i]);
    for (std::size_t i = n; i < objects_.size(); ++i) dropped.push_back(objects_[i]);
    leak(n, first);
    for (PyObject* object : dropped) Py_DECREF(object);
  }

  void leak(std::size_t n, const Message& first) noexcept {
    dicts_.resize(first.dicts, Dict{});
    lists_.resize(first.lists, List{});
    items_.resize(first.items, nullptr);
    messages_.resize(n, Message{});
    objects_.resize(n, nullptr);
    if (first_unguarded_ >= n) first_unguarded_ = PY_SSIZE_T_MAX;
  }
};

}  // namespace tipstaff

#endif
