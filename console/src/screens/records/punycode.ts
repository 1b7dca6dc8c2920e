// Decodes A-labels to Unicode (RFC 3492). Other labels are returned unchanged.

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;

export function readableName(name: string): string {
  return name
    .split('.')
    .map((label) => (/^xn--/i.test(label) ? (decode(label.slice(4).toLowerCase()) ?? label) : label))
    .join('.');
}

function decode(text: string): string | undefined {
  const end = text.lastIndexOf('-');
  const points = [...(end > 0 ? text.slice(0, end) : '')].map((char) => char.codePointAt(0) as number);
  let at = end > 0 ? end + 1 : 0;
  let n = 128;
  let i = 0;
  let bias = 72;
  while (at < text.length) {
    const before = i;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitOf(text.charCodeAt(at++));
      if (digit === undefined) return undefined;
      i += digit * weight;
      if (!Number.isSafeInteger(i)) return undefined;
      const t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
      if (digit < t) break;
      weight *= BASE - t;
    }
    const length = points.length + 1;
    bias = adapted(i - before, length, before === 0);
    n += Math.floor(i / length);
    i %= length;
    if (n > 0x10ffff || (n >= 0xd800 && n <= 0xdfff)) return undefined;
    points.splice(i++, 0, n);
  }
  const decoded = String.fromCodePoint(...points);
  return /^[\p{L}\p{M}\p{N}\-\u00b7\u200c\u200d]+$/u.test(decoded) ? decoded : undefined;
}

function digitOf(code: number): number | undefined {
  if (code >= 0x61 && code <= 0x7a) return code - 0x61;
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26;
  return undefined;
}

function adapted(delta: number, length: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? DAMP : 2));
  left += Math.floor(left / length);
  let k = 0;
  for (; left > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE) left = Math.floor(left / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * left) / (left + SKEW));
}
