"""A long conversation in, a shorter one out, with every lost part accounted for."""
