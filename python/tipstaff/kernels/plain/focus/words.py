"""The words by which the focus of a request is recognised, in plain Python; ``focus/words.hpp`` has the same."""

from __future__ import annotations

from typing import Final

ENDINGS: Final = frozenset(
    (
        "py pyi pyx pxd ipynb js jsx mjs cjs ts tsx mts cts vue svelte go rs c h cc cpp cxx hpp hxx hh java kt kts "
        "scala groovy rb php cs fs swift mm pl lua r jl ex exs erl hs ml clj dart zig nim sql sh bash zsh fish ps1 "
        "bat html htm css scss sass less json jsonl json5 jsonc yaml yml toml ini cfg conf xml svg md mdx mdc rst "
        "txt csv tsv proto graphql gql tf tfvars hcl lock log env diff patch parquet arrow png jpg jpeg gif pdf "
        "zip gz tar whl cmake mk gradle properties bazel bzl dockerfile"
    ).split()
)
FILE_NAMES: Final = frozenset(
    (
        "Makefile makefile Dockerfile Rakefile Gemfile Jenkinsfile Procfile Vagrantfile Justfile justfile Brewfile "
        "Pipfile Containerfile CODEOWNERS .env .gitignore .gitattributes .gitmodules .dockerignore .editorconfig "
        ".bashrc .zshrc .profile .npmrc .nvmrc .eslintrc .prettierrc .babelrc .clang-format .clang-tidy .flake8 "
        ".pylintrc .coveragerc .tool-versions .python-version .cursorrules .mailmap"
    ).split()
)
PRODUCTS: Final = frozenset(
    (
        "node.js next.js vue.js nuxt.js react.js express.js angular.js ember.js backbone.js three.js chart.js "
        "d3.js alpine.js socket.io nest.js discord.js moment.js p5.js"
    ).split()
)
DOMAINS: Final = frozenset(("com org net io dev ai co edu gov info me uk de").split())
FOLDERS: Final = frozenset(
    ("src lib libs pkg cmd tests packages crates node_modules __tests__ benchmarks usr var opt").split()
)
BRANDS: Final = frozenset(
    (
        "macOS MacOS iOS iPadOS iPhone iPad GitHub GitLab JavaScript TypeScript PostgreSQL MySQL NoSQL SQLite "
        "YouTube OpenAI LinkedIn PyTorch TensorFlow NumPy SciPy PyPI VSCode IntelliJ PyCharm WebStorm LaTeX DevOps "
        "GraphQL MongoDB DynamoDB FastAPI WordPress PowerShell OAuth eBay PayPal DeepMind ChatGPT WiFi PhD kHz MHz "
        "GHz CircleCI OpenAPI CoffeeScript BitBucket StackOverflow ClickHouse CloudFlare"
    ).split()
)
KEYWORDS: Final = frozenset(
    (
        "True False None true false null undefined nil self this super if else elif for while do switch case "
        "return break continue pass try except catch finally with as import from in is not and or new delete def "
        "fn func function class struct enum trait interface impl let const var void int str bool float async await "
        "yield lambda public private protected static"
    ).split()
)
OPENERS: Final = frozenset(
    (
        "a an the in of at to from and or see open read run fix edit update check review test move copy delete "
        "remove add create rename look use import include load save write print show find grep sed awk cat less "
        "more head tail cd ls rm mv cp mkdir touch chmod git npm npx yarn pnpm node deno bun python python3 pip "
        "pytest ruff mypy cargo rustc go gcc g++ clang make cmake docker kubectl bash sh zsh sudo vim vi nano code "
        "emacs java javac mvn gradle tsc eslint prettier jest please then on with for not is"
    ).split()
)
CONTINUES_WORDS: Final = frozenset(("continue continues continuing resume resumes resuming").split())
PLANS_WORDS: Final = frozenset(("plan plans planning").split())
CHANGES_WORDS: Final = frozenset(
    (
        "fix fixes fixing implement implements implementing edit edits editing update updates updating refactor "
        "refactors refactoring"
    ).split()
)
VERIFIES_WORDS: Final = frozenset(("test tests testing verify verifies verifying review reviews reviewing").split())
DEFINES_WORDS: Final = frozenset(("class struct interface enum trait def fn func function").split())

LONGEST_LISTED: Final = 15


def listed(words: frozenset[str], word: bytes, *, folded: bool = False) -> bool:
    """Whether a list has a word of at most 15 bytes; `folded` compares in lower case."""
    if not 1 <= len(word) <= LONGEST_LISTED:
        return False
    return (word.lower() if folded else word).decode("latin-1") in words
