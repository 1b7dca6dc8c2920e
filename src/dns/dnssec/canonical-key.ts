// The place of a name in the canonical order of its zone (RFC 4034 §6.1) as octets that sort as they are: labels from the
// right, folded, each ended by 00; within a label 00 is written 01 01, and 01 is written 01 02.

import { foldCase, labelsOf, type Name, ROOT } from '../name.ts';

/** One character (0..255) an octet, as in a Name: `<` compares as the octets do. Empty for the apex. */
export type CanonicalKey = string & { readonly __brand: 'CanonicalKey' };

const LABEL_END = '\0';

/** `name` lies in the zone `apex`. A key starts with the keys of all names above its name. */
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

/** A key as stored: unsigned octets, compared from the first (as `bytea` and `Buffer.compare` do). */
export function encodeKey(key: string): Uint8Array {
  return Buffer.from(key, 'latin1');
}

/** A folded name with the places of its labels, as those who look names up hold it. */
export interface LabelledName {
  /** The uncompressed wire form. */
  readonly octets: Uint8Array;
  /** Offset of the length octet of each label; the root's last. */
  readonly labelAt: Uint8Array;
  /** The number of labels, without the root's. */
  readonly labels: number;
}

/**
 * Writes the first eight octets of a key as two unsigned words, filled up with 00, and makes no garbage. The name begins at
 * the label `from` of `name`; `isWildcard` puts `*` in front of it. Equal words say nothing: then the names are to be compared.
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
