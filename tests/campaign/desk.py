"""Environment in which invariants query the program about one case: a folder with the case's files,
and past answers."""
import json
import pathlib

import files
import program as programs

# of one command that requests it where the direct engine would be chosen, and 17 chips
SIMGRID_SECONDS = 600.0


class Desk:
    def __init__(self, program: str, folder: pathlib.Path, content: dict):
        self.program = program
        self.folder = folder
        self.content = content
        self.answers: dict[tuple, programs.Answer] = {}
        self.runs = 0
        for name, made in content.get("files", {}).items():
            files.write(folder / name, made)

    def ask(self, *arguments, stdin: str = "", allowed_failure: bool = False) -> programs.Answer:
        """A checked answer. @raises Broken"""
        key = (arguments, stdin)
        if key not in self.answers:
            self.runs += 1
            seconds = SIMGRID_SECONDS if '"engine": "simgrid"' in stdin else programs.MOST_SECONDS
            self.answers[key] = programs.ask(self.program, list(arguments), self.folder, stdin, seconds)
        return programs.check(self.answers[key], allowed_failure=allowed_failure)

    def of(self, command: str, config: dict, *flags) -> programs.Answer:
        """Passes the configuration on standard input."""
        return self.ask(command, "-", *flags, stdin=json.dumps(config))

    def result(self, config: dict, *flags) -> dict | None:
        """Result of `run --json`; None if it is refused. @raises Broken"""
        answer = self.of("run", config, "--json", *flags)
        return None if answer.refused else programs.parse(answer.out)
