// Character-strings (RFC 1035 §5.1) as octets. Text is Unicode: characters beyond ASCII represent their UTF-8 octets,
// and are printed as escapes, so that output is always ASCII.

import { TextError } from '../errors.ts';
import { unescapeAt } from '../name.ts';

/** Returns the octets of `text` with its escapes resolved. The caller limits the length. */
export function parseCharacterString(text: string): Uint8Array {
  if (/\p{Surrogate}/u.test(text)) throw new TextError('the text is not well-formed Unicode');
  if (!text.includes('\\')) return Uint8Array.from(Buffer.from(text, 'utf8'));
  let octets = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === '\\') {
      const unescaped = unescapeAt(text, i);
      octets += unescaped.octet;
      i = unescaped.end;
    } else if (char > '\x7f') {
      const point = String.fromCodePoint(text.codePointAt(i) as number);
      octets += Buffer.from(point, 'utf8').toString('latin1');
      i += point.length - 1;
    } else {
      octets += char;
    }
  }
  return Uint8Array.from(Buffer.from(octets, 'latin1'));
}

/** Prints the octets in quotes. Escapes `"`, `\` and everything that is not printable ASCII. */
export function printCharacterString(octets: Uint8Array): string {
  return `"${escapeOctets(octets, /[^ -~]|["\\]/g)}"`;
}

/** Prints a word without quotes. Escapes everything that would end it or has a meaning in a zone file. */
export function printWord(octets: Uint8Array): string {
  return escapeOctets(octets, /[^!-~]|["\\();$@]/g);
}

function escapeOctets(octets: Uint8Array, special: RegExp): string {
  const text = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
  return text.replace(special, (char) =>
    char > ' ' && char <= '~' ? `\\${char}` : `\\${String(char.charCodeAt(0)).padStart(3, '0')}`,
  );
}
