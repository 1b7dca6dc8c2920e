// The generated zones in a small internet: a root, top-level zones, hosters, and each zone at its hoster's addresses.

import type { Name } from '../../../src/dns/name.ts';
import { parseName } from '../../../src/dns/name.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import type { Fault, ServerScript, World } from '../world/read-world.ts';
import { nameOf, readZone } from '../world/read-world.ts';
import type { CorpusZone, Hoster } from './scan-corpus.ts';

export interface ScanInternetOptions {
  readonly delayMs?: number;
  readonly silentHosters?: ReadonlySet<string>;
}

const ROOT_ADDRESSES = ['198.41.0.4', '170.247.170.2'] as const;
const tldAddresses = (i: number) => [`192.5.6.${30 + i}`, `192.33.14.${30 + i}`];

export function scanWorld(corpus: readonly CorpusZone[], options: ScanInternetOptions = {}): World {
  const hosters = [...new Set(corpus.map(({ hoster }) => hoster))];
  const { delayMs = 0 } = options;
  const delays = delayMs === 0 ? [] : [lasting('slow', delayMs, undefined)];
  const servers = new Map<string, ServerScript>();
  const served = new Map<Name, ReadonlyMap<string, Zone>>();
  const serverAt = (address: string): ServerScript => {
    const known = servers.get(address);
    if (known !== undefined) return known;
    const name = parseName(`${address.replaceAll('.', '-')}.server.`);
    const lists = { serves: [], faults: [...delays], adds: [], scripts: [], never: [] };
    const script = { name, address, ...lists, recursive: false };
    servers.set(address, script);
    return script;
  };
  const serve = (zone: Zone, addresses: readonly string[]) => {
    served.set(zone.apex, new Map([['', zone]]));
    for (const address of addresses) serverAt(address).serves.push({ apex: zone.apex, variants: [] });
  };
  const disturb = (kind: Fault['kind'], on: Name, addresses: readonly string[]) => {
    for (const address of addresses) serverAt(address).faults.push(lasting(kind, 0, on));
  };
  const tlds = tldsOf(corpus);
  serve(readZone(nameOf('.'), rootText(tlds), 'the root'), ROOT_ADDRESSES);
  for (const [i, tld] of tlds.entries()) {
    const text = [...tldServers(tld, i), ...tldDelegations(tld, corpus, hosters)].join('\n');
    serve(readZone(nameOf(`${tld}.`), text, tld), tldAddresses(i));
  }
  for (const hoster of hosters) {
    serve(readZone(nameOf(hoster.domain), hosterRecords(hoster).join('\n'), hoster.domain), hoster.addresses);
  }
  for (const { zone, children, hoster, fault } of corpus) {
    serve(zone, hoster.addresses);
    for (const child of children) serve(child, hoster.addresses);
    if (fault === 'one silent') disturb('silent', zone.apex, hoster.addresses.slice(0, 1));
    if (fault === 'nxdomain-for-ent') disturb('nxdomain-for-ent', zone.apex, hoster.addresses);
    if (options.silentHosters?.has(hoster.domain)) disturb('silent', zone.apex, hoster.addresses);
  }
  return { title: 'made zones', servers, zones: served, held: new Map(), hasIpv6: false, flips: [] };
}

function lasting(kind: Fault['kind'], value: number, on: Name | undefined): Fault {
  return { kind, value, on, first: Number.POSITIVE_INFINITY };
}

function tldsOf(corpus: readonly CorpusZone[]): string[] {
  return [...new Set(['net', ...corpus.map(({ domain }) => domain.split('.').at(-2) as string)])];
}

function rootText(tlds: readonly string[]): string {
  const own = ROOT_ADDRESSES.flatMap((address, i) => [`@ NS r${i}.root.`, `r${i}.root. A ${address}`]);
  return [...own, ...tlds.flatMap(tldServers)].join('\n');
}

/** NS and address records of a top-level zone, in it and in its parent. */
function tldServers(tld: string, index: number): string[] {
  return tldAddresses(index).flatMap((address, i) => [
    `${tld}. NS n${i}.nic.${tld}.`,
    `n${i}.nic.${tld}. A ${address}`,
  ]);
}

function tldDelegations(tld: string, corpus: readonly CorpusZone[], hosters: readonly Hoster[]): string[] {
  const delegated = corpus.filter(({ domain }) => domain.endsWith(`.${tld}.`));
  const below = delegated.flatMap(({ domain, ns, hoster }) =>
    ns.flatMap((target, i) => [
      `${domain} NS ${target}`,
      ...(target.endsWith(`.${domain}`) ? [`${target} A ${hoster.addresses[i]}`] : []),
    ]),
  );
  const hosted = hosters.filter(({ domain }) => domain.endsWith(`.${tld}.`)).flatMap(hosterRecords);
  return [...below, ...hosted];
}

function hosterRecords({ domain, addresses }: Hoster): string[] {
  return addresses.flatMap((address, i) => [
    `${domain} NS ns${i + 1}.${domain}`,
    `ns${i + 1}.${domain} A ${address}`,
  ]);
}
