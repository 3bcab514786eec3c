#!/usr/bin/env python3
"""Tests of tools/cmake/version.cmake: the version of a program by the state of its source tree."""
import pathlib
import re
import subprocess
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
SOURCE = "sim/a.cpp"


class Version(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "version.cpp")
        self.tree = pathlib.Path(folder.name, "tree")
        for name in (SOURCE, "docs/a.md", "experiments/run/a.cpp", "experiments/study/study.json"):
            self.write(name, "first")
        for name in ("tools/cmake/archive.txt", "tools/cmake/version.cmake", ".gitattributes"):
            self.write(name, (TREE / name).read_text())
        self.git("init", "--quiet")
        self.commit()

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments):
        return subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *arguments],
            cwd=self.tree, check=True, capture_output=True).stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a")
        return self.git("rev-parse", "HEAD").decode()[:7]

    def version(self, tree=None):
        subprocess.run(["cmake", f"-DSOURCE={tree or self.tree}", "-DRELEASE=1.2.3", f"-DOUT={self.out}",
                        "-P", TREE / "tools/cmake/version.cmake"], check=True)
        return re.search(r'return "(.*)";', self.out.read_text())[1]

    def export(self):
        archive = self.git("archive", "HEAD")
        tree = self.tree.parent / "exported"
        tree.mkdir()
        subprocess.run(["tar", "-x"], input=archive, cwd=tree, check=True)
        return tree

    def test_a_commit_is_named_after_the_release(self):
        self.assertEqual(self.version(), f"1.2.3+g{self.commit_id()}")

    def commit_id(self):
        return self.git("rev-parse", "HEAD").decode()[:7]

    def test_another_commit_is_another_version(self):
        before = self.version()
        self.write(SOURCE, "second")
        commit = self.commit()
        self.assertNotEqual(self.version(), before)
        self.assertEqual(self.version(), f"1.2.3+g{commit}")

    def test_the_tagged_commit_is_the_release(self):
        self.git("tag", "v1.2.3")
        self.assertEqual(self.version(), "1.2.3")
        self.write(SOURCE, "second")
        self.assertRegex(self.version(), r"^1\.2\.3\+g[0-9a-f]{7}\.dirty\.[0-9a-f]{8}$")

    def test_tags_of_other_releases_are_ignored(self):
        self.git("tag", "v1.2.30")
        self.git("tag", "1.2.3-rc")
        self.assertEqual(self.version(), f"1.2.3+g{self.commit_id()}")

    def test_different_changes_have_different_versions(self):
        versions = {self.version()}
        for text in ("second", "third"):
            self.write(SOURCE, text)
            versions.add(self.version())
        self.write("experiments/run/a.cpp", "second")
        versions.add(self.version())
        self.write("sim/new.cpp", "first")
        versions.add(self.version())
        self.write("sim/new.cpp", "second")
        versions.add(self.version())
        self.assertEqual(len(versions), 6, versions)

    def test_documents_and_studies_do_not_change_the_version(self):
        self.write("docs/a.md", "second")
        self.write("docs/new.md", "first")
        self.write("experiments/study/study.json", "second")
        self.assertEqual(self.version(), f"1.2.3+g{self.commit_id()}")

    def test_an_archive_knows_its_commit(self):
        self.assertEqual(self.version(self.export()), f"1.2.3+g{self.commit_id()}")

    def test_the_archive_of_a_release_is_the_release(self):
        self.git("tag", "v1.2.3")
        self.assertEqual(self.version(self.export()), "1.2.3")

    def test_a_copy_without_git_has_only_the_release(self):
        (self.tree / ".git").rename(self.tree.parent / "elsewhere")
        self.assertEqual(self.version(), "1.2.3")

    def test_the_file_is_left_alone_when_nothing_changed(self):
        self.version()
        before = self.out.stat().st_mtime_ns
        self.version()
        self.assertEqual(self.out.stat().st_mtime_ns, before)


if __name__ == "__main__":
    unittest.main()
