# The signatures are those of the twins, which tests hold the compiled module to.
from tipstaff.kernels.plain.fused import FusedSearch as FusedSearch
from tipstaff.kernels.plain.fused import query_terms as query_terms
from tipstaff.kernels.plain.scoring import available_isas as available_isas
from tipstaff.kernels.plain.scoring import isa as isa
from tipstaff.kernels.plain.signs import sign_rows as sign_rows
