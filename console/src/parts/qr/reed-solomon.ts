// Computes the Reed-Solomon error correction octets of a block, over GF(256) with the polynomial 0x11d.

const EXP: number[] = [];
const LOG: number[] = [];
for (let i = 0, value = 1; i < 255; i++) {
  EXP[i] = value;
  LOG[value] = i;
  value = value * 2 > 255 ? (value * 2) ^ 0x11d : value * 2;
}

const multiply = (a: number, b: number) =>
  a === 0 || b === 0 ? 0 : (EXP[((LOG[a] ?? 0) + (LOG[b] ?? 0)) % 255] ?? 0);

export function correctionOf(data: readonly number[], length: number): number[] {
  let generator = [1];
  for (let i = 0; i < length; i++) {
    const root = EXP[i] ?? 0;
    generator = [...generator, 0].map((value, j) => value ^ multiply(generator[j - 1] ?? 0, root));
  }
  const rest = Array<number>(length).fill(0);
  for (const octet of data) {
    const factor = octet ^ (rest.shift() ?? 0);
    rest.push(0);
    for (let j = 0; j < length; j++) rest[j] = (rest[j] ?? 0) ^ multiply(generator[j + 1] ?? 0, factor);
  }
  return rest;
}
