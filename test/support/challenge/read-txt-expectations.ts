// Reads the expect.txt of a small internet for challenges: what must be concluded in it. See fixtures/txt-worlds/README.md.

import type { Name } from '../../../src/dns/name.ts';
import { type Block, canonicalAddress, nameOf, parseBlocks } from '../world/read-world.ts';

export interface ExpectedTxtCheck {
  /** Any of them: chance decides. */
  readonly verdicts: readonly string[];
  /** `HOST ZONE`; undefined: not compared. */
  readonly links: readonly string[] | undefined;
  /** `ADDRESS OUTCOME`, and ` tcp` where the reply came so, `none` for a nameserver without an address. */
  readonly servers: readonly string[] | undefined;
  /** `ADDRESS OUTCOME`. */
  readonly resolvers: readonly string[];
  readonly packets: number;
  readonly message: string | undefined;
}

export interface TxtExpectations {
  /** Where the TXT record has to be. */
  readonly host: Name;
  readonly value: string;
  readonly untrusted: ReadonlySet<Name>;
  readonly check: ExpectedTxtCheck;
}

const CHALLENGE = '_svc-challenge'; // docs/rules.md "TXT verification"
const DEFAULT_VALUE = 'svc-verify=abcdefghijklmnopqrstuvwxyz234567';
const DEFAULT_PACKETS = 60;

export function parseTxtExpectations(text: string, what = 'expect.txt'): TxtExpectations {
  try {
    return expectationsOf(parseBlocks(text));
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
}

function expectationsOf(blocks: readonly Block[]): TxtExpectations {
  const found = new Map(blocks.map((block) => [block.words[0] ?? '', block]));
  const stranger = [...found.keys()].find(
    (word) => !['domain', 'value', 'untrusted', 'check'].includes(word),
  );
  if (stranger !== undefined) throw new Error(`"${stranger}" means nothing`);
  const check = found.get('check');
  if (check === undefined) throw new Error('there is no check');
  return {
    host: nameOf(`${CHALLENGE}.${found.get('domain')?.words[1]}`),
    value: found.get('value')?.words[1] ?? DEFAULT_VALUE,
    untrusted: new Set(found.get('untrusted')?.words.slice(1).map(nameOf)),
    check: readCheck(check),
  };
}

function readCheck({ body, at }: Block): ExpectedTxtCheck {
  const linesOf = (keyword: string) => body.filter(({ words }) => words[0] === keyword);
  const stranger = body.find(
    ({ words }) => !['verdict', 'link', 'server', 'resolver', 'packets', 'message'].includes(words[0] ?? ''),
  );
  if (stranger !== undefined) throw new Error(`line ${stranger.at}: "${stranger.line}" means nothing`);
  const rest = ({ line, words }: Block) => line.slice((words[0] as string).length).trim();
  const [verdict] = linesOf('verdict');
  if (verdict === undefined) throw new Error(`line ${at}: a check has no verdict`);
  const servers = linesOf('server');
  const links = linesOf('link');
  const [packets] = linesOf('packets');
  const [message] = linesOf('message');
  return {
    verdicts: rest(verdict).split('|'),
    links: links.length === 0 ? undefined : links.map(rest),
    servers: servers.length === 0 ? undefined : servers.map(serverLine),
    resolvers: linesOf('resolver').map(serverLine),
    packets: packets === undefined ? DEFAULT_PACKETS : Number(rest(packets)),
    message: message && rest(message),
  };
}

function serverLine({ words: [, where = '', ...outcome] }: Block): string {
  return [where === 'none' ? where : canonicalAddress(where), ...outcome].join(' ');
}
