// SipHash-2-4 (Aumasson and Bernstein, 2012), 64 bits, on pairs of 32-bit halves in local variables. BigInt would be
// about 50 times slower and allocate memory.

/** Hashes the first `octets` octets of `input` with a 16-octet key. Writes 8 octets to `out`, little-endian. */
export function sipHash(key: DataView, input: DataView, octets: number, out: DataView, outAt: number): void {
  const k0l = key.getInt32(0, true);
  const k0h = key.getInt32(4, true);
  const k1l = key.getInt32(8, true);
  const k1h = key.getInt32(12, true);
  let v0l = k0l ^ 0x70736575;
  let v0h = k0h ^ 0x736f6d65;
  let v1l = k1l ^ 0x6e646f6d;
  let v1h = k1h ^ 0x646f7261;
  let v2l = k0l ^ 0x6e657261;
  let v2h = k0h ^ 0x6c796765;
  let v3l = k1l ^ 0x79746573;
  let v3h = k1h ^ 0x74656462;
  const whole = octets & ~7;
  // All whole blocks, then the last block with the length, then the finalization.
  for (let at = 0; at <= whole + 8; at += 8) {
    let low = 0;
    let high = 0;
    let rounds = 2;
    if (at < whole) {
      low = input.getInt32(at, true);
      high = input.getInt32(at + 4, true);
    } else if (at === whole) {
      high = octets << 24;
      if ((octets & 4) !== 0) low = input.getInt32(whole, true);
      for (let i = octets & ~3; i < octets; i++) {
        const octet = input.getUint8(i) << ((i & 3) * 8);
        if ((octets & 4) === 0) low |= octet;
        else high |= octet;
      }
    } else {
      v2l ^= 0xff;
      rounds = 4;
    }
    v3l ^= low;
    v3h ^= high;
    for (; rounds > 0; rounds--) {
      // v0 += v1; v1 <<<= 13; v1 ^= v0; v0 <<<= 32
      let sum = (v0l + v1l) | 0;
      v0h = (v0h + v1h + (sum >>> 0 < v1l >>> 0 ? 1 : 0)) | 0;
      v0l = sum;
      let kept = v1l;
      v1l = ((v1l << 13) | (v1h >>> 19)) ^ v0l;
      v1h = ((v1h << 13) | (kept >>> 19)) ^ v0h;
      kept = v0l;
      v0l = v0h;
      v0h = kept;
      // v2 += v3; v3 <<<= 16; v3 ^= v2
      sum = (v2l + v3l) | 0;
      v2h = (v2h + v3h + (sum >>> 0 < v3l >>> 0 ? 1 : 0)) | 0;
      v2l = sum;
      kept = v3l;
      v3l = ((v3l << 16) | (v3h >>> 16)) ^ v2l;
      v3h = ((v3h << 16) | (kept >>> 16)) ^ v2h;
      // v0 += v3; v3 <<<= 21; v3 ^= v0
      sum = (v0l + v3l) | 0;
      v0h = (v0h + v3h + (sum >>> 0 < v3l >>> 0 ? 1 : 0)) | 0;
      v0l = sum;
      kept = v3l;
      v3l = ((v3l << 21) | (v3h >>> 11)) ^ v0l;
      v3h = ((v3h << 21) | (kept >>> 11)) ^ v0h;
      // v2 += v1; v1 <<<= 17; v1 ^= v2; v2 <<<= 32
      sum = (v2l + v1l) | 0;
      v2h = (v2h + v1h + (sum >>> 0 < v1l >>> 0 ? 1 : 0)) | 0;
      v2l = sum;
      kept = v1l;
      v1l = ((v1l << 17) | (v1h >>> 15)) ^ v2l;
      v1h = ((v1h << 17) | (kept >>> 15)) ^ v2h;
      kept = v2l;
      v2l = v2h;
      v2h = kept;
    }
    v0l ^= low;
    v0h ^= high;
  }
  out.setInt32(outAt, v0l ^ v1l ^ v2l ^ v3l, true);
  out.setInt32(outAt + 4, v0h ^ v1h ^ v2h ^ v3h, true);
}
