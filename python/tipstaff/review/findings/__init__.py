"""What tools print in, findings with file, line and message out; and findings in forms that other programs read.

Read `model`, `line_parsers` (one pattern a line), `block_parsers` (several lines make a finding), `parsing` (which
parser for which tool), `reports` (JUnit and SARIF files), then `output` (JSON, SARIF and GitHub annotations).
"""
