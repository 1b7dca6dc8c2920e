// The zones of fixtures/zones-to-scan, written by three authors who did not know the scanner. The comment of each record
// tells if an outsider could find it. Each zone is placed at the servers of a hoster.

import { readdirSync, readFileSync } from 'node:fs';
import { foldCase, isWithin, type Name, nameInRdata, parseName, printName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import type { ZoneFileRecord } from '../../../src/dns/zone-file/zone-file.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { randomFrom } from '../random/random-zones.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { type CorpusRecord, type DraftRecord, labelRecords, type Sort } from './scan-corpus-labels.ts';

export const HANDS = ['first', 'second', 'third'] as const;
type Hand = (typeof HANDS)[number];

export interface CorpusZone {
  /** With the trailing dot. */
  readonly domain: string;
  readonly kind: Hand;
  readonly zone: Zone;
  /** Records that a scan may find: all except SOA and NS at the apex. */
  readonly records: readonly CorpusRecord[];
  /** A zone per delegation, on the same servers. None of its records belongs to this zone. */
  readonly children: readonly Zone[];
  readonly hoster: Hoster;
  /** Names of the hoster's servers: the hoster's own, or names inside the zone. */
  readonly ns: readonly string[];
  readonly fault: ZoneFault | undefined;
}

/** `one silent`: the first address does not answer. `nxdomain-for-ent`: empty non-terminals are denied with NXDOMAIN. */
export type ZoneFault = 'one silent' | 'nxdomain-for-ent';

export interface Hoster {
  /** `hoster3.net.` */
  readonly domain: string;
  readonly addresses: readonly string[];
}

const FOLDER = new URL('../../../fixtures/zones-to-scan/', import.meta.url);
const READ = { maxProblems: 1, maxRecords: 10_000, ttlSeconds: 300, nameTypes: new Map<string, number>() };
/** By the index of the zone, modulo 25. */
const FAULTS: ReadonlyMap<number, ZoneFault> = new Map([
  [8, 'one silent'],
  [16, 'nxdomain-for-ent'],
]);

interface ZoneText {
  readonly hand: Hand;
  /** Without the trailing dot. */
  readonly domain: string;
  readonly text: string;
}

/** Returns all zones of one author. Each has its own hoster. */
export function readWrittenZones(hand: Hand): CorpusZone[] {
  return zoneTexts(hand).map((text, i) => readZone(text, hosterOf(3 * i), undefined));
}

/** Returns this many zones in an order chosen by the seed. Zones that are used again get other domains. */
export function makeCorpus(order: {
  readonly seed: number;
  readonly zones: number;
  readonly hosters?: number;
}): CorpusZone[] {
  const random = randomFrom(order.seed);
  const texts = HANDS.flatMap(zoneTexts)
    .map((text) => ({ text, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ text }) => text);
  const hosters = Array.from({ length: order.hosters ?? 16 }, (_, i) => hosterOf(i));
  return Array.from({ length: order.zones }, (_, i) => {
    const text = texts[i % texts.length] as ZoneText;
    const hoster = hosters[i % hosters.length] as Hoster;
    return readZone(renamed(text, Math.floor(i / texts.length)), hoster, FAULTS.get(i % 25));
  });
}

function zoneTexts(hand: Hand): ZoneText[] {
  const folder = new URL(`${hand}/`, FOLDER);
  const files = readdirSync(folder).filter((file) => file.endsWith('.zone'));
  return files.sort().map((file) => ({
    hand,
    domain: file.slice(0, -'.zone'.length),
    text: readFileSync(new URL(file, folder), 'utf8'),
  }));
}

function renamed({ hand, domain, text }: ZoneText, round: number): ZoneText {
  if (round === 0) return { hand, domain, text };
  const other = `r${round}-${domain}`;
  return { hand, domain: other, text: text.replaceAll(`${domain}.`, `${other}.`) };
}

function hosterOf(index: number): Hoster {
  const count = [4, 2, 3][index % 3] as number;
  return {
    domain: `hoster${index}.net.`,
    addresses: Array.from({ length: count }, (_, i) => `185.${40 + index}.${i + 1}.53`),
  };
}

/** Replaces the zone's nameservers by the hoster's; in-domain ones keep their names and get the hoster's addresses. */
function readZone({ hand, domain: file, text }: ZoneText, atHoster: Hoster, fault?: ZoneFault): CorpusZone {
  const apex = parseName(`${file}.`);
  const { records, problems } = parseZoneFile(text, { origin: apex, lineByLine: READ });
  if (problems[0] !== undefined) throw new Error(`${file}:${problems[0].line}: ${problems[0].message}`);
  const isApexNs = ({ owner, type }: ZoneFileRecord) => owner === apex && type === TYPE.NS;
  const targets = records.filter(isApexNs).map(({ rdata }) => nameInRdata(rdata));
  const own = new Map<Name, string>();
  const ns = targets.slice(0, atHoster.addresses.length).map((target, i) => {
    if (!isWithin(target, apex)) return `ns${i + 1}.${atHoster.domain}`;
    own.set(foldCase(target), atHoster.addresses[i] as string);
    return printName(target);
  });
  const drafts = records
    .filter((record) => !isApexNs(record) && record.type !== TYPE.SOA)
    .map((record) => draftOf(record, own.get(record.owner)));
  const cuts = new Set(drafts.filter(({ type }) => type === TYPE.NS).map(({ owner }) => owner));
  const isGlue = ({ owner, type }: ZoneRecord) =>
    [...cuts].some(
      (cut) => isWithin(owner, cut) && !(owner === cut && (type === TYPE.NS || type === TYPE.DS)),
    );
  const domain = printName(apex);
  return {
    domain,
    kind: hand,
    zone: built(domain, ns, drafts),
    records: labelRecords(apex, drafts).map((record): CorpusRecord => {
      return isGlue(record) ? { ...record, label: 'shadowed', sort: 'glue' } : record; // never an answer of this zone
    }),
    children: [...cuts].map((cut) => childAt(cut, drafts)),
    hoster: atHoster,
    ns,
    fault,
  };
}

function childAt(cut: Name, drafts: readonly DraftRecord[]): Zone {
  const domain = printName(cut);
  const own = drafts.filter(({ owner, type }) => isWithin(owner, cut) && type !== TYPE.DS);
  const hosts = ['@', 'www', 'mail'].map((host, i) => `${host} 300 A 203.0.113.${200 + i}`).join('\n');
  return built(domain, [], [...own, ...recordsOf(hosts, domain)]);
}

function built(domain: string, ns: readonly string[], records: readonly ZoneRecord[]): Zone {
  const apex = [
    `@ 3600 SOA ns.hoster0.net. hostmaster.${domain} 2026110100 10000 2400 604800 1800`,
    ...ns.map((target) => `@ 86400 NS ${target}`),
  ];
  const zone = buildZone(parseName(domain), [...recordsOf(apex.join('\n'), domain), ...records]);
  if (zone.kind === 'built') return zone.zone;
  throw new Error(`${domain} cannot be served: ${zone.problems.map(({ message }) => message).join('; ')}`);
}

function draftOf({ owner, type, ttl, rdata, comment, line }: ZoneFileRecord, address?: string): DraftRecord {
  const label = comment?.trim();
  if (label !== 'learnable' && label !== 'common' && label !== 'obscure') {
    throw new Error(`${printName(owner)}, line ${line}: "${label}" is not a label`);
  }
  const isServer = address !== undefined && type === TYPE.A;
  const given = isServer ? Uint8Array.from(address.split('.'), Number) : rdata;
  return { owner, type, ttl, rdata: given, label, sort: sortOf(printName(owner), type) };
}

function sortOf(owner: string, type: number): Sort {
  if (type === TYPE.NS || type === TYPE.DS) return 'cut';
  if (type === TYPE.SRV) return 'SRV';
  if (type === TYPE.TLSA) return 'DANE';
  if (owner.startsWith('*')) return 'wildcard';
  if (owner.includes('._domainkey.')) return 'DKIM';
  return owner.startsWith('_') ? 'verification' : 'host';
}
