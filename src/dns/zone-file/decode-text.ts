// Decodes the bytes of a zone file. Windows may save text as UTF-16; because nearly all of a zone file is ASCII, every
// second byte is then zero.

/** Number of bytes, or characters, from which the encoding is detected. */
const MEASURED = 1000;
/** Text decoded with the wrong encoding has more NUL characters than this. A string may contain a few intentionally. */
const MANY_NULS = 8;

/** Reads UTF-8, or UTF-16 in either byte order, with or without a byte order mark. Invalid octets become U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const pairs = Math.min(bytes.length, MEASURED) >> 1;
  const zeros = [0, 0];
  for (let at = 0; at < 2 * pairs; at++) if (bytes[at] === 0) zeros[at % 2]!++;
  const [first = 0, second = 0] = zeros;
  if (second > pairs / 2 && first <= pairs / 10) return 'utf-16le';
  if (first > pairs / 2 && second <= pairs / 10) return 'utf-16be';
  return 'utf-8';
}

/** Returns the error for text with so many NUL characters that it was decoded wrongly. Returns undefined for other text. */
export function explainNuls(text: string): string | undefined {
  let nuls = 0;
  for (let at = text.indexOf('\0'); at >= 0 && nuls <= MANY_NULS; at = text.indexOf('\0', at + 1)) nuls++;
  if (nuls <= MANY_NULS) return undefined;
  const measured = text.slice(0, MEASURED);
  const isUtf16 = measured.split('\0').length - 1 > measured.length / 4;
  const what = isUtf16 ? 'the text is UTF-16' : 'the text has NUL characters, so its encoding is not UTF-8';
  return `${what}; save the file as UTF-8`;
}
