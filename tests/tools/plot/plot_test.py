"""Tests the command tools/plot/plot.py: what it writes, and what it refuses."""
import json
import pathlib
import unittest
import xml.etree.ElementTree

import synthetic
from picture_case import PictureCase

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
NAMES = ["time", "speedup", "error", "breakdown", "paper"]
PREFILLS = ["prefill_time", "prefill_speedup"]


class Writes(PictureCase):
    def check_pictures(self, paths: list[str], names: list[str]) -> None:
        expected = [f"{name}.{ending}" for name in names for ending in ("png", "svg")]
        self.assertEqual([path.rsplit("/", 1)[-1] for path in paths], expected)
        for path in paths:
            content = (self.folder / path).read_bytes()
            if path.endswith("png"):
                self.assertTrue(content.startswith(PNG_MAGIC))
            else:
                self.assertTrue(xml.etree.ElementTree.fromstring(content).tag.endswith("svg"))

    def test_study_writes_all_pictures_into_its_folder_and_prints_their_paths(self):
        synthetic.write_study(self.folder)
        ran = self.run_plot("study", self.folder)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        paths = ran.stdout.split()
        self.check_pictures(paths, [*NAMES[:-1], *PREFILLS, "paper", "error_formats", "breakdown_formats", "tails"])
        with self.subTest("the same input gives the same files"):
            self.run_plot("study", ".", "-o", "again")
            for path in paths:
                again = self.folder / "again" / pathlib.Path(path).name
                self.assertEqual((self.folder / path).read_bytes(), again.read_bytes(), path)

    def test_study_does_without_the_optional_experiment(self):
        synthetic.write_study(self.folder)
        synthetic.write(self.folder / "points.csv", synthetic.sizes() + synthetic.six())
        self.check_pictures(self.run_plot("study", ".").stdout.split(), NAMES)

    def test_study_draws_what_it_has_the_experiments_for(self):
        synthetic.write_study(self.folder)
        synthetic.write(self.folder / "points.csv", synthetic.activations())
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["paper", "tails"])
        header = (self.folder / "rows.csv").read_text().splitlines()[0]
        (self.folder / "rows.csv").write_text(header + "\n")
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["tails"])

    def test_tails_of_another_experiment_are_named_after_it(self):
        synthetic.write_study(self.folder)
        rows = [dict(row, experiment="more") for row in synthetic.activations()]
        synthetic.write(self.folder / "points.csv", [*synthetic.activations(), *rows])
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["paper", "tails", "tails_more"])
        ran = self.run_plot("tails", "points.csv", "--experiment", "more", "-o", "b")
        self.check_pictures(ran.stdout.split(), ["tails_more"])

    def test_one_picture_goes_where_it_is_told_and_folders_are_made(self):
        synthetic.write(self.folder / "points.csv", synthetic.sizes())
        ran = self.run_plot("time", "points.csv", "-o", "new/folder")
        self.check_pictures(ran.stdout.split(), ["time"])
        self.assertTrue((self.folder / "new" / "folder" / "time.png").exists())

    def test_inputs_are_put_together_and_columns_may_be_in_any_order(self):
        rows = synthetic.six()
        synthetic.write(self.folder / "a.csv", rows[:3])
        synthetic.write(self.folder / "b.csv", [dict(reversed(row.items()), more="x") for row in rows[3:]])
        ran = self.run_plot("breakdown", "a.csv", "b.csv")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("semi-loop all-gather", self.texts_of("breakdown.svg"))
        self.assertIn("full-loop both", self.texts_of("breakdown.svg"))

    def texts_of(self, name: str) -> str:
        # matplotlib draws text as outlines, and names each in a comment.
        return (self.folder / name).read_text()

    def test_pictures_name_the_version_and_the_configurations_where_they_are_known(self):
        synthetic.write(self.folder / "points.csv", synthetic.six())
        self.run_plot("breakdown", "points.csv")
        self.assertIn("<!-- simulated with equarx-sim; paper", self.texts_of("breakdown.svg"))
        hashes = [{"result": {"config_hash": name}} for name in ("b", "a")]
        (self.folder / "study.json").write_text(json.dumps({"version": "9.8.7", "points": hashes}))
        self.run_plot("breakdown", "points.csv")
        self.assertIn("<!-- simulated with equarx-sim 9.8.7, 2 configs, hash ", self.texts_of("breakdown.svg"))

    def test_links_of_the_only_collective_or_of_the_one_that_is_named(self):
        synthetic.write_result(self.folder / "result.json", synthetic.result([4, 4]))
        self.check_pictures(self.run_plot("links", "result.json").stdout.split(), ["links"])
        synthetic.write_result(self.folder / "result.json", synthetic.result([4, 4], labels=["bf16", "two shot/8"]))
        ran = self.run_plot("links", "result.json", "--label", "two shot/8", "-o", "new")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.check_pictures(ran.stdout.split(), ["links_two_shot_8"])

    def test_help_has_examples(self):
        ran = self.run_plot("--help")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("plot.py study results/", ran.stdout)


class Refuses(PictureCase):
    def points(self, *changes) -> None:
        """Writes six rows, changed: (row, column, value)."""
        rows = synthetic.six()
        for row, column, value in changes:
            rows[row][column] = value
        synthetic.write(self.folder / "points.csv", rows)

    def test_a_file_that_is_not_there(self):
        self.check_refused(["none.csv", "No such file"], "time", "none.csv")

    def test_a_folder_that_is_no_study(self):
        self.check_refused(["points.csv", "No such file"], "study", self.folder)

    def test_a_folder_instead_of_a_file(self):
        self.check_refused([str(self.folder), "directory"], "time", self.folder)

    def test_a_column_that_is_missing_with_the_nearest(self):
        rows = [{("speed_up" if key == "speedup" else key): value for key, value in row.items()}
                for row in synthetic.six()]
        synthetic.write(self.folder / "points.csv", rows)
        self.check_refused(["points.csv", "'speedup'", "'speed_up'"], "error", "points.csv")

    def test_an_experiment_that_is_missing(self):
        self.points()
        self.check_refused(["points.csv", "'sizes'", "six"], "time", "points.csv")

    def test_values_that_cannot_be(self):
        for value in ("fast", "nan", "inf", "-1", ""):
            with self.subTest(value=value):
                self.points((2, "speedup", value))
                self.check_refused(["points.csv, line 4", "'speedup'"], "error", "points.csv")

    def test_a_time_of_zero(self):
        self.points((2, "time_s", 0))
        self.check_refused(["line 4", "'time_s'"], "breakdown", "points.csv")

    def test_parts_that_do_not_make_up_the_whole(self):
        self.points((1, "bubbles_s", 1e-4))
        self.check_refused(["line 3", "payload_s + scales_s", "time_s"], "breakdown", "points.csv")

    def test_errors_without_numerics(self):
        self.points((1, "mse", ""), (1, "mse_vs_baseline", ""))
        self.check_refused(["line 3", "'full-loop both'", "numerics"], "error", "points.csv")

    def tails(self, *changes, without=()) -> None:
        """Writes the rows of tails, changed: (row, column, value); some left out."""
        rows = synthetic.activations()
        for row, column, value in changes:
            rows[row][column] = value
        synthetic.write(self.folder / "points.csv",
                        [row for place, row in enumerate(rows) if place not in without])

    def test_tails_without_a_row_to_compare_with(self):
        self.tails(without=[7])
        self.check_refused(["line 4", "'int8'", "'files'"], "tails", "points.csv")
        self.tails(without=[2])
        self.check_refused(["line 8", "'int8'", "'normal'"], "tails", "points.csv")

    def test_tails_of_other_values(self):
        self.tails((7, "values", "uniform"))
        self.check_refused(["line 9", "'uniform'", "'normal'", "'files'"], "tails", "points.csv")
        self.tails((7, "values", ""))
        self.check_refused(["line 9", "'values'", "empty"], "tails", "points.csv")

    def test_tails_without_numerics_or_with_nonsense(self):
        self.tails((7, "sqnr_db", ""))
        self.check_refused(["line 9", "'int8'", "no SQNR"], "tails", "points.csv")
        for value in ("nan", "inf", "loud"):
            with self.subTest(value=value):
                self.tails((7, "sqnr_db", value))
                self.check_refused(["line 9", "'sqnr_db'", value], "tails", "points.csv")

    def test_tails_of_a_second_row_or_the_baseline_alone(self):
        self.tails((2, "label", "bf16"))
        self.check_refused(["line 4", "second", "bf16"], "tails", "points.csv")
        self.tails(without=[1, 2, 3, 4, 6, 7, 8, 9])
        self.check_refused(["line 2", "only the baseline"], "tails", "points.csv")

    def test_a_study_that_no_picture_is_for(self):
        synthetic.write_study(self.folder)
        synthetic.write(self.folder / "points.csv", [dict(row, experiment="odd") for row in synthetic.six()])
        header = (self.folder / "rows.csv").read_text().splitlines()[0]
        (self.folder / "rows.csv").write_text(header + "\n")
        self.check_refused(["no picture", "odd"], "study", ".")

    def test_two_machines_in_one_picture(self):
        self.points((3, "hardware", "tpu-v4"))
        self.check_refused(["line 5", "tpu-v4", "tpu-v5e"], "breakdown", "points.csv")

    def test_two_rows_for_one_place(self):
        self.points((3, "label", "bf16"))
        self.check_refused(["line 5", "second", "bf16"], "breakdown", "points.csv")

    def test_broken_files(self):
        header = ",".join(synthetic.six()[0])
        broken = {b"": "empty", header.encode(): "no row", b"\xff\xfe\x00": "not a CSV",
                  f"{header}\n1,2".encode(): "line 2: 2 cells", f"{header},label\n".encode(): "twice"}
        for content, problem in broken.items():
            with self.subTest(problem=problem):
                (self.folder / "points.csv").write_bytes(content)
                self.check_refused(["points.csv", problem], "error", "points.csv")

    def test_rows_of_paper_that_make_no_sense(self):
        for column, value in {"role": "guess", "within": "maybe", "ratio": "0", "tolerance": "10"}.items():
            with self.subTest(column=column):
                rows = synthetic.paper_rows()
                rows[1][column] = value
                synthetic.write(self.folder / "rows.csv", rows)
                self.check_refused(["rows.csv, line 3", f"'{column}'", value], "paper", "rows.csv")

    def test_an_error_leaves_nothing_behind(self):
        synthetic.write_study(self.folder)
        (self.folder / "rows.csv").unlink()
        self.check_refused(["rows.csv"], "study", ".", "-o", "pictures")
        self.assertFalse((self.folder / "pictures").exists())

    def result(self, change=None, **options) -> None:
        """Writes a result of links, changed."""
        content = synthetic.result([2, 3], **options)
        if change:
            change(content)
        synthetic.write_result(self.folder / "result.json", content)

    def test_links_of_several_collectives_without_a_choice_or_with_a_wrong_one(self):
        self.result(labels=["bf16", "int8"])
        self.check_refused(["result.json", "several", "--label", "bf16, int8"], "links", "result.json")
        self.check_refused(["result.json", "'int4'", "bf16, int8"], "links", "result.json", "--label", "int4")

    def test_links_of_representatives_with_the_remedy(self):
        def one_for_each_peer(content):
            content["runs"][0]["links"] = [{"name": "every chip's link forward", "utilisation": 0.5}]
        self.result(one_for_each_peer)
        self.check_refused(["'bf16'", "representatives", "--set /simulation=full"], "links", "result.json")

    def test_a_result_without_links(self):
        self.result(lambda content: content["runs"][0].pop("links"))
        self.check_refused(["result.json", "--json --links"], "links", "result.json")

    def test_links_of_what_is_no_grid(self):
        def rename(content):
            content["runs"][0]["links"][0]["from"] = "left"
        self.result(rename)
        self.check_refused(["result.json", "(0,0)->(1,0)", "grid"], "links", "result.json")
        def join_far(content):
            content["runs"][0]["links"][0]["to"] = "(1,2)"
        self.result(join_far)
        self.check_refused(["(0,0)->(1,0)", "no neighbours"], "links", "result.json")
        synthetic.write_result(self.folder / "result.json", synthetic.result([2, 2, 2, 2]))
        self.check_refused(["4 axes"], "links", "result.json")

    def test_links_that_are_busier_than_possible(self):
        for busy in (-0.1, 1.1, float("nan")):
            with self.subTest(busy=busy):
                self.result(busy=lambda start, end, busy=busy: busy)
                self.check_refused(["result.json", "busy"], "links", "result.json")

    def test_files_that_are_no_result(self):
        for content in (b"", b"{", b"[]", b"{}", b"3", b"\xff\xfe", b'{"runs": [{}]}', b'{"runs": []}',
                        b'{"runs": [{"label": "a", "links": []}], "config": {}}'):
            with self.subTest(content=content):
                (self.folder / "result.json").write_bytes(content)
                self.check_refused(["result.json"], "links", "result.json")
        self.check_refused(["none.json", "No such file"], "links", "none.json")

    def test_wrong_usage(self):
        self.points()
        (self.folder / "file").write_text("")
        self.check_refused(["'pie'", "--help"], "pie", "points.csv")
        self.check_refused(["INPUT"], "time")
        self.check_refused(["one folder"], "study", "a", "b")
        self.check_refused(["--experiment"], "study", ".", "--experiment", "six")
        self.check_refused(["file"], "error", "points.csv", "-o", "file")
        self.check_refused(["--label"], "error", "points.csv", "--label", "bf16")
        self.check_refused(["one JSON file"], "links", "a", "b")
        self.check_refused(["--experiment", "links"], "links", "a", "--experiment", "six")


if __name__ == "__main__":
    unittest.main()
