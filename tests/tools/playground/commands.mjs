// Commands that the program and the engine of the playground must answer alike; `file` is compared instead of the output.

const kDirect = ["--set", "/engine=direct"];  // the playground has no SimGrid
const k4x2 = "configs/experiments/allreduce_v5e_4x2.json";
const kProgram = "configs/programs/transformer_v5e_4x4.hlo.txt";
const kOnMesh = ["--topology", "4x4", "--mesh", "data=4,model=4"];
const kKeys = "tests/fixtures/activations/layer0_keys.npy";

export const kCommands = [
  { words: ["advise", k4x2, ...kDirect, "--json"] },
  { words: ["advise", kProgram, ...kOnMesh, "--json"] },
  { words: ["import", "hlo", kProgram, ...kOnMesh, "--json"] },
  { words: ["tune", k4x2, "--json"] },
  { words: ["contract", k4x2, "--quick", "--json"] },
  { words: ["run", k4x2, ...kDirect, "--uncertainty", "--sensitivity", "--json"] },
  { words: ["run", "configs/experiments/llama3_8b_prefill_v5e_2x2.json", ...kDirect, "--uncertainty", "--json"] },
  { words: ["quantize", kKeys, "--format", "int8"] },
  { words: ["quantize", kKeys, "--format", "mxfp4"] },
  { words: ["plan", "--model", "llama3.1-8b", "--chips", "tpu-v5e,h100", "--sizes", "1,4", "--json"] },
  { words: ["serve", "configs/experiments/serve_llama3.1_70b_v6e_8.json", "--json"] },
  { words: ["hardware", "tpu-v5e", "--json"] },
  { words: ["topology", "--slice", "4x4", "--json"] },
  { words: ["accuracy", "--json"] },
  { words: ["show", k4x2] },
  { words: ["sweep", "configs/sweeps/size_and_slice.json", "-o", "OUT"], file: "results.csv" },
  { words: ["sweep", "configs/sweeps/formats_and_shards.json", "-o", "OUT"], file: "results.csv" },
  { words: ["run", "configs/experiments/no_such_file.json"] },
  { words: ["run", k4x2, "--set", "/tensor/bytes=3 parsecs"] },
];
