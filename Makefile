# libbertqa: `make help` lists the targets.

PREFIX  ?= /usr/local
DESTDIR ?=
LIBDIR  ?= $(PREFIX)/lib
SWIFT   ?= swift
# Options of `swift build`, such as another architecture's (Scripts/cross-arm64.sh).
SWIFT_OPTIONS ?=
PYTHON  ?= python3

header  := include/bertqa.h
number   = $(shell Scripts/version.sh $(1))
abi     := $(call number,ABI_VERSION)
version := $(call number)
library := libbertqa.so.$(abi).$(call number,VERSION_MINOR).$(call number,VERSION_PATCH)

# build/ stages everything in its installed layout; programs, tests and examples use it there.
stage   := $(CURDIR)/build
$(if $(word 2,x$(CURDIR)$(DESTDIR)$(PREFIX)$(LIBDIR)$(TMPDIR)),$(error paths with spaces are not supported))
$(if $(filter-out /%,$(PREFIX) $(LIBDIR)),$(error PREFIX and LIBDIR must begin with /; DESTDIR can be relative))
venv    := .venv
# The binaries do not contain the path of this directory: `make reproducible` compares two builds.
swift_build = $(SWIFT) build -c release --static-swift-stdlib --disable-local-rpath $(SWIFT_OPTIONS) \
  -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=. \
  -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs
products := $(CURDIR)/.build/release
# The files that install-files installs. Packaging overrides them with those of another staged tree.
from_library = $(products)/libbertqa.so
from_tool    = $(products)/bertqa-cli

# Makes Package.swift compile the kernels with -O3, also in debug builds.
export BERTQA_KERNEL_FLAGS = 1
# The modification time of packaged files: that of the commit or of the sources' tarball.
SOURCE_DATE_EPOCH ?= $(shell Scripts/source-date.sh)
export SOURCE_DATE_EPOCH := $(SOURCE_DATE_EPOCH)
# The directory in which each test runner records the skipped tests with their reasons.
export BERTQA_SKIPPED = $(CURDIR)/.build/skipped

.PHONY: all help demo check lint test test-swift test-c test-consumer test-python test-python-long test-parity test-genuine \
  test-debian test-hosts cross-arm64 test-arm64 topics-model manifests fuzz fuzz-replay sanitize faults forks kills linear million \
  differential soak reproducible test-long \
  accuracy bench bench-quick bench-sequence setup setup-tools install uninstall \
  sqlite tarball deb wheel models-large static dist-binary test-packages dist sbom abi-baseline clean

##@ Use

all: ## build the library, the tool and the default model's place under build/
	$(swift_build) --product bertqa
	$(swift_build) --product bertqa-cli
	@$(MAKE) --no-print-directory -s install-files PREFIX=$(stage) LIBDIR=$(stage)/lib DESTDIR=
	@$(SWIFT) --version > $(stage)/swift-version 2> /dev/null # for Scripts/sbom.py

# Comments of the form "##@ GROUP" begin a group of the list.
help: ## list the targets
	@sed -n 's/^##@ /\n/p; s/^\([a-z0-9-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: all ## answer Apple's example, then questions about a document of several pages
	@Scripts/demo.sh build/bin/bertqa

install: all ## install under DESTDIR PREFIX: library, headers, tool, default models, man page
	@$(MAKE) --no-print-directory install-files

uninstall: ## remove what `make install` with the same variables installs
	rm -f $(DESTDIR)$(LIBDIR)/libbertqa.so* $(DESTDIR)$(LIBDIR)/pkgconfig/bertqa.pc $(DESTDIR)$(PREFIX)/bin/bertqa \
	  $(DESTDIR)$(PREFIX)/include/bertqa.h $(DESTDIR)$(PREFIX)/include/bertqa_experimental.h \
	  $(share)/man/man1/bertqa.1 $(share)/bash-completion/completions/bertqa $(share)/zsh/site-functions/_bertqa \
	  $(share)/fish/vendor_completions.d/bertqa.fish
	rm -rf $(DESTDIR)$(LIBDIR)/cmake/bertqa $(share)/doc/bertqa $(patsubst %,$(share)/bertqa/%,$(wildcard models/*))
	! [ -d $(share)/bertqa ] || rmdir --ignore-fail-on-non-empty $(share)/bertqa/models $(share)/bertqa

clean: ## remove the build's files
	rm -rf .build build $(venv) $(bench_venv)

##@ Develop

check: lint test-swift ## format, layers, and the core's tests: under a minute once they are built

lint: $(lint_after) # what needs no build
	$(SWIFT) format lint --strict --parallel --recursive Sources Tests Package.swift
	Tests/format.sh
	$(PYTHON) Tests/layers.py
	Scripts/manifests.sh --check
	$(PYTHON) Scripts/abi.py --check

# Two at a time, in an order in which what needs no build runs beside the build, which uses one processor most of the
# time, and the tests in Swift, whose build waits for the other, begin last. The tests in Python use all processors.
test_parts := test-consumer lint test-c test-swift test-python
test: setup-tools ## set up the requirements, build, then run test_parts
	@rm -rf $(BERTQA_SKIPPED) # of earlier runs, and of tests that are not among these
	@$(MAKE) --no-print-directory -o setup-tools lint_after=setup -j 2 --output-sync=target all setup c-kernels $(filter-out test-python,$(test_parts))
	@$(MAKE) --no-print-directory -o setup -o all test-python
	@Tests/skipped.sh

setup: setup-tools ## install tools from Debian, and a venv with pinned packages
	@Scripts/venv.sh $(venv) $(PYTHON) Tests/python/requirements.txt
	@# Half a gigabyte, which is useful only with Java; its tests are skipped without it.
	@! command -v java > /dev/null || Scripts/venv.sh $(venv) $(PYTHON) Tests/python/spark/requirements.txt

setup-tools: # before a build too, where the compilers are missing
	@Scripts/setup-tools.sh $(PYTHON)

test-swift: ## the core's tests
	Tests/swift.sh

c_tests := c-abi c-kernels c-signatures c-valgrind fuzz-replay
.PHONY: $(c_tests)
test-c: $(c_tests) ## the kernels alone, and the ABI from C and C++: make -j 2 test-c

c-abi: all
	BERTQA_PREFIX=$(stage) Tests/c/run.sh

c-kernels:
	Tests/c/kernels.sh

c-signatures: all
	Tests/abi/signatures.sh

c-valgrind: all
	BERTQA_PREFIX=$(stage) Tests/c/valgrind.sh

test-consumer: ## a Swift program that depends on a tagged version
	Tests/consumer/run.sh

# Three at a time, as some tests mostly wait.
test-python: setup all sqlite ## the Python package, tool, README, packages and ABI, with live comparisons
	BERTQA_PREFIX=$(stage) $(venv)/bin/python -m pytest -q -rs --durations=12 -n 3 --dist=loadfile --no-loadscope-reorder \
	  Tests/python

##@ Test before a release

# The files with additional cases (conftest.py).
test-python-long: setup all ## the Python tests that make test shortens: every case, a Spark cluster with a dying executor
	BERTQA_PREFIX=$(stage) BERTQA_LONG=1 $(venv)/bin/python -m pytest -q -rs \
	  $(shell grep -lE 'import .*(FEWER|LONG)|mark\.long' Tests/python/*/test_*.py)

fuzz-replay: all ## run every committed fuzz input through the library, without libFuzzer
	BERTQA_PREFIX=$(stage) Tests/fuzz/fuzz.sh replay
	Tests/fuzz/fuzz.sh typecheck

fuzz: ## fuzz TARGET (default: all, one after the other) for TIME seconds each, in idle time
	Tests/fuzz/fuzz.sh run $(or $(TIME),60) $(TARGET)

# The C tests (-c) and the Swift tests under AddressSanitizer with LeakSanitizer and UBSan, or under
# ThreadSanitizer.
sanitizers := sanitize-c-address sanitize-c-thread sanitize-swift-address sanitize-swift-thread
.PHONY: $(sanitizers)
sanitize: $(sanitizers) ## the C and Swift tests under AddressSanitizer, LeakSanitizer, UBSan and ThreadSanitizer

$(filter sanitize-c-%,$(sanitizers)): sanitize-c-%:
	Tests/c/sanitize.sh $*

$(filter sanitize-swift-%,$(sanitizers)): sanitize-swift-%:
	Tests/sanitize.sh $*

forks: all ## FORKS (default: 10000) children of a process whose threads use everything for the first time
	BERTQA_PREFIX=$(stage) BERTQA_FORKS=$(or $(FORKS),10000) Tests/c/run.sh first_use_test

faults: all ## make system calls and checked allocations fail, one after the other
	BERTQA_PREFIX=$(stage) Tests/c/faults/run.sh

kills: setup all ## kill what writes records and models KILLS (default: 400) times, fill disks, try other checkpoints
	BERTQA_PREFIX=$(stage) BERTQA_KILLS=$(or $(KILLS),400) $(venv)/bin/python -m pytest -q \
	  $(addprefix Tests/python/tool/test_,filter_kills.py filter_checkpoints.py written_models.py)

linear: all ## count the instructions of every function on hostile inputs of 1, 2, 4 and 8 times a size
	BERTQA_PREFIX=$(stage) Tests/c/linear.sh

million: all ## a million lines, words, labels, examples, pieces: each call ends in bounded memory
	BERTQA_PREFIX=$(stage) Tests/c/million.sh

differential: setup all ## CASES (default: 2000) random cases of each task through every interface
	BERTQA_PREFIX=$(stage) BERTQA_CASES=$(or $(CASES),2000) $(venv)/bin/python -m pytest -q Tests/python/package/test_differential.py

soak: all ## CALLS (default: 1000000) mixed calls from 8 threads in each of 4 processes, without leaks
	BERTQA_PREFIX=$(stage) Tests/c/soak.sh $(CALLS)

reproducible: ## compare two clean builds from different directories byte by byte
	Tests/reproducible.sh $(or $(wildcard $(venv)/bin/python),$(PYTHON))

# The longest first. For fewer: make test-long long_parts="soak million" CALLS=8000
long_parts := reproducible test-debian $(sanitizers) test-python-long fuzz linear differential soak kills forks faults million fuzz-replay test-packages test-hosts test-genuine

test-long: setup all ## run the table of docs/testing.md: long_parts, LANES (default: 2) at a time
	Tests/long.sh $(MAKE) $(long_parts)

DEBIAN_ROOT ?= $(CURDIR)/.build/debian
test-debian: ## build and test with Debian 13's Swift in DEBIAN_ROOT, which debootstrap creates (as root)
	Tests/debian.sh $(DEBIAN_ROOT)

CROSS_ROOT ?= $(CURDIR)/.build/cross
cross-arm64: ## build for arm64, into build/cross/aarch64, in CROSS_ROOT, a Debian 13 on x86-64 (as root)
	Scripts/cross-arm64.sh $(CROSS_ROOT) build/cross/aarch64

test-arm64: all ## cross-arm64, then test its build under emulation: the C tests, and results like this machine's (as root)
	Tests/arm64.sh $(CROSS_ROOT) build/cross/aarch64

test-hosts: setup all ## the components for Haystack, LangChain, LlamaIndex, spaCy, … with those (downloads half a gigabyte)
	BERTQA_PREFIX=$(stage) Tests/hosts.sh $(PYTHON)

test-genuine: all ## vectors of all-MiniLM-L6-v2 and all-mpnet-base-v2 beside sentence-transformers (downloads gigabytes)
	BERTQA_PREFIX=$(stage) Tests/parity/run.sh $(PYTHON) Tests/parity test_genuine.py

test-parity: all ## live comparison with torch and transformers 5, and of CASES (default: 2000) calls with 4 (downloads gigabytes)
	BERTQA_PREFIX=$(stage) Tests/parity/run.sh $(PYTHON) Tests/parity
	BERTQA_PREFIX=$(stage) BERTQA_CASES=$(or $(CASES),2000) Tests/parity/run.sh $(PYTHON) Tests/parity4

##@ Train and measure

# Ends make with a message where a variable is not set: need VARIABLE, WHAT IT NAMES
need = $(if $($(1)),,$(error set $(1)=FILE: $(2)))

topics-model: all ## train models/topics-words again, into build/, from TOPICS and PASSAGES; needs scikit-learn
	rm -rf build/topics-words
	$(call need,TOPICS,labelled texts; models/topics-words/MODEL_CARD.md describes them)
	$(call need,PASSAGES,the passages of that card)
	PYTHONPATH=bindings/python $(PYTHON) training/make_topics.py --topics $(TOPICS) --passages $(PASSAGES) \
	  --out build/topics-words

accuracy: all ## EM and F1 on the files DATA=…; with EMBEDDING=DIR also int8 vectors compared with that model's
	$(call need,DATA,SQuAD questions as JSON lines)
	PYTHONPATH=bindings/python $(PYTHON) Benchmarks/accuracy.py $(DATA)
	$(if $(EMBEDDING),PYTHONPATH=bindings/python $(PYTHON) Benchmarks/embedding_accuracy.py $(EMBEDDING) $(DATA))

bench_venv := .venv-bench
compare = PYTHONPATH=Benchmarks:bindings/python $(bench_venv)/bin/python -m compare $(if $(DATA),--data $(firstword $(DATA)))

bench: all ## compare with other engines, for long; installs torch
	Scripts/venv.sh $(bench_venv) $(PYTHON) Benchmarks/requirements.txt
	$(compare) --output Benchmarks/results

bench-quick: all ## compare with ONNX Runtime: about a minute
	Scripts/venv.sh $(bench_venv) $(PYTHON) Benchmarks/requirements-quick.txt
	$(compare) --quick --output build/bench/quick

bench-sequence: all ## compare one step of a recurrent model with PyTorch: a minute
	Scripts/venv.sh $(bench_venv) $(PYTHON) Benchmarks/requirements.txt
	PYTHONPATH=Benchmarks:bindings/python $(bench_venv)/bin/python Benchmarks/sequence.py

##@ Make packages

sqlite: all ## SQLite's loadable extension: build/lib/bertqa_sqlite.so
	PKG_CONFIG_PATH=$(stage)/lib/pkgconfig $(MAKE) --no-print-directory -C extensions/sqlite \
	  OUTPUT=$(CURDIR)/.build/bertqa_sqlite.so
	Scripts/install-binary.sh .build/bertqa_sqlite.so $(stage)/lib/bertqa_sqlite.so

tarball: all sqlite ## library, tool, headers and models in a relocatable tarball: build/libbertqa-*-linux-*.tar.gz
	Scripts/tarball.sh build

deb: all sqlite ## the Debian packages: build/bertqa_*.deb, and build/postgresql-*-bertqa_*.deb for each installed server
	Scripts/deb.sh build
	Scripts/deb-postgresql.sh build

wheel: all sqlite ## the Python wheels: build/bertqa-*.whl, and build/bertqa_models-*.whl with more models
	Scripts/wheel.sh build $(PYTHON) $(WHEEL_OPTIONS)

models-large: ## the wheel and a tarball of qa-large, which training/README.md makes, from the directory QA_LARGE
	$(call need,QA_LARGE,a model by training/finetune_qa.py)
	Scripts/models-large.sh $(QA_LARGE) build $(PYTHON) $(WHEEL_OPTIONS)

static: all ## a static library with Swift's runtime, for C and C++ programs: build/libbertqa.a
	Scripts/static.sh $(products) build/libbertqa.a $(SWIFT)c

dist-binary: all sqlite ## tarball, deb, wheel and bill of materials for each architecture built here, the sources, SHA256SUMS
	Scripts/dist-binary.sh build $(PYTHON) $(WHEEL_OPTIONS)

test-packages: all ## install the results of dist-binary on bare Debian 12 and 13 (as root; downloads 2 x 60 MB once)
	$(MAKE) --no-print-directory -o all dist-binary
	Tests/packages/run.sh build

sbom: all ## a software bill of materials as SPDX: build/libbertqa-*-linux-*.spdx.json
	$(PYTHON) Scripts/sbom.py $(stage) build

dist: ## a tarball of the sources: build/libbertqa-*.tar.gz
	Scripts/dist.sh build

##@ Write generated files

manifests: ## rewrite models/*/SHA256SUMS after a model changes
	Scripts/manifests.sh

abi-baseline: ## write the baselines in Tests/abi from the headers after a release adds to them
	Tests/abi/baseline.sh Tests/abi/libbertqa.abi
	Tests/abi/baseline.sh include/bertqa_experimental.h Tests/abi/experimental.abi

share   := $(DESTDIR)$(PREFIX)/share
# Relative to the directory of the CMake files, so that the installation can be moved as a whole.
to_include = $(shell realpath -ms --relative-to=$(LIBDIR)/cmake/bertqa $(PREFIX)/include)
substitute = sed -e 's|@VERSION@|$(version)|' -e 's|@MAJOR@|$(call number,VERSION_MAJOR)|' \
  -e 's|@MINOR@|$(call number,VERSION_MINOR)|' -e 's|@ABI@|$(abi)|' -e 's|@LIBRARY@|$(library)|' \
  -e 's|@INCLUDE@|$(to_include)|' -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|'

abi: ## write the Python package's declarations from the headers
	$(PYTHON) Scripts/abi.py

manual: all ## write docs/man/bertqa.1 from the tool's option tables
	build/bin/bertqa manual > docs/man/bertqa.1

.PHONY: abi manual install-files
install-files:
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/bertqa $(DESTDIR)$(PREFIX)/include \
	  $(DESTDIR)$(PREFIX)/bin $(share)/man/man1 $(share)/bertqa/models $(share)/doc/bertqa \
	  $(share)/bash-completion/completions $(share)/zsh/site-functions $(share)/fish/vendor_completions.d
	Scripts/install-binary.sh $(from_library) $(DESTDIR)$(LIBDIR)/$(library)
	ln -sf $(library) $(DESTDIR)$(LIBDIR)/libbertqa.so.$(abi)
	ln -sf libbertqa.so.$(abi) $(DESTDIR)$(LIBDIR)/libbertqa.so
	umask 022; for path in pkgconfig/bertqa.pc cmake/bertqa/bertqaConfig.cmake cmake/bertqa/bertqaConfigVersion.cmake; do \
	  $(substitute) packaging/$$(basename $$path).in > $(DESTDIR)$(LIBDIR)/$$path; done
	install -m 644 $(header) include/bertqa_experimental.h $(DESTDIR)$(PREFIX)/include/
	Scripts/install-binary.sh $(from_tool) $(DESTDIR)$(PREFIX)/bin/bertqa
	install -m 644 docs/man/bertqa.1 $(share)/man/man1/
	Scripts/install-documents.sh $(share)/doc/bertqa $(DESTDIR)$(PREFIX)/include $(share)/bertqa/models
	install -m 644 packaging/completions/bertqa.bash $(share)/bash-completion/completions/bertqa
	install -m 644 packaging/completions/bertqa.zsh $(share)/zsh/site-functions/_bertqa
	install -m 644 packaging/completions/bertqa.fish $(share)/fish/vendor_completions.d/bertqa.fish
	cp -RL models/. $(share)/bertqa/models/
	chmod -R u=rwX,go=rX $(share)/bertqa/models
