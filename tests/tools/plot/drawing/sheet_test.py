"""Tests the sheet: panels, and what is written around them."""
import pathlib
import tempfile
import unittest
from unittest import mock

from legible import check_legible, drawn_texts
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import sheet, style

LONG = "a title that is so long that no panel beside others has room for it in one line"
MANY = "a subtitle with very many words; " * 8


class Sheet(unittest.TestCase):
    def setUp(self):
        style.use()
        self.addCleanup(sheet.wish, sheet.Wishes())
        self.addCleanup(sheet.say, origin="", trust="", held="")

    def texts(self, figure) -> list[str]:
        return [text for text, _ in drawn_texts(figure)]

    def captioned(self, titles=("a", "b"), subtitle="subtitle", entries=2):
        figure, panels = sheet.frame(11, 3, sheet.Margins(), list(titles))
        for axes in panels:
            axes.set_xlabel("how many of all that there are, and of which sort" if len(titles) < 3 else "how many")
        handles = [Line2D([], [], label=f"a label of some length, {number}") for number in range(entries)]
        sheet.caption(figure, "The title of the picture", subtitle, [handles], sheet.source("paper: someone"))
        return figure

    def test_panels_are_in_rows_as_equal_as_can_be(self):
        self.assertEqual([sheet.across(panels) for panels in (1, 4, 5, 7, 9)], [1, 4, 3, 4, 3])
        figure, panels = sheet.frame(11, 3, sheet.Margins(), list("abcde"))
        self.assertEqual((len(figure.axes), len(panels)), (5, 5))

    def test_every_row_of_panels_has_its_vertical_axis_labelled_once(self):
        _, panels = sheet.frame(11, 3, sheet.Margins(), list("abcde"))
        sheet.label_rows(panels, "speedup")
        self.assertEqual([axes.get_ylabel() for axes in panels], ["speedup", "", "", "speedup", ""])

    def test_the_source_line_names_the_origin(self):
        sheet.say(origin="9.8.7")
        self.assertIn(f"{sheet.SIMULATED} 9.8.7; paper: someone", self.texts(self.captioned()))

    def test_it_says_how_far_times_can_be_trusted_and_where_axes_are_held(self):
        sheet.say(trust="not to be trusted", held="minishards = 4")
        texts = self.texts(self.captioned())
        self.assertIn("not to be trusted", texts)
        self.assertIn("subtitle; minishards = 4", texts)

    def test_the_sheet_grows_with_what_is_written_around_the_panels(self):
        sheet.say(trust="a chip: " * 40)
        figures = [self.captioned(), self.captioned(subtitle=MANY, entries=12)]
        heights = [figure.get_size_inches()[1] for figure in figures]
        panels = [figure.axes[0].get_position().height * height for figure, height in zip(figures, heights)]
        self.assertGreater(heights[1], heights[0])
        self.assertAlmostEqual(panels[0], panels[1])
        for figure in figures:
            check_legible(self, figure)

    def test_long_titles_of_panels_are_broken(self):
        word = "topologies/of/my/own/with_a_name_that_has_no_end.json" * 2
        figure = self.captioned(titles=[LONG, "short", "slice 4x2", word, "e"])
        check_legible(self, figure)
        self.assertIn(LONG, [axes.get_title(loc="left").replace("\n", " ") for axes in figure.axes])

    def test_a_width_that_is_wished_for_is_kept_and_everything_can_be_read(self):
        for millimetres in (84, 120, 178):
            with self.subTest(millimetres):
                sheet.wish(sheet.Wishes(width=millimetres / sheet.INCH_MM))
                figure = self.captioned(titles=[LONG, "b", "c", "d", "e"], subtitle=MANY, entries=5)
                self.assertAlmostEqual(figure.get_size_inches()[0] * sheet.INCH_MM, millimetres)
                check_legible(self, figure)

    def test_a_sheet_without_room_is_refused_with_the_room_it_needs(self):
        sheet.wish(sheet.Wishes(width=84 / sheet.INCH_MM))
        with self.assertRaisesRegex(sheet.TooNarrow, r"needs a width of (\d+) mm at least; 84 mm") as caught:
            sheet.frame(11, 3, sheet.Margins(left=2, right=1))
        needed = int(str(caught.exception).split("width of ")[1].split()[0])
        sheet.wish(sheet.Wishes(width=needed / sheet.INCH_MM))
        sheet.frame(11, 3, sheet.Margins(left=2, right=1))

    def test_a_title_that_is_wished_for(self):
        sheet.wish(sheet.Wishes(title="My own"))
        self.assertIn("My own", self.texts(self.captioned()))
        self.assertNotIn("The title of the picture", self.texts(self.captioned()))
        sheet.wish(sheet.Wishes(title=""))
        bare = self.captioned()
        sheet.wish(sheet.Wishes())
        self.assertLess(bare.get_size_inches()[1], self.captioned().get_size_inches()[1])

    def test_a_dollar_in_a_label_begins_no_formula(self):
        figure, _ = sheet.frame(11, 3, sheet.Margins(), ["$\\alpha_{$", "a $5^2$ b"])
        self.assertIn("$\\alpha_{$", self.texts(figure))
        with tempfile.TemporaryDirectory() as folder:
            (file,) = sheet.save(figure, pathlib.Path(folder), "dollars", ["svg"])
            self.assertIn("a $5^2$ b", file.read_text())  # written beside the letters' outlines

    def test_a_picture_that_cannot_be_written_leaves_nothing_and_an_older_one(self):
        def fill_disk(path, **_):
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device", str(path))

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.png").write_text("older")
            with mock.patch.object(Figure, "savefig", side_effect=fill_disk), self.assertRaises(OSError):
                sheet.save(self.captioned(), folder, "a", ["png"])
            self.assertEqual([(file.name, file.read_text()) for file in folder.iterdir()], [("a.png", "older")])


if __name__ == "__main__":
    unittest.main()
