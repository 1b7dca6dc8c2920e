// The demo's private internet: its servers, their addresses, and the contents of their zones. All names are reserved (RFC
// 2606, RFC 6761), all addresses are loopback addresses, and all servers share one port above 1024.

import { type Name, parseName } from '../../dns/name.ts';
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts';
import { buildZone } from '../../zone/build-zone.ts';
import type { Zone } from '../../zone/zone.ts';

interface Server {
  readonly name: string;
  readonly address: string;
}

/** Two of each, in two networks, like those of registries and providers. */
const ROOT_SERVERS: readonly Server[] = [
  { name: 'a.root.example', address: '127.83.1.1' },
  { name: 'b.root.example', address: '127.84.1.1' },
];
const REGISTRY_SERVERS: readonly Server[] = [
  { name: 'a.nic.test', address: '127.83.2.1' },
  { name: 'b.nic.test', address: '127.84.2.1' },
];
const ELSEWHERE_SERVERS: readonly Server[] = [
  { name: 'ns1.elsewhere.example', address: '127.83.4.1' },
  { name: 'ns2.elsewhere.example', address: '127.84.4.1' },
];
/** Addresses of the names in NAMESERVER_SETS, at which the nameserver of `npm start` answers in addition to DNS_LISTEN. */
export const OUR_ADDRESSES = ['127.83.3.1', '127.84.3.1'] as const;
/** The default of NAMESERVER_SETS has these in both top-level domains. */
const OUR_HOSTS: readonly Server[] = ['zonefleet.example', 'zonefleet.test'].flatMap((domain) =>
  OUR_ADDRESSES.map((address, i) => ({ name: `ns${i + 1}.${domain}`, address })),
);
export const OUR_NAMESERVERS: readonly string[] = OUR_HOSTS.slice(0, 2).map(({ name }) => name);
export const ELSEWHERE_NAMESERVERS: readonly string[] = ELSEWHERE_SERVERS.map(({ name }) => name);

/** Non-public networks that the resolver may query. */
export const NETWORKS = '127.83.0.0/16,127.84.0.0/16';
/** The registry's own domain, below which names are registered. */
export const TLD = 'test';
/** Hosts below it whose addresses the registry has. */
export const GLUE_HOSTS: readonly string[] = OUR_HOSTS.filter(({ name }) => name.endsWith(`.${TLD}`)).map(
  ({ name }) => name,
);

export const PLACES = {
  root: ROOT_SERVERS.map(({ address }) => address),
  registry: REGISTRY_SERVERS.map(({ address }) => address),
  elsewhere: ELSEWHERE_SERVERS.map(({ address }) => address),
} as const;

/** Returns root hints in the format of IANA's `named.root`. */
export function rootHints(): string {
  return [...ROOT_SERVERS.map(({ name }) => `. 3600 NS ${name}.`), ...addresses(ROOT_SERVERS)]
    .map((line) => `${line}\n`)
    .join('');
}

/** Nameservers by registered name. Names without nameservers are not in the zone. */
export type Registrations = ReadonlyMap<string, readonly string[]>;

export function rootZone(): Zone {
  const tlds = [TLD, 'example'].flatMap((tld) => REGISTRY_SERVERS.map(({ name }) => `${tld}. NS ${name}.`));
  return zoneOf('.', 1, ROOT_SERVERS, [...tlds, ...addresses([...ROOT_SERVERS, ...REGISTRY_SERVERS])]);
}

/**
 * Returns the registry's zones: the one with the registered names, and `example.`, which has our own names and those of the
 * other provider.
 */
export function registryZones(registrations: Registrations, serial: number): Zone[] {
  const names = [...registrations].flatMap(([name, nameservers]) =>
    nameservers.map((nameserver) => `${name}. NS ${nameserver}.`),
  );
  const isBelow = (domain: string) => (server: Server) => server.name.endsWith(`.${domain}`);
  const ofExample = ['zonefleet.example', 'elsewhere.example'].flatMap((domain) =>
    [...OUR_HOSTS, ...ELSEWHERE_SERVERS].filter(isBelow(domain)).map(({ name }) => `${domain}. NS ${name}.`),
  );
  return [
    zoneOf(`${TLD}.`, serial, REGISTRY_SERVERS, [
      ...names,
      ...addresses([...REGISTRY_SERVERS, ...OUR_HOSTS.filter(isBelow(TLD))]),
    ]),
    zoneOf('example.', 1, REGISTRY_SERVERS, [
      ...ofExample,
      ...addresses([...ROOT_SERVERS, ...ELSEWHERE_SERVERS, ...OUR_HOSTS.filter(isBelow('example'))]),
    ]),
  ];
}

/** Returns the other provider's zones: its own, and one for each name delegated to it. */
export function elsewhereZones(registrations: Registrations): Zone[] {
  const customers = [...registrations].filter(([, nameservers]) =>
    nameservers.some((name) => ELSEWHERE_NAMESERVERS.includes(name)),
  );
  return [
    zoneOf('elsewhere.example.', 1, ELSEWHERE_SERVERS, addresses(ELSEWHERE_SERVERS)),
    ...customers.map(([name]) =>
      zoneOf(`${name}.`, 1, ELSEWHERE_SERVERS, [`${name}. A 192.0.2.99`, `www.${name}. A 192.0.2.99`]),
    ),
  ];
}

function addresses(servers: readonly Server[]): string[] {
  return servers.map(({ name, address }) => `${name}. A ${address}`);
}

/** Uses short TTLs, so that delegation changes are visible soon. */
function zoneOf(apex: string, serial: number, servers: readonly Server[], lines: readonly string[]): Zone {
  const [first] = servers as readonly [Server];
  const text = [
    `$ORIGIN ${apex}`,
    '$TTL 60',
    `@ SOA ${first.name}. hostmaster.${first.name}. ${serial} 3600 600 86400 10`,
    ...servers.map(({ name }) => `@ NS ${name}.`),
    ...lines,
  ].join('\n');
  const name: Name = parseName(apex);
  const { records, problems } = parseZoneFile(text, { origin: name });
  const built = problems.length === 0 ? buildZone(name, records) : undefined;
  if (built?.kind === 'built') return built.zone;
  const [problem] = built?.kind === 'refused' ? built.problems : problems;
  throw new Error(`the demo's zone ${apex} is invalid: ${problem?.message}`);
}
