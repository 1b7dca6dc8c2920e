// Parses pasted names: one per line, or separated by commas, semicolons, tabs or spaces, as copied from spreadsheets, mails and
// address bars. The API validates names; this only reports text that cannot be a name before anything is sent.

export interface PastedName {
  /** Text as pasted. */
  readonly text: string;
  /** Line number, starting at 1. */
  readonly line: number;
  /** Lowercase name without scheme, path and final dot. */
  readonly name: string;
  readonly problem?: 'empty' | 'single-label' | 'too-long' | 'characters' | 'twice' | 'email';
}

const SEPARATORS = /[\s,;|]+/;
const MAX_CHARACTERS = 253;
const MAX_LABEL = 63;

export function parsePastedNames(text: string): PastedName[] {
  const seen = new Set<string>();
  const found: PastedName[] = [];
  for (const [i, whole] of text.split(/\r\n|\r|\n/).entries()) {
    const line = whole.replace(/(^|\s)#.*$/, '');
    for (const piece of line.split(SEPARATORS)) {
      if (piece === '') continue;
      const name = nameIn(piece);
      const problem = problemOf(name, piece) ?? (seen.has(name) ? 'twice' : undefined);
      if (problem === undefined) seen.add(name);
      found.push({ text: piece, line: i + 1, name, ...(problem !== undefined && { problem }) });
    }
  }
  return found;
}

/** `"https://Shop.Example./cart?x"` → `shop.example`. */
export function nameIn(piece: string): string {
  return piece
    .trim()
    .replaceAll(/^["'<([]+|["'>)\]]+$/g, '')
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[/?#].*$/, '')
    .replace(/:\d+$/, '')
    .replaceAll(/[。.。]/g, '.') // full stops of RFC 5895 §2
    .replace(/\.$/, '')
    .toLowerCase()
    .normalize('NFC');
}

function problemOf(name: string, piece: string): PastedName['problem'] {
  if (name === '') return 'empty';
  if (piece.includes('@')) return 'email';
  if (name.length > MAX_CHARACTERS) return 'too-long';
  const labels = name.split('.');
  if (labels.some((label) => label === '')) return 'characters';
  if (labels.some((label) => label.length > MAX_LABEL)) return 'too-long';
  // Letters of all scripts are left to the API; other characters cannot be in a name.
  if (labels.some((label) => /[\p{Cc} -,:-@[-^`{-~]/u.test(label))) {
    return 'characters';
  }
  return labels.length < 2 ? 'single-label' : undefined;
}
