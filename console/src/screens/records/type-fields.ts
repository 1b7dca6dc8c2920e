// The parts of a record's destination, each with its own input. Splitting and joining are inverse, even for incomplete input: an
// empty part keeps its position.

type Kind =
  /** A word without spaces. */
  | 'word'
  /** Quoted in the zone file, without quotes in the input. */
  | 'quoted'
  /** The rest of the text, including spaces; may be empty. */
  | 'rest';

export interface Part {
  /** Name of the part in errors of the API. */
  readonly key: string;
  readonly kind: Kind;
  /** Common values, which are suggestions. */
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

/** Undefined if the destination has one input. */
export function partsOf(type: string): readonly Part[] | undefined {
  return PARTS[type];
}

/** Returns the text of each part, or undefined if the destination has another form (RFC 3597 `\#`) and needs one input. */
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
  /** Offset after the space, or undefined at the end. */
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

/** `\DDD` is an octet and is kept. A backslash before three digits is escaped. */
function fromQuoted(text: string): string {
  return text.replaceAll(/\\(\d{3}|.)(?=(\d{3})?)/gs, (all, char: string, digits: string | undefined) => {
    if (char.length === 3) return all;
    return char === '\\' && digits !== undefined ? '\\092' : char;
  });
}

function toQuoted(text: string): string {
  return text.replaceAll(/\\(?!\d{3})|"/g, (char) => `\\${char}`);
}

/** Finds the part that an error of the destination concerns: the API's message begins with its name. */
export function partAtFault(type: string, message: string): { part?: string; message: string } {
  const [, key, rest] = /^(\w+): (.+)$/s.exec(message) ?? [];
  if (key === undefined || rest === undefined) return { message };
  return PARTS[type]?.some((part) => part.key === key) === true ? { part: key, message: rest } : { message };
}
