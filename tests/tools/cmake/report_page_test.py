#!/usr/bin/env python3
"""Tests of tools/cmake/report_page.cmake: only a known library is embedded, and only its scripts
run.

Usage: report_page_test.py LIBRARY_DIR (from npm; without it, tests that need it are skipped)
"""
import base64
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
PAGE = TREE / "tools" / "report"
LIBRARY = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("nothing")
LOCKS = [TREE / "tools" / "report" / "package-lock.json", TREE / "tools" / "activations" / "package-lock.json",
         TREE / "tests" / "tools" / "report" / "package-lock.json"]


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class ReportPage(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def make(self, library="", page=PAGE) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["cmake", f"-DOUT={self.folder / 'page.cpp'}", f"-DPAGE_DIR={page}", f"-DLIBRARY_DIR={library}", "-P",
             TREE / "tools" / "cmake" / "report_page.cmake"], capture_output=True, text=True, check=False)

    def copied_library(self) -> pathlib.Path:
        if not (LIBRARY / "dist").is_dir():
            self.skipTest("this build has no chart library")
        return shutil.copytree(LIBRARY, self.folder / "node_modules" / "uplot")

    def check_policy(self, scripts: int):
        page = (self.folder / "page.cpp").read_text()
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        self.assertEqual((rules["default-src"], rules["base-uri"], rules["form-action"]), ("'none'",) * 3)
        self.assertNotIn("unsafe", policy)
        for tag, rule in (("script", "script-src"), ("style", "style-src")):
            texts = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            self.assertEqual(rules[rule].split(), [hash_of(text) for text in reversed(texts)])
            self.assertEqual(len(texts), scripts if tag == "script" else 1)

    def test_only_the_pages_own_scripts_and_style_are_allowed(self):
        self.assertEqual(self.make().returncode, 0)
        self.check_policy(2)

    def test_the_library_is_allowed_too(self):
        self.assertEqual(self.make(self.copied_library()).returncode, 0)
        self.assertIn("uPlot", (self.folder / "page.cpp").read_text())
        self.check_policy(2)

    def test_a_changed_or_incomplete_library_stops_the_build(self):
        library = self.copied_library()
        for name in ("dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE", "package.json"):
            whole = (library / name).read_bytes()
            for change in (lambda file: file.write_bytes(whole + b" "), lambda file: file.write_bytes(whole[:-1]),
                           lambda file: file.unlink()):
                change(library / name)
                done = self.make(library)
                self.assertNotEqual(done.returncode, 0)
                words = " ".join(done.stderr.split())
                self.assertIn(f"{name} does not match", words)
                self.assertIn(f"remove {self.folder} and configure again", words)
                self.assertFalse((self.folder / "page.cpp").exists())
            (library / name).write_bytes(whole)

    def test_every_package_is_pinned_by_a_hash(self):
        for lock in LOCKS:
            packages = json.loads(lock.read_text())["packages"]
            for name, package in packages.items():
                if name:
                    self.assertRegex(package.get("integrity", ""), r"^sha512-", f"{lock}: {name}")


if __name__ == "__main__":
    unittest.main()
