// The fields of a type inside its destination: what the zone file writes in one line is typed in boxes of their own.
// Splitting and joining are inverse, also of what is half typed: a box that is still empty keeps its place.

type Kind =
  /** Without spaces. */
  | 'word'
  /** Quoted in the zone file, bare in its box. */
  | 'quoted'
  /** All that is left, spaces too; it may be empty. */
  | 'rest';

export interface Part {
  /** As the API names it when it says what is wrong. */
  readonly key: string;
  readonly kind: Kind;
  /** Values that are in use: offered, not imposed. */
  readonly choices?: readonly string[];
}

const PARTS: Readonly<Record<string, readonly Part[]>> = {
  SRV: [
    { key: 'priority', kind: 'word' },
    { key: 'weight', kind: 'word' },
    { key: 'port', kind: 'word' },
    { key: 'target', kind: 'word' },
  ],
  CAA: [
    { key: 'flags', kind: 'word', choices: ['0', '128'] },
    { key: 'tag', kind: 'word', choices: ['issue', 'issuewild', 'issuemail', 'iodef'] },
    { key: 'value', kind: 'quoted' },
  ],
  TLSA: [
    { key: 'usage', kind: 'word', choices: ['0', '1', '2', '3'] },
    { key: 'selector', kind: 'word', choices: ['0', '1'] },
    { key: 'matchingType', kind: 'word', choices: ['0', '1', '2'] },
    { key: 'association', kind: 'rest' },
  ],
  SSHFP: [
    { key: 'algorithm', kind: 'word', choices: ['1', '2', '3', '4', '6'] },
    { key: 'fingerprintType', kind: 'word', choices: ['1', '2'] },
    { key: 'fingerprint', kind: 'rest' },
  ],
  URI: [
    { key: 'priority', kind: 'word' },
    { key: 'weight', kind: 'word' },
    { key: 'target', kind: 'quoted' },
  ],
  HTTPS: [
    { key: 'priority', kind: 'word' },
    { key: 'target', kind: 'word' },
    { key: 'parameters', kind: 'rest' },
  ],
  SVCB: [
    { key: 'priority', kind: 'word' },
    { key: 'target', kind: 'word' },
    { key: 'parameters', kind: 'rest' },
  ],
  DS: [
    { key: 'keyTag', kind: 'word' },
    { key: 'algorithm', kind: 'word', choices: ['8', '10', '13', '14', '15', '16'] },
    { key: 'digestType', kind: 'word', choices: ['1', '2', '4'] },
    { key: 'digest', kind: 'rest' },
  ],
  NAPTR: [
    { key: 'order', kind: 'word' },
    { key: 'preference', kind: 'word' },
    { key: 'flags', kind: 'quoted' },
    { key: 'services', kind: 'quoted' },
    { key: 'regexp', kind: 'quoted' },
    { key: 'replacement', kind: 'word' },
  ],
};

/** Undefined: the destination is one box. */
export function partsOf(type: string): readonly Part[] | undefined {
  return PARTS[type];
}

/** The text of each box; undefined where the destination has another form (RFC 3597 `\#`): then it is one box. */
export function splitDestination(type: string, destination: string): string[] | undefined {
  const parts = PARTS[type];
  if (parts === undefined) return undefined;
  if (destination === '') return parts.map(() => '');
  if (destination.startsWith('\\#')) return undefined;
  let left: string | undefined = destination;
  const texts: string[] = [];
  for (const { kind } of parts) {
    const taken: Taken | undefined = left === undefined ? { text: '', left: undefined } : take(kind, left);
    if (taken === undefined) return undefined;
    texts.push(taken.text);
    left = taken.left;
  }
  return left === undefined ? texts : undefined;
}

interface Taken {
  readonly text: string;
  /** After the space; undefined: the end was reached. */
  readonly left: string | undefined;
}

function take(kind: Kind, from: string): Taken | undefined {
  if (kind === 'rest') return { text: from, left: undefined };
  if (kind === 'quoted' && from.startsWith('"')) {
    const [all, inside = ''] = /^"((?:[^"\\]|\\.)*)"(?= |$)/s.exec(from) ?? [];
    if (all === undefined) return undefined;
    return {
      text: fromQuoted(inside),
      left: from.length > all.length ? from.slice(all.length + 1) : undefined,
    };
  }
  const end = from.indexOf(' ');
  return end === -1
    ? { text: from, left: undefined }
    : { text: from.slice(0, end), left: from.slice(end + 1) };
}

export function joinDestination(type: string, texts: readonly string[]): string {
  const parts = PARTS[type] ?? [];
  if (texts.every((text) => text === '')) return '';
  const words = parts.map(({ kind }, i) => {
    const text = texts[i] ?? '';
    if (kind === 'quoted') return `"${toQuoted(text)}"`;
    return kind === 'word' ? text.replaceAll(/\s+/g, '') : text.replace(/^\s+/, '');
  });
  const last = parts.length - 1;
  return parts[last]?.kind === 'rest' && words[last] === ''
    ? words.slice(0, last).join(' ')
    : words.join(' ');
}

/** `\DDD` is an octet, and stays as it is; a backslash before three digits becomes one. */
function fromQuoted(text: string): string {
  return text.replaceAll(/\\(\d{3}|.)(?=(\d{3})?)/gs, (all, char: string, digits: string | undefined) => {
    if (char.length === 3) return all;
    return char === '\\' && digits !== undefined ? '\\092' : char;
  });
}

function toQuoted(text: string): string {
  return text.replaceAll(/\\(?!\d{3})|"/g, (char) => `\\${char}`);
}

/** Which box an error of the destination is about: the API begins it with the part's name. */
export function partAtFault(type: string, message: string): { part?: string; message: string } {
  const [, key, rest] = /^(\w+): (.+)$/s.exec(message) ?? [];
  if (key === undefined || rest === undefined) return { message };
  return PARTS[type]?.some((part) => part.key === key) === true ? { part: key, message: rest } : { message };
}
