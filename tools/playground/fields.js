// Controls as data, made from the JSON Schemas of the simulator: options, defaults, limits and descriptions.

/// The schema at a JSON pointer below an object's properties, such as "/tensor/dtype".
export function schemaAt(schema, pointer) {
  const parts = pointer.split("/").slice(1);
  return parts.reduce((here, name) => resolved(schema, here)?.properties?.[name], schema);
}

function resolved(schema, here) {
  if (!here?.$ref) return here;
  return here.$ref.split("/").slice(1).reduce((at, name) => at[name], schema);
}

/// Alternatives of an enumeration, also of one next to other forms; undefined without one.
function alternatives(here) {
  return here.enum ?? here.anyOf?.find((form) => form.enum)?.enum ?? here.oneOf?.find((form) => form.enum)?.enum;
}

/// Kind of control: choice, set, integer, number, switch or text (with a unit).
function kindOf(here) {
  if (alternatives(here)) return "choice";
  const type = Array.isArray(here.type) ? here.type[0] : here.type;
  return { integer: "integer", number: "number", boolean: "choice", string: "text" }[type] ?? "text";
}

function optionsOf(here) {
  const names = alternatives(here) ?? (here.type === "boolean" ? ["false", "true"] : []);
  const texts = names.filter((name) => typeof name === "string");
  return texts.map((name) => ({ value: name, label: name }));
}

const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

/// A field for the key at `pointer`. `changes` overrides its parts, such as label and standard value.
export function fieldOf(schema, pointer, changes = {}) {
  const here = resolved(schema, schemaAt(schema, pointer));
  if (!here) throw new Error(`no key ${pointer} in the schema`);
  const options = optionsOf(here);
  if (options.length && here.default === undefined) options.unshift({ value: "", label: "default" });
  return {
    key: pointer, label: capitalized(pointer.split("/").at(-1).replaceAll("_", " ")), kind: kindOf(here), options,
    standard: here.default === undefined ? "" : String(here.default), description: here.description ?? "",
    least: here.minimum ?? here.exclusiveMinimum, most: here.maximum, ...changes,
  };
}

/// Fields of all simple keys below `pointer`, apart from those in `except`; deeper objects are left out.
export function fieldsBelow(schema, pointer, except = []) {
  const properties = resolved(schema, pointer === "" ? schema : schemaAt(schema, pointer)).properties;
  return Object.entries(properties).filter(([name, here]) => isSimple(resolved(schema, here)) && !except.includes(name))
    .map(([name]) => fieldOf(schema, `${pointer}/${name}`));
}

function isSimple(here) {
  const type = Array.isArray(here.type) ? here.type[0] : here.type;
  return Boolean(alternatives(here)) || ["integer", "number", "boolean", "string"].includes(type);
}

/// Problem of a value before the simulator reads it, or "". The simulator checks units, and lists them.
export function problemOf(field, value) {
  if (field.kind === "set") return value.length ? "" : `Choose at least one of ${field.label.toLowerCase()}.`;
  const text = String(value).trim();
  if (text === "") return field.isOptional || field.standard === "" ? "" : `Give a value, such as ${field.standard}.`;
  if (field.kind !== "integer" && field.kind !== "number") return "";
  const number = Number(text);
  if (!Number.isFinite(number)) return `“${text}” is not a number.`;
  if (field.kind === "integer" && !Number.isInteger(number)) return `“${text}” is not a whole number.`;
  if (field.least !== undefined && number < field.least) return `At least ${field.least}.`;
  if (field.most !== undefined && number > field.most) return `At most ${field.most}.`;
  return "";
}

/// Standard values of fields.
export function standardValues(fields) {
  return Object.fromEntries(fields.map((field) => [field.key, field.standard]));
}

/// Value of a field as JSON of a configuration.
export function jsonValue(field, value) {
  if (field.kind === "integer" || field.kind === "number") return Number(value);
  if (field.kind === "choice" && ["true", "false"].includes(value)) return value === "true";
  return value;
}

/// Sets the value at a JSON pointer of an object, and creates the objects on the way.
export function setAt(object, pointer, value) {
  const parts = pointer.split("/").slice(1);
  const last = parts.pop();
  let here = object;
  for (const part of parts) here = here[part] ??= {};
  here[last] = value;
  return object;
}
