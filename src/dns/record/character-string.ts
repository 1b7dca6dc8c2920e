// Character-strings (RFC 1035 §5.1) as octets. Text is Unicode: characters beyond ASCII stand for their UTF-8 octets
// and are printed as escapes, so that output is always ASCII.

import { TextError } from '../errors.ts';
import { unescapeAt } from '../name.ts';

/** The octets that `text` stands for, its escapes resolved. No limit of length: the field has it. */
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

/** In quotes, with `"`, `\` and all that is not printable ASCII escaped. */
export function printCharacterString(octets: Uint8Array): string {
  return `"${escapeOctets(octets, /["\\]/)}"`;
}

/** Prints a word without quotes, and escapes everything that would end it or has a meaning in a zone file. */
export function printWord(octets: Uint8Array): string {
  return escapeOctets(octets, /["\\();$@]/, 0x21);
}

function escapeOctets(octets: Uint8Array, special: RegExp, firstPrintable = 0x20): string {
  let text = '';
  for (const octet of octets) {
    const char = String.fromCharCode(octet);
    if (octet < firstPrintable || octet > 0x7e) text += `\\${String(octet).padStart(3, '0')}`;
    else text += special.test(char) ? `\\${char}` : char;
  }
  return text;
}
