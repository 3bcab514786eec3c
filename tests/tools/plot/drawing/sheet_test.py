"""Tests the sheet: panels, and texts around them."""
import pathlib
import tempfile
import unittest
from unittest import mock

from legible import check_legible, drawn_texts
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import sheet, style

LONG = "a title that is so long that no panel next to others has room for it in one line"
MANY = "a subtitle with very many words; " * 8


class Sheet(unittest.TestCase):
    def setUp(self):
        style.use()
        self.addCleanup(sheet.configure, sheet.Settings())
        self.addCleanup(sheet.annotate, origin="", trust="", held="")

    def texts(self, figure) -> list[str]:
        return [text for text, _ in drawn_texts(figure)]

    def captioned(self, titles=("a", "b"), subtitle="subtitle", entries=2):
        figure, panels = sheet.frame(11, 3, sheet.Margins(), list(titles))
        for axes in panels:
            axes.set_xlabel("a title of an axis that is longer than its panel" if len(titles) < 3 else "count")
        handles = [Line2D([], [], label=f"a label of some length, {number}") for number in range(entries)]
        sheet.caption(figure, "The title of the picture", subtitle, [handles], sheet.source("paper: someone"))
        return figure

    def test_rows_of_panels_have_nearly_equal_length(self):
        self.assertEqual([sheet.across(panels) for panels in (1, 4, 5, 7, 9)], [1, 4, 3, 4, 3])
        figure, panels = sheet.frame(11, 3, sheet.Margins(), list("abcde"))
        self.assertEqual((len(figure.axes), len(panels)), (5, 5))

    def test_each_row_of_panels_has_one_vertical_label(self):
        _, panels = sheet.frame(11, 3, sheet.Margins(), list("abcde"))
        sheet.label_rows(panels, "speedup")
        self.assertEqual([axes.get_ylabel() for axes in panels], ["speedup", "", "", "speedup", ""])

    def test_the_source_line_names_the_origin(self):
        sheet.annotate(origin="9.8.7")
        self.assertIn(f"{sheet.SIMULATED} 9.8.7; paper: someone", self.texts(self.captioned()))

    def test_texts_include_the_note_on_calibration_and_held_axes(self):
        sheet.annotate(trust="not to be trusted", held="minishards = 4")
        texts = self.texts(self.captioned())
        self.assertIn("not to be trusted", texts)
        self.assertIn("subtitle; minishards = 4", texts)

    def test_the_sheet_grows_with_what_is_written_around_the_panels(self):
        sheet.annotate(trust="a chip: " * 40)
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

    def test_a_fixed_width_is_kept_and_legible(self):
        for millimetres in (84, 120, 178):
            with self.subTest(millimetres):
                sheet.configure(sheet.Settings(width=millimetres / sheet.INCH_MM))
                figure = self.captioned(titles=[LONG, "b", "c", "d", "e"], subtitle=MANY, entries=5)
                self.assertAlmostEqual(figure.get_size_inches()[0] * sheet.INCH_MM, millimetres)
                check_legible(self, figure)

    def test_a_narrow_sheet_is_rejected_with_the_required_width(self):
        sheet.configure(sheet.Settings(width=84 / sheet.INCH_MM))
        with self.assertRaisesRegex(sheet.TooNarrow, r"needs a width of (\d+) mm at least; 84 mm") as caught:
            sheet.frame(11, 3, sheet.Margins(left=2, right=1))
        needed = int(str(caught.exception).split("width of ")[1].split()[0])
        sheet.configure(sheet.Settings(width=needed / sheet.INCH_MM))
        sheet.frame(11, 3, sheet.Margins(left=2, right=1))

    def test_a_title_of_the_user(self):
        sheet.configure(sheet.Settings(title="My own"))
        self.assertIn("My own", self.texts(self.captioned()))
        self.assertNotIn("The title of the picture", self.texts(self.captioned()))
        sheet.configure(sheet.Settings(title=""))
        bare = self.captioned()
        sheet.configure(sheet.Settings())
        self.assertLess(bare.get_size_inches()[1], self.captioned().get_size_inches()[1])

    def test_a_dollar_does_not_start_a_formula(self):
        figure, _ = sheet.frame(11, 3, sheet.Margins(), ["$\\alpha_{$", "a $5^2$ b"])
        self.assertIn("$\\alpha_{$", self.texts(figure))
        with tempfile.TemporaryDirectory() as folder:
            (file,) = sheet.save(figure, pathlib.Path(folder), "dollars", ["svg"])
            self.assertIn("a $5^2$ b", file.read_text())  # next to the outlines of the letters

    def test_a_failed_write_keeps_the_previous_picture(self):
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
