// Browser tests of the playground. Run by browser_test.sh: the short selection has one test per subject; other texts
// select tests by name.
import { runTests, selection } from "./harness.mjs";
import "./engine_tests.mjs";
import "./question_tests.mjs";
import "./page_tests.mjs";

await runTests((name) => selection === "long" || (selection === "short" && name.startsWith("short: ")) || (selection !== "short" && name.includes(selection)));
