// The generic text form of rdata: `\# length hex` (RFC 3597 §5).

import { parseHex, printHex } from './base-encodings.ts';
import type { TokenReader } from './token-reader.ts';

export function isGeneric(tokens: TokenReader): boolean {
  const first = tokens.peek();
  return first !== undefined && !first.quoted && first.text === '\\#';
}

export function parseGeneric(tokens: TokenReader): Uint8Array {
  tokens.field = 'rdata';
  if (!isGeneric(tokens)) tokens.fail('this type must be written as \\# length hex', tokens.peek());
  tokens.next();
  const length = tokens.word();
  if (!/^[0-9]{1,5}$/.test(length.text) || Number(length.text) > 0xffff) {
    tokens.fail(`"${length.text}" is not a length from 0 to 65535`, length);
  }
  const words = tokens.words();
  const octets = tokens.read(
    { ...(words[0] ?? length), text: words.map((word) => word.text).join('') },
    parseHex,
  );
  if (octets.length !== Number(length.text)) {
    tokens.fail(`the length is ${Number(length.text)} octets, but the data has ${octets.length}`, length);
  }
  return octets;
}

export function printGeneric(rdata: Uint8Array): string {
  return rdata.length === 0 ? '\\# 0' : `\\# ${rdata.length} ${printHex(rdata)}`;
}
