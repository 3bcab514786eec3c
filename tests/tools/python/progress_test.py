"""Progress of the program below a notebook's cell and on a terminal."""
import contextlib
import io
import os
import sys
import types
import unittest
from unittest import mock

import equarx
from equarx import _program
from equarx._progress import Display, Messages

LINES = ["equarx-sim: 21 % of 4569 candidates, 41 s left\n", "equarx-sim: warning: odd\n", "equarx-sim: 97 %\n", "else\n"]


class Shown:
    """A display that records."""

    def __init__(self):
        self.lines, self.is_closed = [], False

    def show(self, line):
        self.lines.append(line)

    def close(self):
        self.is_closed = True


class Terminal(io.StringIO):
    def isatty(self):
        return True


def notebook():
    """Modules of a kernel, and the outputs that its front end shows."""
    outputs = []

    class Handle:
        def update(self, text):
            outputs[-1] = text

    def display(text, display_id):
        outputs.append(text)
        return Handle()

    shell = types.SimpleNamespace(kernel=object())
    modules = {"IPython": types.SimpleNamespace(get_ipython=lambda: shell),
               "IPython.display": types.SimpleNamespace(display=display, Pretty=lambda text: text)}
    return modules, outputs


class Progress(unittest.TestCase):
    def test_progress_is_shown_and_messages_are_kept(self):
        shown = Shown()
        self.assertEqual(Messages(io.StringIO("".join(LINES)), shown).end(), ["equarx-sim: warning: odd", "else"])
        self.assertEqual(shown.lines, ["21 % of 4569 candidates, 41 s left", "97 %"])
        self.assertTrue(shown.is_closed)

    def test_a_notebook_has_one_output_that_ends_empty(self):
        modules, outputs = notebook()
        with mock.patch.dict(sys.modules, modules):
            display = Display()
            self.assertTrue(display.is_seen)
            display.show("21 %")
            display.show("97 %")
            self.assertEqual(outputs, ["97 %"])
            display.close()
            self.assertEqual(outputs, [""])

    def test_a_terminal_has_one_line_that_is_erased(self):
        with mock.patch.object(sys, "stderr", Terminal()) as terminal:
            display = Display()
            self.assertTrue(display.is_seen)
            display.show("97 percent")
            display.show("short")
            display.close()
            self.assertEqual(terminal.getvalue(), "\r97 percent\rshort     \r     \r")

    def test_nobody_watches(self):
        for stream in (io.StringIO(), None):
            with mock.patch.object(sys, "stderr", stream):
                display = Display()
                self.assertFalse(display.is_seen)
                display.show("97 %")
                display.close()
        with mock.patch.object(sys, "stderr", Terminal()), mock.patch.dict(os.environ, {"EQUARX_PROGRESS": "off"}):
            self.assertFalse(Display().is_seen)

    def test_of_a_tuning(self):
        """The program writes a line every half second for a package whose user watches."""
        with mock.patch.object(sys, "stderr", Terminal()) as terminal:
            equarx.tune({"hardware": "tpu-v6e", "topology": {"slice": "4x4"}, "tensor": {"bytes": "64 MiB"},
                         "collectives": [{"algorithm": "ring"}]})
        self.assertRegex(terminal.getvalue(), r"\r.* left")

    def test_errors_are_found_among_progress(self):
        lines = [*LINES, "equarx-sim: error: /tensor: is odd; change it\n"] + ["equarx-sim: 98 %\n"] * 10
        script = "import sys; sys.stderr.write(sys.argv[1]); sys.exit(2)"
        with mock.patch.object(_program, "path", lambda: sys.executable), \
                mock.patch.object(_program, "require_same_version", lambda: None), \
                contextlib.redirect_stderr(io.StringIO()), self.assertRaises(equarx.InputError) as caught:
            _program.command(["-c", script, "".join(lines)])
        self.assertEqual((str(caught.exception), caught.exception.pointer), ("/tensor: is odd; change it", "/tensor"))


if __name__ == "__main__":
    unittest.main()
