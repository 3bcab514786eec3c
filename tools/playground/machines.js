// Chips and their machines, as offered in controls, in the notation of "import hlo --topology".

import { countText } from "./figures.js";

const kGpuCounts = { gb200: [4, 8, 36, 72], gh200: [2, 4] };
const kCubes = ["4x4x4", "4x4x8", "8x8x8"];

export const isTpu = (chip) => chip.startsWith("tpu-");

const chipsOf = (slice) => slice.split("x").reduce((product, length) => product * Number(length), 1);

function gpuMachines({ name, hasSwitch }) {
  const counts = kGpuCounts[name] ?? [2, 4, 8];
  const switches = hasSwitch ? counts.map((count) => ({ value: `switch:${count}`, label: `${count} GPUs on a switch` })) : [];
  const few = counts.filter((count) => count <= 8);
  const joined = few.map((count) => ({ value: `fully-connected:${count}`, label: `${count} GPUs, fully connected` }));
  return [...switches.reverse(), ...joined.reverse()];
}

/// Machines of a chip with at least two chips: { value, label }.
export function machinesOf(chip) {
  if (!isTpu(chip.name)) return gpuMachines(chip);
  const slices = [...chip.slices.filter((slice) => chipsOf(slice) > 1), ...(chip.hasCubes ? kCubes : [])];
  return slices.map((slice) => ({ value: slice, label: `${countText(chipsOf(slice))} chips, slice ${slice}` }));
}

/// The machine to begin with: eight chips, or the next smaller number.
export function standardMachine(chip) {
  const all = machinesOf(chip);
  const eight = all.find(({ value }) => ["2x4", "2x2x2", "switch:8", "fully-connected:8"].includes(value));
  return (eight ?? all[0]).value;
}

/// Topology of a configuration: "2x4" -> { slice: "2x4" }, "switch:8" -> { switch: 8 }.
export function topologyOf(machine) {
  const [kind, count] = machine.split(":");
  return count === undefined ? { slice: machine } : { [kind]: Number(count) };
}

/// Field of the chip, with the description of the schema.
export function chipField(known, description, standard = "tpu-v5e") {
  const options = known.chips.map(({ name, description: about }) => ({ value: name, label: name, about, group: isTpu(name) ? "TPUs" : "GPUs" }));
  const order = (one) => (one.group === "TPUs" ? 0 : 1);
  return { key: "/hardware", label: "Chip", kind: "choice", standard, description, options: options.sort((a, b) => order(a) - order(b)) };
}

/// Field of the machine. Links may name machines of any chip; the control offers the machines of one.
export function machineField(known, standard) {
  const all = new Map(known.chips.flatMap(machinesOf).map((one) => [one.value, one]));
  return { key: "/topology", label: "Machine", kind: "choice", standard, options: [...all.values()],
    description: "Chips that take part, and the links that join them. The command line takes any other, also one from a file." };
}

/// The same field, with the machines of one chip.
export function machinesFor(field, chip) {
  return { ...field, options: machinesOf(chip) };
}

/// The chip with changed parameters, as a hardware file: its name for options of commands, and the file.
export function changedChip(name, parameters) {
  if (Object.keys(parameters).length === 0) return { word: name, files: {} };
  const file = `/in/${name}-changed.json`;
  return { word: file, files: { [file]: JSON.stringify({ based_on: name, ...parameters }) } };
}

/// Parameters of keys that begin with `prefix`, such as "/hardware/".
export function parametersAt(changed = {}, prefix = "/hardware/") {
  const own = Object.entries(changed).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
}

/// Values with a machine that the chip has.
export function withMachine(values, known) {
  const chip = known.chips.find(({ name }) => name === values["/hardware"]);
  const isOffered = machinesOf(chip).some(({ value }) => value === values["/topology"]);
  return isOffered ? values : { ...values, "/topology": standardMachine(chip) };
}
