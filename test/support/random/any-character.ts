// Draws any character, like `unit: 'binary'` of fast-check, which first builds a table of all 1.1 million characters in
// about a second.

import fc from 'fast-check';

/** The code points that UTF-16 uses in pairs. They are not characters (RFC 3629 §3). */
const SURROGATES = { from: 0xd800, count: 0x800 };

export const anyCharacter = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map(
    (index) => String.fromCodePoint(index < SURROGATES.from ? index : index + SURROGATES.count),
    indexOfCharacter,
  );

/** Throws if the text is not one character, as fast-check expects. */
function indexOfCharacter(text: unknown): number {
  const [character, ...others] = typeof text === 'string' ? text : '';
  const codePoint = character?.codePointAt(0);
  if (codePoint === undefined || others.length > 0) throw new Error('not one character');
  if (codePoint < SURROGATES.from) return codePoint;
  if (codePoint < SURROGATES.from + SURROGATES.count) throw new Error('half a character');
  return codePoint - SURROGATES.count;
}
