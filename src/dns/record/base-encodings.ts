// Base 16, base 64 and base 32 with the extended hex alphabet (RFC 4648 §8, §4, §7). Parsing is strict, unlike
// Buffer's, which ignores invalid characters: padding must be exact, and unused bits must be zero (§3.5).

import { upperCaseAscii } from '../ascii.ts';
import { TextError } from '../errors.ts';

export function parseHex(text: string): Uint8Array {
  const bad = /[^0-9A-Fa-f]/.exec(text);
  if (bad !== null) throw new TextError(`"${bad[0]}" is not a hexadecimal digit`);
  if (text.length % 2 !== 0) throw new TextError('the number of hexadecimal digits is odd');
  return octetsOf(Buffer.from(text, 'hex'));
}

export function printHex(octets: Uint8Array): string {
  return viewOf(octets).toString('hex').toUpperCase();
}

export function parseBase64(text: string): Uint8Array {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    throw new TextError('the text is not base64');
  }
  const octets = Buffer.from(text, 'base64');
  if (octets.toString('base64') !== text) throw new TextError('the base64 text has extra bits at its end');
  return octetsOf(octets);
}

export function printBase64(octets: Uint8Array): string {
  return viewOf(octets).toString('base64');
}

const BASE32_HEX = '0123456789ABCDEFGHIJKLMNOPQRSTUV';

/** Parses text of any case without padding, as in NSEC3 (RFC 5155 §3.3). */
export function parseBase32Hex(text: string): Uint8Array {
  const octets: number[] = [];
  let bits = 0;
  let pending = 0;
  for (const char of upperCaseAscii(text)) {
    const digit = BASE32_HEX.indexOf(char);
    if (digit < 0) throw new TextError(`"${char}" is not a digit of base32hex`);
    pending = (pending << 5) | digit;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    octets.push(pending >> bits);
    pending &= (1 << bits) - 1;
  }
  if (bits >= 5 || pending !== 0) throw new TextError('the base32hex text has extra bits at its end');
  return Uint8Array.from(octets);
}

export function printBase32Hex(octets: Uint8Array): string {
  let text = '';
  let bits = 0;
  let pending = 0;
  for (const octet of octets) {
    pending = (pending << 8) | octet;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32_HEX[pending >> bits];
      pending &= (1 << bits) - 1;
    }
  }
  return bits > 0 ? text + BASE32_HEX[pending << (5 - bits)] : text;
}

function viewOf(octets: Uint8Array): Buffer {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
}

/** Copies the octets: a small Buffer is a view of the shared pool and would keep all of it in memory. */
function octetsOf(buffer: Buffer): Uint8Array {
  return Uint8Array.from(buffer);
}
