// Extends the module by Emscripten: one command of the command line.

// Runs a command, like ["run", "/in/config.json", "--json"]. Returns its exit code; text goes to print and printErr.
Module["command"] = (words) => {
  const stack = stackSave();
  try {
    const pointers = words.map((word) => {
      const length = lengthBytesUTF8(word) + 1;
      const pointer = stackAlloc(length);
      stringToUTF8(word, pointer, length);
      return pointer;
    });
    const list = stackAlloc(4 * (words.length + 1));
    pointers.forEach((pointer, i) => { HEAP32[(list >> 2) + i] = pointer; });
    return Module["_equarx_command"](words.length, list);
  } finally {
    stackRestore(stack);
  }
};
