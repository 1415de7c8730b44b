"""The plain twins: each kernel in readable Python, with the name and signature of the native one.

They are the specification: one row and one step at a time. Tests hold the native kernels against them; they also serve
where ``TIPSTAFF_KERNELS=plain`` asks for them. `scoring` has hash embeddings and scores; every other module is named
after its kernel family.
"""
