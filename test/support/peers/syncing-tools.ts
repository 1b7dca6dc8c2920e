// Tools that transfer a zone, compare it with the records that they want, and send the differences as updates. Here they
// send the messages of external-dns and octodns-bind.

import { parseName } from '../../../src/dns/name.ts';
import { dnspython } from './dnspython.ts';
import { nsupdate } from './nsupdate.ts';
import { transferred } from './transfer-fleet.ts';

type Lines = readonly string[];

interface Values {
  readonly ttl: number;
  readonly values: Lines;
}

/** By name and type, for example `www.shop.example. A`. */
type Sets = ReadonlyMap<string, Values>;

/** A tool that manages the names below `label` in shop.example. */
export interface SyncingTool {
  readonly label: string;
  /** States of its records, as lines `NAME TTL TYPE RDATA` relative to `label`. TTL 0 is written if none is configured. */
  readonly states: readonly Lines[];
  readonly isSameTtl: (held: number, wanted: number) => boolean;
  readonly change: (set: string, held: Values, wanted: Values) => Lines;
  /** Groups the lines about new, changed and deleted sets into messages. */
  readonly messages: (created: Lines, changed: Lines, deleted: Lines) => readonly Lines[];
  /** Sends an update. Returns the error, '' if all is well. */
  readonly send: (port: number, key: string, lines: Lines) => Promise<string>;
}

const ZONE = 'zone shop.example.';
const LONG = `"${'k'.repeat(250)}" "${'l'.repeat(150)}"`;
const OWNER = 'TXT "heritage=external-dns,external-dns/owner=k8s,external-dns/resource=service/web/app"';
const linesIn = (text: string) => text.trim().split('\n');

const EXTERNAL_DNS = {
  label: 'k8s',
  isSameTtl: (held: number, wanted: number) => wanted === 0 || held === wanted,
  change: (set: string, held: Values, wanted: Values) => [...deletion(set, held), ...addition(set, wanted)],
  messages: (...groups: Lines[]) => groups,
  states: [
    linesIn(`
app 0 A 192.0.2.10
app 0 A 192.0.2.11
a-app 0 ${OWNER}
app 0 AAAA 2001:db8::1
aaaa-app 0 ${OWNER}
web 0 CNAME lb.other.example.
cname-web 0 ${OWNER}
ttl 300 A 192.0.2.12
a-ttl 0 ${OWNER}
* 0 CNAME lb.other.example.`),
    linesIn(`
app 0 A 192.0.2.10
a-app 0 ${OWNER}
web 0 CNAME lb2.other.example.
cname-web 0 ${OWNER}
ttl 600 A 192.0.2.12
a-ttl 0 ${OWNER}`),
    [],
  ],
};

export const SYNCING_TOOLS: Readonly<Record<string, SyncingTool>> = {
  'external-dns 0.12 (UDP if the message fits)': {
    ...EXTERNAL_DNS,
    send: (port, key, lines) => nsupdate(port, key, [ZONE, ...lines]),
  },
  'external-dns since 0.16 (TCP)': {
    ...EXTERNAL_DNS,
    send: (port, key, lines) => nsupdate(port, key, [ZONE, ...lines], '-v'),
  },
  'octodns-bind 0.0.6': {
    label: 'files',
    isSameTtl: (held, wanted) => held === wanted,
    change: (set, _, wanted) => [`update delete ${set}`, ...addition(set, wanted)],
    messages: (created, changed, deleted) => [[...deleted, ...created, ...changed]],
    send: async (port, key, lines) => (await dnspython(port, key, [ZONE, ...lines])).replace('NOERROR', ''),
    states: [
      linesIn(`
a 300 A 192.0.2.1
a 300 A 192.0.2.2
a 60 AAAA 2001:db8::1
* 3600 CNAME a.shop.example.
caa 3600 CAA 0 issue "ca.example"
loc 60 LOC 31 58 52.100 S 115 49 11.700 E 20.00m 10m 10m 2m
mx 300 MX 10 mx1.other.example.
mx 300 MX 20 mx2.other.example.
sub 3600 NS ns1.other.example.
sub 3600 NS ns2.other.example.
ptr 300 PTR a.shop.example.
txt 600 TXT ${LONG}
txt 600 TXT "a \\"quoted\\" text; with a semicolon"
_sip._tcp 600 SRV 10 20 5060 a.shop.example.
ssh 60 SSHFP 1 2 ${'AB'.repeat(32)}
_443._tcp 60 TLSA 3 1 1 ${'CD'.repeat(32)}`),
      linesIn(`
a 300 A 192.0.2.3
a 300 A 192.0.2.2
a 120 AAAA 2001:db8::1
new 300 CNAME a.shop.example.
mx 300 MX 10 mx1.other.example.
txt 600 TXT ${LONG}
ptr 300 CNAME a.shop.example.`),
      [],
    ],
  },
};

/** Updates the zone at a port to a state of the tool. Returns the messages that this took. */
export async function sync(
  tool: SyncingTool,
  state: Lines,
  { port, key }: { readonly port: number; readonly key: string },
): Promise<readonly Lines[]> {
  const under = `.${tool.label}.shop.example.`;
  const held = setsIn(await transferred(port, parseName('shop.example.'), '-y', key));
  const wanted = setsIn(state.map((line) => line.replace(' ', `${under} `)));
  const [created, changed, deleted]: [string[], string[], string[]] = [[], [], []];
  for (const [set, one] of wanted) {
    const before = held.get(set);
    if (before === undefined) created.push(...addition(set, one));
    else if (before.values.join() !== one.values.join() || !tool.isSameTtl(before.ttl, one.ttl))
      changed.push(...tool.change(set, before, one));
  }
  for (const [set, one] of held)
    if (set.includes(under) && !wanted.has(set)) deleted.push(...deletion(set, one));
  const messages = tool.messages(created, changed, deleted).filter((lines) => lines.length > 0);
  for (const lines of messages) {
    const error = await tool.send(port, key, lines);
    if (error !== '') throw new Error(`${error}: ${lines.join('; ')}`);
  }
  return messages;
}

function setsIn(lines: Lines): Sets {
  const sets = new Map<string, Values>();
  for (const line of lines) {
    const [owner, ttl, type, ...rdata] = line.split(' ');
    const set = `${owner} ${type}`;
    const values = [...(sets.get(set)?.values ?? []), rdata.join(' ')].sort();
    sets.set(set, { ttl: Number(ttl), values });
  }
  return sets;
}

function addition(set: string, { ttl, values }: Values): Lines {
  return values.map((value) => `update add ${set.replace(' ', ` ${ttl} `)} ${value}`);
}

function deletion(set: string, { values }: Values): Lines {
  return values.map((value) => `update delete ${set} ${value}`);
}
