"""Tests the picture of pipelines."""
import re
import unittest

import made_up_trace
from picture_case import PictureCase


class Gantt(PictureCase):
    def setUp(self):
        super().setUp()
        made_up_trace.write(self.folder / "trace.json", ["int8"])

    def drawn(self, *arguments) -> str:
        """The SVG of a picture that must come out."""
        ran = self.run_plot("gantt", *arguments)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        png, svg = ran.stdout.split()
        self.assertTrue((self.folder / png).read_bytes().startswith(b"\x89PNG"))
        return (self.folder / svg).read_text()

    def test_has_a_row_for_the_core_and_for_each_link_of_the_chip(self):
        text = self.drawn("trace.json")
        for words in ("core", "out to (0,1)", "in from (0,1)", "Pipeline of chip (0,0), int8", "equarx-sim 9.8.7",
                      "0123456789abcdef", "tpu-v5e", "busy"):
            self.assertIn(f"<!-- {words}" if words == "core" else words, text)

    def test_synchronization_of_links_is_not_busy_time(self):
        # Two transfers of 1.5 us in 16 us on each link, with 0.25 us of synchronization each.
        text = self.drawn("trace.json")
        column = [found for found in re.findall(r"<!-- (\S.*?) -->", text) if found.endswith("%")]
        self.assertEqual(column, ["94%", "16%", "16%", "3%", "3%"])
        self.assertIn("<!-- per-hop sync -->", text)

    def test_marks_the_second_phase_of_a_single_collective(self):
        self.assertNotIn("AllGather", self.drawn("trace.json"))
        made_up_trace.write(self.folder / "alone.json", ["int8"], other_work=False)
        self.assertIn("AllGather", self.drawn("alone.json"))

    def test_legend_has_the_kinds_of_slices_of_the_picture(self):
        text = self.drawn("trace.json")
        for words in ("find scales", "quantize", "accumulate", "DMA start", "core:", "links:", "payload", "scales",
                      "per-hop sync", "startup", "idle"):
            self.assertIn(words, text)
        self.assertNotIn("find scales", self.drawn("trace.json", "--from", "3us", "--to", "5us"))

    def test_other_chips_and_representatives(self):
        self.assertIn("out to (0,0)", self.drawn("trace.json", "--chip", "(0,1)"))
        self.assertTrue((self.folder / "gantt_0_1.png").exists())
        made_up_trace.write(self.folder / "few.json", ["int8"], representatives=True)
        text = self.drawn("few.json")
        self.assertIn("out to (0,1), forward", text)
        self.assertIn("AllReduce of 1 MiB of bf16 on 2 x tpu-v5e, slice 2x1; one of 2 representative chips", text)

    def test_the_label_must_be_given_if_there_are_several(self):
        made_up_trace.write(self.folder / "two.json", ["bf16", "int8"])
        self.check_refused(["two.json", "--label", "bf16, int8"], "gantt", "two.json")
        self.check_refused(["'int4'", "bf16, int8"], "gantt", "two.json", "--label", "int4")
        self.assertIn("bf16", self.drawn("two.json", "--label", "bf16"))

    def test_rejects_invalid_options(self):
        self.check_refused(["'(5,5)'", "(0,0), (0,1)"], "gantt", "trace.json", "--chip", "(5,5)")
        self.check_refused(["--from", "'soon'", "10us"], "gantt", "trace.json", "--from", "soon")
        self.check_refused(["--to", "'-1us'"], "gantt", "trace.json", "--to=-1us")
        self.check_refused(["--from 9 us", "5 us"], "gantt", "trace.json", "--from", "9us", "--to", "5us")
        self.check_refused(["--from 1 s"], "gantt", "trace.json", "--from", "1s")
        self.check_refused(["--x", "sweep"], "gantt", "trace.json", "--x", "/a")
        self.check_refused(["--experiment"], "gantt", "trace.json", "--experiment", "six")
        self.check_refused(["one JSON file"], "gantt", "trace.json", "trace.json")

    def test_rejects_other_and_malformed_files(self):
        self.check_refused(["none.json", "No such file"], "gantt", "none.json")
        for content in ("", "{}", "[1, 2]", '"otherData": {"runs": 3}}\n', '"otherData": {nonsense\n'):
            (self.folder / "bad.json").write_text(content)
            with self.subTest(content=content):
                self.check_refused(["bad.json", "--trace"], "gantt", "bad.json")

    def test_rejects_too_many_slices(self):
        lines = (self.folder / "trace.json").read_text().splitlines()
        slice_line = next(line for line in lines if '"quantize"' in line)
        many = [lines[0], *[slice_line] * 7000, *lines[1:]]
        (self.folder / "many.json").write_text("\n".join(many))
        self.check_refused(["7024 slices", "--from", "--to"], "gantt", "many.json")


if __name__ == "__main__":
    unittest.main()
