// The zones of fixtures/zones-to-scan, written by hands that knew nothing of the scanner: behind each record stands what
// an outsider could know of it.

import { readdirSync, readFileSync } from 'node:fs';
import { foldCase, isWithin, type Name, nameInRdata, parseName, printName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import type { ZoneFileRecord } from '../../../src/dns/zone-file/zone-file.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { built, type CorpusZone, type Hoster, hosterOf } from './scan-corpus.ts';
import { type CorpusRecord, type DraftRecord, labelRecords, type Sort } from './scan-corpus-labels.ts';

/** Each has a folder. */
export const HANDS = ['first', 'second', 'third'] as const;

const FOLDERS = new URL('../../../fixtures/zones-to-scan/', import.meta.url);
const READ = { maxProblems: 1, maxRecords: 10_000, ttlSeconds: 300, nameTypes: new Map<string, number>() };

export function readWrittenZones(hand: (typeof HANDS)[number]): CorpusZone[] {
  const folder = new URL(`${hand}/`, FOLDERS);
  const files = readdirSync(folder).filter((file) => file.endsWith('.zone'));
  return files.sort().map((file, i) => {
    const apex = parseName(`${file.slice(0, -'.zone'.length)}.`);
    const text = readFileSync(new URL(file, folder), 'utf8');
    const { records, problems } = parseZoneFile(text, { origin: apex, lineByLine: READ });
    if (problems[0] !== undefined) throw new Error(`${file}:${problems[0].line}: ${problems[0].message}`);
    return atHoster(apex, records, i);
  });
}

/** Its nameservers become those of a made hoster: names of its own get the hoster's addresses. */
function atHoster(apex: Name, records: readonly ZoneFileRecord[], index: number): CorpusZone {
  const isApexNs = ({ owner, type }: ZoneFileRecord) => owner === apex && type === TYPE.NS;
  const targets = records.filter(isApexNs).map(({ rdata }) => nameInRdata(rdata));
  const { domain: hosterDomain, addresses } = hosterOf(3 * index);
  const hoster: Hoster = { domain: hosterDomain, addresses: addresses.slice(0, targets.length) };
  const own = new Map<Name, string>();
  const ns = targets.map((target, i) => {
    if (!isWithin(target, apex)) return `ns${i + 1}.${hosterDomain}`;
    own.set(foldCase(target), hoster.addresses[i] as string);
    return printName(target);
  });
  const drafts = records
    .filter((record) => !isApexNs(record) && record.type !== TYPE.SOA)
    .map((record) => draftOf(record, own.get(record.owner)));
  const cuts = drafts.filter(({ type }) => type === TYPE.NS).map(({ owner }) => owner);
  const isGlue = ({ owner, type }: ZoneRecord) =>
    cuts.some((cut) => isWithin(owner, cut) && !(owner === cut && (type === TYPE.NS || type === TYPE.DS)));
  const domain = printName(apex);
  return {
    domain,
    kind: 'written',
    zone: built(domain, ns, drafts),
    records: labelRecords(apex, drafts).map((record): CorpusRecord => {
      return isGlue(record) ? { ...record, label: 'shadowed', sort: 'glue' } : record; // never an answer of this zone
    }),
    children: [],
    hoster,
    ns,
    fault: undefined,
  };
}

function draftOf({ owner, type, ttl, rdata, comment, line }: ZoneFileRecord, address?: string): DraftRecord {
  const label = comment?.trim();
  if (label !== 'learnable' && label !== 'common' && label !== 'obscure') {
    throw new Error(`${printName(owner)}, line ${line}: "${label}" is no label`);
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
