"""Commands of pages that the tests do not run, each with the reason. A command that no page has any more is an error."""

BUILDS = "installs packages, builds and tests everything, which is what runs these tests"
WHOLE_STUDY = "takes most of a minute; a test of its own runs this study whole"

NOT_RUN = {
    "docs/tutorial.md": {"bash tools/run.sh": BUILDS},
    "README.md": {
        "bash tools/run.sh": BUILDS,
        "bash tools/test.sh": BUILDS,
        "cmake --preset release": BUILDS,
        "cmake --build --preset release": BUILDS,
        "ctest --preset release": BUILDS,
        "cmake --install build/release --prefix ~/.local": "writes into the user's home folder; tools/check.sh installs",
        "sim reproduce experiments/equarx_paper --strict": WHOLE_STUDY,
    },
}
