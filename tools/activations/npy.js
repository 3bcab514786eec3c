import { writeFileSync } from 'node:fs';
import { endianness } from 'node:os';

const kMagic = '\x93NUMPY\x01\x00';
const kHeaderAlignment = 64; // NumPy's format description, version 1.0

/** Writes a Float32Array as .npy: little-endian float32, C order. */
export function writeNpy(path, data, shape) {
  const elements = shape.reduce((product, extent) => product * extent, 1);
  if (elements !== data.length) {
    throw new Error(`${path}: ${data.length} values do not fill the shape [${shape}]`);
  }
  if (endianness() !== 'LE') throw new Error(`${path}: can only be written on a little-endian machine`);
  const extents = shape.join(', ') + (shape.length === 1 ? ',' : ''); // a Python tuple
  const dictionary = `{'descr': '<f4', 'fortran_order': False, 'shape': (${extents}), }`;
  const prefix = kMagic.length + 2; // the header's length is a uint16
  const total = Math.ceil((prefix + dictionary.length + 1) / kHeaderAlignment) * kHeaderAlignment;
  const header = Buffer.alloc(total, ' ', 'latin1');
  header.write(kMagic, 0, 'latin1');
  header.writeUInt16LE(total - prefix, kMagic.length);
  header.write(dictionary, prefix, 'latin1');
  header.write('\n', total - 1, 'latin1');
  writeFileSync(path, Buffer.concat([header, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}
