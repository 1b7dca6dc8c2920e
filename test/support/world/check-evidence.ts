// Parses evidence from lines of text: the answers of the parent's addresses, in the format of the tables about delegation
// checks.
//
//   referral ns1.a ns2.a; timeout; referral ns2.a ns1.a +ds; nxdomain; answer ns1.a +cut; referral ns1.a +aa

import type { Expected, NameserverSet } from '../../../src/checks/delegation/check-state.ts';
import type { Evidence, ServerEvidence, ServerOutcome } from '../../../src/checks/delegation/evidence.ts';
import { type Name, parseName, ROOT } from '../../../src/dns/name.ts';

export const names = (text: string): readonly Name[] =>
  text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => parseName(word, ROOT));

/** `ns1.a ns2.a | ns1.b ns2.b` */
export const nameserverSets = (text: string): readonly NameserverSet[] =>
  text
    .split('|')
    .map(names)
    .filter((set) => set.length > 0);

export const expectedSets = (accepted: string, all = accepted): Expected => ({
  sets: nameserverSets(accepted),
  ours: new Set(nameserverSets(all).flat()),
});

export const DS = Uint8Array.of(0x30, 0x39, 13, 2, ...new Array(32).fill(7));

/**
 * Parses one address: its outcome, the names of its NS set, `+ds`, `+aa`, `+cut` or `+nocut` for DS, and `@address` if two
 * lines mean the same one.
 */
function parseServer(text: string, index: number): ServerEvidence {
  const [outcome, ...words] = text.trim().split(/\s+/) as [ServerOutcome | 'database', ...string[]];
  const ns = names(words.filter((word) => !/^[+@]/.test(word)).join(' '));
  const address = words.find((word) => word.startsWith('@'))?.slice(1) ?? `192.0.2.${index + 1}`;
  const isDatabase = outcome === 'database';
  return {
    server: parseName(isDatabase ? 'com.' : `p${index + 1}.com.`),
    address: isDatabase ? '' : address,
    transport: isDatabase ? 'database' : 'udp',
    askedAt: 0,
    rttMs: 1,
    outcome: isDatabase ? (ns.length > 0 ? 'referral' : 'nodata') : outcome,
    rcode: undefined,
    aa: words.includes('+aa') ? true : undefined,
    ns,
    ttl: undefined,
    ds: words.includes('+ds') ? [DS] : [],
    error: undefined,
    ...(words.includes('+cut') && { showsCut: true }),
    ...(words.includes('+nocut') && { showsCut: false }),
  };
}

/** `parentAddresses` defaults to the number of lines. */
export function evidenceOf(text: string, more: Partial<Evidence> = {}): Evidence {
  const servers = text.trim() === '' ? [] : text.split(';').map(parseServer);
  return {
    domain: parseName('shop.com.'),
    parent: parseName('com.'),
    walk: [
      { zone: ROOT, servers: names('a.root'), cached: true },
      { zone: parseName('com.'), servers: names('p1.com p2.com'), cached: true },
    ],
    servers,
    parentAddresses: servers.length,
    failure: undefined,
    queries: servers.length,
    startedAt: 0,
    finishedAt: 0,
    ...more,
  };
}
