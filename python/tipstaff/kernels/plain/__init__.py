"""The plain twins: each kernel in readable Python, with the name and signature of the compiled one.

They are the specification: one row and one step at a time. Tests hold the kernels against them; nothing else in the
package imports them. Each module is named after its kernel family; `scoring` also has the hash embedding.
"""
