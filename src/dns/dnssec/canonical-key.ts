// The key of a name in the canonical order of its zone (RFC 4034 §6.1). Keys are octets that sort correctly: labels
// from the right, folded, each terminated by 00. Within a label, 00 is encoded as 01 01, and 01 as 01 02.

import { foldCase, labelsOf, type Name, ROOT } from '../name.ts';

/** One character (0..255) per octet, as in a Name: `<` compares like the octets. Empty for the apex. */
export type CanonicalKey = string & { readonly __brand: 'CanonicalKey' };

const LABEL_END = '\0';

/** Returns the key of `name` in the zone `apex`. It starts with the keys of all names above it. */
export function canonicalKey(name: Name, apex: Name): CanonicalKey {
  const labels = labelsOf(foldCase((name.slice(0, name.length - apex.length) + ROOT) as Name));
  let key = '';
  for (let i = labels.length - 1; i >= 0; i--) key += escaped(labels[i] as string) + LABEL_END;
  return key as CanonicalKey;
}

function escaped(label: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: octets, not text
  return label.replace(/[\0\x01]/g, (octet) => (octet === '\0' ? '\x01\x01' : '\x01\x02'));
}

/** Returns the key as stored: unsigned octets that compare like `bytea` and `Buffer.compare`. */
export function encodeKey(key: string): Uint8Array {
  return Buffer.from(key, 'latin1');
}

/** A folded name with the positions of its labels, as used for lookups. */
export interface LabelledName {
  /** The uncompressed wire form. */
  readonly octets: Uint8Array;
  /** Offset of the length octet of each label. The root's is the last. */
  readonly labelAt: Uint8Array;
  /** Number of labels, without the root's. */
  readonly labels: number;
}

/**
 * Writes the first eight octets of a key as two unsigned words, padded with 00, without allocating. The name begins at
 * label `from` of `name`; `isWildcard` prepends `*`. If the words of two names are equal, compare the names.
 */
export function fillKeyStart(
  name: LabelledName,
  from: number,
  apexLabels: number,
  isWildcard: boolean,
  words: Uint32Array,
): void {
  const { octets, labelAt } = name;
  let high = 0;
  let low = 0;
  let room = 8;
  for (let label = name.labels - apexLabels - 1; label >= from && room > 0; label--) {
    const start = labelAt[label] as number;
    const end = start + (octets[start] as number);
    for (let at = start + 1; at <= end + 1 && room > 0; at++) {
      const octet = at > end ? 0 : (octets[at] as number);
      const isEscaped = at <= end && octet <= 1;
      high = (high << 8) | (low >>> 24);
      low = (low << 8) | (isEscaped ? 1 : octet);
      room--;
      if (!isEscaped || room === 0) continue;
      high = (high << 8) | (low >>> 24);
      low = (low << 8) | (octet + 1);
      room--;
    }
  }
  if (isWildcard && room > 0) {
    high = (high << 8) | (low >>> 24);
    low = (low << 8) | ASTERISK;
    room--;
  }
  for (; room > 0; room--) {
    high = (high << 8) | (low >>> 24);
    low <<= 8;
  }
  words[0] = high;
  words[1] = low;
}

const ASTERISK = 0x2a;
