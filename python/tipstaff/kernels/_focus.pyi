# The signatures are those of the twins, which tests hold the compiled module to.
from tipstaff.kernels.plain.focus.scanner import focus_scan as focus_scan
from tipstaff.kernels.plain.scoring import available_isas as available_isas
from tipstaff.kernels.plain.scoring import isa as isa
