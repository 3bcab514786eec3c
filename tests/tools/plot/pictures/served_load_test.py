"""Tests the picture of served loads."""
import unittest

import made_up_run
from legible import check_legible, drawn_texts
from picture_case import DrawnCase

from pictures import served_load
from read import served as served_file


class ServedLoadPicture(DrawnCase):
    def write(self, name: str, content: dict) -> None:
        made_up_run.write_result(self.folder / name, content)

    def figure(self, *contents: dict):
        for number, content in enumerate(contents):
            self.write(f"{number}.json", content)
        return served_load.draw([served_file.read(self.folder / f"{number}.json") for number in range(len(contents))])

    def test_latencies_of_several_loads(self):
        figure = self.figure(made_up_run.served(8, capacity=7.5), made_up_run.served(2), made_up_run.served(4))
        check_legible(self, figure)
        first, per_token = figure.axes
        lines = [(list(line.get_xdata()), [round(value, 6) for value in line.get_ydata()]) for line in first.lines]
        self.assertEqual(lines[:2], [([2, 4, 8], [0.1, 0.2, 0.4]), ([2, 4, 8], [0.2, 0.4, 0.8])])
        self.assertEqual(lines[2][0], [7.5, 7.5])
        self.assertEqual([round(value, 6) for value in per_token.lines[0].get_ydata()], [0.01, 0.02, 0.04])
        texts = [text for text, _ in drawn_texts(figure)]
        for words in ("llama.json on 8 x tpu-v5e, slice 4x2", "capacity: 7.5 requests/s", "arriving requests/s",
                      "Time to first token", "Time per output token"):
            self.assertIn(words, texts)

    def test_requests_in_flight(self):
        figure = self.figure(made_up_run.served(4, concurrency=4), made_up_run.served(8, concurrency=8))
        check_legible(self, figure)
        self.assertIn("requests in flight", [text for text, _ in drawn_texts(figure)])

    def test_distributions_of_one_load(self):
        figure = self.figure(made_up_run.served(4, requests=4))
        check_legible(self, figure)
        curve, *points = figure.axes[0].lines
        self.assertEqual(list(curve.get_xdata()), [0.01, 0.01, 0.02, 0.03, 0.04])
        self.assertEqual(list(curve.get_ydata()), [0, 25, 50, 75, 100])
        self.assertEqual([(one.get_xdata()[0], one.get_ydata()[0]) for one in points], [(0.2, 50), (0.4, 99)])
        self.assertIn("llama.json on 8 x tpu-v5e, slice 4x2; 4 requests, 4/s",
                      [text for text, _ in drawn_texts(figure)])

    def test_requests_over_time(self):
        self.assertEqual(served_load.count_over_time([(0, 2), (1, 3), (2, 5)]),
                         ([0, 1, 2, 2, 3, 5], [1, 2, 1, 2, 1, 0]))
        *_, counts = self.figure(made_up_run.served(4, requests=4)).axes
        served, waiting = counts.lines
        self.assertEqual(max(served.get_ydata()), 4)
        self.assertEqual(max(waiting.get_ydata()), 2)
        self.assertEqual((list(served.get_ydata())[-1], list(waiting.get_ydata())[-1]), (0, 0))

    def test_the_command_names_the_version(self):
        self.write("served.json", made_up_run.served(4, requests=4))
        ran = self.run_plot("served", "served.json", "--format", "svg")
        self.assertEqual((ran.stdout, ran.stderr), ("served.svg\n", ""))
        self.assertIn("simulated with equarx-sim 9.8.7", (self.folder / "served.svg").read_text())

    def test_rejects_what_cannot_be_drawn_together(self):
        self.write("a.json", made_up_run.served(4))
        self.check_refused(["a.json: has no requests", "--requests"], "served", "a.json")
        for content, words in ((made_up_run.served(4), "has the load of a.json"),
                               (made_up_run.served(8, concurrency=8), "requests in flight or per second"),
                               (made_up_run.served(8) | {"chips": 16}, "draw them apart"),
                               (made_up_run.served(0), "must be above 0")):
            self.write("b.json", content)
            self.check_refused(["b.json", words], "served", "a.json", "b.json")
        content = made_up_run.served(8)
        del content["ttft"]["p99_s"]
        self.write("b.json", content)
        self.check_refused(["malformed", "p99_s"], "served", "b.json")
        self.write("b.json", made_up_run.advice())
        self.check_refused(["served needs a result of 'equarx-sim serve CONFIG --json'"], "served", "b.json")


if __name__ == "__main__":
    unittest.main()
