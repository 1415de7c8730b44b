# The signatures are those of the twins, which tests hold the compiled module to.
from tipstaff.kernels.plain.scoring import available_isas as available_isas
from tipstaff.kernels.plain.scoring import hash_embed as hash_embed
from tipstaff.kernels.plain.scoring import hash_embed_batch as hash_embed_batch
from tipstaff.kernels.plain.scoring import hash_embed_into as hash_embed_into
from tipstaff.kernels.plain.scoring import isa as isa
