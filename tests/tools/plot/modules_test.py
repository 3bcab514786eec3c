"""Tests that the modules of tools/plot import only permitted modules, without cycles."""
import ast
import graphlib
import pathlib
import tempfile
import unittest

PLOT = pathlib.Path(__file__).resolve().parents[3] / "tools" / "plot"
DRAWS = {"matplotlib", "numpy"}
# Permitted imports of each module, in addition to itself and the standard library. TOP may import all.
MODULES = {
    "words": set(),
    "read": {"words"},
    "drawing": {"words", *DRAWS},
    "pictures": {"read", "words", "drawing", *DRAWS},
}
TOP = ""


def imports(path: pathlib.Path) -> set[str]:
    """The Python modules that a file imports, including members of packages: 'read.row'."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def violations(root: pathlib.Path) -> list[str]:
    """Violations in a folder of modules, with remedies."""
    files = {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(root.rglob("*.py"))}
    found, arrows = [], {}
    for name, path in files.items():
        module = name.rpartition(".")[0]
        if module not in (TOP, *MODULES):
            found.append(f"{path.relative_to(root)}: module '{module}' has no rule; "
                         "add one to MODULES of modules_test.py")
            continue
        arrows[name] = set()
        for imported in imports(path):
            target = imported.partition(".")[0]
            ours = target in files or (root / target).is_dir()
            if module != TOP and target != module and (ours or target in DRAWS) and target not in MODULES[module]:
                found.append(f"{path.relative_to(root)}: {module} must not import {target}; move the shared code "
                             "to a module that both may import")
            arrows[name] |= {module for module in (imported, imported.rpartition(".")[0]) if module in files}
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as problem:
        found.append(f"modules import each other in a cycle: {' -> '.join(reversed(problem.args[1]))}; "
                     "move the shared code to a third")
    return found


class Modules(unittest.TestCase):
    def test_modules_import_only_permitted_modules(self):
        self.assertEqual(violations(PLOT), [])

    def test_every_module_exists(self):
        self.assertEqual({path.name for path in PLOT.iterdir() if path.is_dir() and path.name != "__pycache__"},
                         set(MODULES))


class ThisCheck(unittest.TestCase):
    """Trees with one violation each."""

    def found(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return violations(root)

    def test_a_good_tree(self):
        self.assertEqual(self.found({"plot.py": "from pictures import one\n",
                                     "pictures/one.py": "import numpy\nfrom read import row\nfrom words import texts\n",
                                     "read/row.py": "import json\nfrom words import texts\n",
                                     "words/texts.py": "x = 1\n"}), [])

    def test_rejects_forbidden_imports(self):
        for name, text in {"read/row.py": "from pictures import one\n", "words/texts.py": "import read.row\n",
                           "drawing/style.py": "from read.row import Row\n", "pictures/one.py": "import plot\n",
                           "read/late.py": "def f():\n    from drawing import style\n"}.items():
            with self.subTest(name):
                tree = {"plot.py": "", "pictures/one.py": "", "read/row.py": "", "drawing/style.py": ""} | {name: text}
                [problem] = self.found(tree)
                self.assertIn(name, problem)
                self.assertIn("must not import", problem)

    def test_read_must_not_import_matplotlib(self):
        [problem] = self.found({"read/row.py": "from matplotlib.figure import Figure\n"})
        self.assertIn("read must not import matplotlib", problem)

    def test_rejects_cycles(self):
        for tree in ({"read/a.py": "from read import b\n", "read/b.py": "from read.a import x\n"},
                     {"kinds.py": "import figures\n", "figures.py": "import kinds\n"}):
            [problem] = self.found(tree)
            self.assertIn("cycle", problem)

    def test_rejects_modules_without_a_rule(self):
        [problem] = self.found({"attic/old.py": ""})
        self.assertIn("'attic' has no rule", problem)


if __name__ == "__main__":
    unittest.main()
