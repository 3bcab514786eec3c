"""Tests rejected results of runs."""
import unittest

import made_up_run
from picture_case import PictureCase


class Result(PictureCase):
    def result(self, change=None, **options) -> None:
        """Writes a result of links, changed."""
        content = made_up_run.result([2, 3], **options)
        if change:
            change(content)
        made_up_run.write_result(self.folder / "result.json", content)

    def test_rejects_missing_and_unknown_labels(self):
        self.result(labels=["bf16", "int8"])
        self.check_refused(["result.json", "several", "--label", "bf16, int8"], "links", "result.json")
        self.check_refused(["result.json", "'int4'", "bf16, int8"], "links", "result.json", "--label", "int4")

    def test_rejects_links_of_representative_chips_with_the_remedy(self):
        def one_for_each_peer(content):
            content["runs"][0]["links"] = [{"name": "every chip's link forward", "utilisation": 0.5}]
        self.result(one_for_each_peer)
        self.check_refused(["'bf16'", "representative chips", "--set /simulation=full"], "links", "result.json")

    def test_rejects_results_without_links(self):
        self.result(lambda content: content["runs"][0].pop("links"))
        self.check_refused(["result.json", "--json --links"], "links", "result.json")

    def test_rejects_links_outside_a_grid(self):
        def rename(content):
            content["runs"][0]["links"][0]["from"] = "left"
        self.result(rename)
        self.check_refused(["result.json", "(0,0)->(1,0)", "grid"], "links", "result.json")
        def join_far(content):
            content["runs"][0]["links"][0]["to"] = "(1,2)"
        self.result(join_far)
        self.check_refused(["(0,0)->(1,0)", "not neighbours"], "links", "result.json")
        made_up_run.write_result(self.folder / "result.json", made_up_run.result([2, 2, 2, 2]))
        self.check_refused(["4 axes"], "links", "result.json")

    def test_rejects_invalid_utilizations(self):
        for busy in (-0.1, 1.1, float("nan")):
            with self.subTest(busy=busy):
                self.result(busy=lambda start, end, busy=busy: busy)
                self.check_refused(["result.json", "busy"], "links", "result.json")

    def test_rejects_other_and_malformed_files(self):
        for content in (b"", b"{", b"[]", b"{}", b"3", b"\xff\xfe", b'{"runs": [{}]}', b'{"runs": []}',
                        b'{"runs": [{"label": "a", "links": []}], "config": {}}'):
            with self.subTest(content=content):
                (self.folder / "result.json").write_bytes(content)
                self.check_refused(["result.json"], "links", "result.json")
        self.check_refused(["none.json", "No such file"], "links", "none.json")


if __name__ == "__main__":
    unittest.main()
