// A buffer borrowed from a Python object for the length of a scope.
#ifndef TIPSTAFF_BUFFERS_HPP
#define TIPSTAFF_BUFFERS_HPP

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tipstaff {

// Holding a Py_buffer this way costs a third of a Cython typed memoryview. A Cython function keeps it
// as a local variable; its destructor runs, with the GIL held, however the function ends.
class Borrowed {
 public:
  Borrowed() noexcept = default;
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    if (held_) PyBuffer_Release(&view_);
  }

  // Takes a C-contiguous buffer whose items are one of `codes` (struct format letters of `item_size`
  // bytes) or plain bytes. Returns -1 with a Python error that quotes what came.
  int take(PyObject* object, const char* name, const char* codes, const char* type_name,
           Py_ssize_t item_size, int writable) noexcept {
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &view_, flags) != 0) return -1;
    held_ = true;
    const char* format = view_.format == nullptr ? "B" : view_.format;
    const char* letter = format;
    // Native and little-endian order are the same on every processor this is built for.
    if (*letter == '<' || *letter == '=' || *letter == '@') ++letter;
    const bool single = letter[0] != 0 && letter[1] == 0;
    const bool typed = single && std::strchr(codes, letter[0]) != nullptr &&
                       view_.itemsize == item_size;
    const bool bytes = single && std::strchr("Bbc", letter[0]) != nullptr;
    if (!typed && !bytes) {
      PyErr_Format(PyExc_TypeError, "%s: expected a buffer of %s or of bytes, got items of format '%s'",
                   name, type_name, format);
      return -1;
    }
    if (view_.len % item_size != 0) {
      PyErr_Format(PyExc_ValueError, "%s: %zd bytes are not a whole number of %s", name, view_.len,
                   type_name);
      return -1;
    }
    if (item_size > 1 && writable &&
        reinterpret_cast<std::uintptr_t>(view_.buf) % static_cast<std::uintptr_t>(item_size) != 0) {
      PyErr_Format(PyExc_ValueError, "%s: must start at a multiple of %zd bytes", name, item_size);
      return -1;
    }
    return 0;
  }

  unsigned char* data() const noexcept { return static_cast<unsigned char*>(view_.buf); }
  Py_ssize_t size() const noexcept { return held_ ? view_.len : 0; }
  Py_ssize_t item_size() const noexcept { return view_.itemsize; }

 private:
  Py_buffer view_ = {};
  bool held_ = false;
};

// 64-byte aligned scratch memory for one call.
class Scratch {
 public:
  Scratch() noexcept = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(memory_); }
  // Null when there is no memory.
  unsigned char* make(std::size_t bytes) noexcept {
    memory_ = std::malloc(bytes + 64);
    if (memory_ == nullptr) return nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(memory_);
    return reinterpret_cast<unsigned char*>((address + 63) & ~std::uintptr_t{63});
  }

 private:
  void* memory_ = nullptr;
};

}  // namespace tipstaff

#endif
