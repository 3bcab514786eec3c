// Writes the tensor-parallel partial sums of the FFN down-projections of a published transformer.
// Called by make.sh, with its arguments: OUTPUT_DIR (which exists) [TEXT_FILE]
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import tf from '@tensorflow/tfjs';

import { embeddingFrom, kLayers, kPassageTokens, loadModel, passagesOf, run } from './model.js';
import { writeNpy } from './npy.js';

const kDegrees = [4, 8, 16];
const kDefaultText = join(dirname(fileURLToPath(import.meta.url)), 'moby_dick.txt');
// Sums of 1536 products in float32, in another order: rounding alone stays below it, a wrong split does not.
const kTolerance = 1e-4;

class UserError extends Error {}

/** [degree, tokens, d_model]: rank r's part of hidden @ kernel, with part r of the axis that both share. */
function partialSums(hidden, kernel, degree) {
  const parts = tf.split(hidden, degree, 1);
  const kernels = tf.split(kernel, degree, 0);
  return tf.stack(parts.map((part, rank) => part.matMul(kernels[rank])));
}

function maxDifference(a, b) {
  return a.sub(b).abs().max().dataSync()[0];
}

function checked(what, difference) {
  // Written so that NaN fails too.
  if (!(difference <= kTolerance)) {
    throw new Error(`${what} differs by ${difference} from the packaged model's own, allowed is ${kTolerance}`);
  }
  return difference.toExponential(2);
}

function writeAll(model, answers, folder) {
  console.log('file                 shape             max |value|  FFN output off by  embedding off by');
  for (let layer = 0; layer < kLayers; ++layer) {
    for (const degree of kDegrees) {
      const { kernel, bias } = model.down(layer);
      const partials = partialSums(answers.hidden[layer], kernel, degree);
      const name = `layer${layer}_ranks${degree}.npy`;
      const output = partials.sum(0).add(bias);
      const outputError = checked(`${name}: sum + bias`, maxDifference(output, answers.output[layer]));
      const isLast = layer === kLayers - 1;
      const embeddingError = isLast
        ? checked(
            `${name}: embedding`,
            maxDifference(embeddingFrom(model, output, answers.residual), answers.embedding),
          )
        : '-';
      writeNpy(join(folder, name), partials.dataSync(), partials.shape);
      const largest = partials.abs().max().dataSync()[0].toFixed(3);
      console.log(
        [name.padEnd(20), `[${partials.shape}]`.padEnd(16), largest.padStart(12)].join(' '),
        [outputError.padStart(18), embeddingError.padStart(17)].join(' '),
      );
    }
  }
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UserError(`cannot read the text: ${error.message}`);
  }
}

async function main([folder, textPath = kDefaultText]) {
  const passages = passagesOf(readText(textPath));
  if (passages.length === 0) {
    throw new UserError(`${textPath}: shorter than one passage of ${kPassageTokens} tokens; give a longer text`);
  }
  tf.enableProdMode();
  await tf.setBackend('cpu');
  const model = await loadModel();
  const answers = await run(model, passages);
  console.log(`${textPath}: ${passages.length} passages of ${kPassageTokens} tokens`);
  writeAll(model, answers, folder);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`activations: ${error instanceof UserError ? error.message : error.stack}`);
  process.exitCode = error instanceof UserError ? 2 : 1;
});
