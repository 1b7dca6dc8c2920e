// SipHash-2-4 (Aumasson and Bernstein, 2012), 64 bits, on pairs of 32-bit halves: BigInt is some 50 times slower here.

/** v0 to v3, each as low and high half. */
const v = new Int32Array(8);

/** Hashes the first `octets` of `input` with a key of 16 octets into 8 octets of `out`, little-endian. */
export function sipHash(
  key: Uint8Array,
  input: Uint8Array,
  octets: number,
  out: Uint8Array,
  outAt: number,
): void {
  const k0l = read32(key, 0);
  const k0h = read32(key, 4);
  const k1l = read32(key, 8);
  const k1h = read32(key, 12);
  v[0] = k0l ^ 0x70736575;
  v[1] = k0h ^ 0x736f6d65;
  v[2] = k1l ^ 0x6e646f6d;
  v[3] = k1h ^ 0x646f7261;
  v[4] = k0l ^ 0x6e657261;
  v[5] = k0h ^ 0x6c796765;
  v[6] = k1l ^ 0x79746573;
  v[7] = k1h ^ 0x74656462;
  const whole = octets & ~7;
  for (let at = 0; at < whole; at += 8) absorb(read32(input, at), read32(input, at + 4));
  let low = 0;
  let high = (octets & 255) << 24;
  for (let i = whole; i < octets; i++) {
    const shift = (i & 3) * 8;
    if ((i & 7) < 4) low |= (input[i] as number) << shift;
    else high |= (input[i] as number) << shift;
  }
  absorb(low, high);
  v[4] = v[4]! ^ 0xff;
  for (let i = 0; i < 4; i++) round();
  write32(out, outAt, v[0]! ^ v[2]! ^ v[4]! ^ v[6]!);
  write32(out, outAt + 4, v[1]! ^ v[3]! ^ v[5]! ^ v[7]!);
}

function absorb(low: number, high: number): void {
  v[6] = v[6]! ^ low;
  v[7] = v[7]! ^ high;
  round();
  round();
  v[0] = v[0]! ^ low;
  v[1] = v[1]! ^ high;
}

function round(): void {
  add(0, 2);
  rotate(2, 13);
  xor(2, 0);
  swap(0);
  add(4, 6);
  rotate(6, 16);
  xor(6, 4);
  add(0, 6);
  rotate(6, 21);
  xor(6, 0);
  add(4, 2);
  rotate(2, 17);
  xor(2, 4);
  swap(4);
}

function add(to: number, from: number): void {
  const low = (v[to]! >>> 0) + (v[from]! >>> 0);
  v[to + 1] = v[to + 1]! + v[from + 1]! + (low > 0xffffffff ? 1 : 0);
  v[to] = low | 0;
}

function xor(to: number, from: number): void {
  v[to] = v[to]! ^ v[from]!;
  v[to + 1] = v[to + 1]! ^ v[from + 1]!;
}

/** Left, by less than 32 bits. */
function rotate(at: number, bits: number): void {
  const low = v[at]!;
  const high = v[at + 1]!;
  v[at] = (low << bits) | (high >>> (32 - bits));
  v[at + 1] = (high << bits) | (low >>> (32 - bits));
}

/** A rotation by 32 bits. */
function swap(at: number): void {
  const low = v[at]!;
  v[at] = v[at + 1]!;
  v[at + 1] = low;
}

function read32(octets: Uint8Array, at: number): number {
  return octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24);
}

function write32(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value;
  octets[at + 1] = value >> 8;
  octets[at + 2] = value >> 16;
  octets[at + 3] = value >> 24;
}
