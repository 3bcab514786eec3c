// Writes the published model and its embeddings of sentences, for programs that compute it themselves.
// Called by encoder.sh, with its arguments: OUTPUT_DIR (which exists) SENTENCES_FILE (one in each line) [COUNT]
//   tokens.json       token numbers of each sentence, at most kPassageTokens
//   embeddings.npy    [COUNT or all sentences, 512], as the packaged graph computes them
//   weights/NAME.npy  every weight (model.js, namedWeights)
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import tf from '@tensorflow/tfjs';

import { embeddingsOf, kPassageTokens, loadModel, namedWeights, tokenizerOf } from './model.js';
import { writeNpy } from './npy.js';

const kAtOnce = 32; // sentences, so that little memory is needed

function readSentences(path) {
  try {
    return readFileSync(path, 'utf8').split('\n').filter((line) => line.trim() !== '');
  } catch (error) {
    throw Object.assign(new Error(`cannot read the sentences: ${error.message}`), { isUser: true });
  }
}

async function main([folder, sentencesPath, count]) {
  tf.enableProdMode();
  await tf.setBackend('cpu');
  const { graph } = await loadModel();
  const tokenize = tokenizerOf();
  const tokens = readSentences(sentencesPath).map((sentence) => tokenize(sentence).slice(0, kPassageTokens));
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokens));
  const rows = [];
  const embedded = tokens.slice(0, count === undefined ? undefined : Number(count));
  for (let begin = 0; begin < embedded.length; begin += kAtOnce) {
    rows.push(await embeddingsOf(graph, embedded.slice(begin, begin + kAtOnce)));
  }
  const embeddings = tf.concat(rows);
  writeNpy(join(folder, 'embeddings.npy'), embeddings.dataSync(), embeddings.shape);
  mkdirSync(join(folder, 'weights'), { recursive: true });
  for (const [name, weight] of Object.entries(namedWeights(graph))) {
    writeNpy(join(folder, 'weights', `${name}.npy`), Float32Array.from(weight.dataSync()), weight.shape);
  }
  console.log(`${tokens.length} sentences, ${tokens.flat().length} tokens`);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`encoder: ${error.isUser ? error.message : error.stack}`);
  process.exitCode = error.isUser ? 2 : 1;
});
