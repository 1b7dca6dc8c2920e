// How other validators evaluate Zonefleet's answers: Unbound in four configurations, BIND and Knot Resolver, with a
// signed private root. Every kind of answer is secure or insecure as its rule says, and none is bogus. NSD with the
// same zones proves that the expectations are right.

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RCODE, rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import { type Name, parseName, printName, ROOT } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeCode, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { listenTcp } from '../../../src/nameserver/tcp/tcp.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { listenUdpFor } from '../../support/answer/listen-udp-for.ts';
import { nodeOf } from '../../support/answer/queries.ts';
import type { AnsweringNode } from '../../support/answer/test-node.ts';
import { type OurZone, signAsOurs } from '../../support/dnssec/sign-as-ours.ts';
import {
  SIGNING_STYLES,
  type SignedText,
  type SigningStyle,
  signWith,
} from '../../support/dnssec/signing-programs.ts';
import { type KeySetting, keySettings } from '../../support/dnssec/zone-keys.ts';
import { startDaemon } from '../../support/peers/daemon.ts';
import {
  isInstalled,
  type Peer,
  type PeerAddress,
  startPeer,
  type ZoneText,
} from '../../support/peers/peers.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { proves } from '../../support/tests/scale.ts';
import { startTogether } from '../../support/tests/start-together.ts';
import { until } from '../../support/tests/until.ts';
import { startUnbound, type UnboundKind } from '../../support/validators/unbound.ts';
import {
  answers,
  askResolver,
  BARE_WILDCARD_ROW,
  type ExpectedVerdict,
  NSEC_AT_ALIAS_ROW,
  type RootSpace,
  type Security,
  type ValidatingResolver,
  type Validator,
  type Verdict,
} from '../../support/validators/validator.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zonesOf } from '../../support/zone/zone-text.ts';

const TLDS = ['zz.', 'yy.'] as const;

interface SignedWorld {
  readonly space: RootSpace;
  readonly subject: PeerAddress;
  stop(): Promise<void>;
}

/** Addresses that zones contain before any server listens there. */
interface Network {
  readonly root: string;
  readonly tlds: string;
  readonly subject: string;
  readonly children: string;
}

function chooseNetwork(): Network {
  const network = `127.${randomInt(64, 250)}.${randomInt(1, 250)}`;
  return {
    root: `${network}.1`,
    tlds: `${network}.2`,
    subject: `${network}.4`,
    children: `${network}.5`,
  };
}

/** Name of the tested server for a zone's NS records. */
function subjectName(tld: string): string {
  return `ours.nic.${tld}`;
}

/** `zones` are delegated by their TLD to the tested server, with their DS. */
async function startSignedWorld(
  network: Network,
  zones: readonly SignedText[],
  children: readonly ZoneText[],
): Promise<SignedWorld> {
  const tlds = await Promise.all(TLDS.map((tld) => signTld(network, tld, zones)));
  const root = await signWith(
    { name: 'root', program: 'dnssec-signzone', algorithm: 8, isSplit: true },
    { apex: '.', text: rootText(network, tlds) },
  );
  const at = (address: string): PeerAddress[] => [{ address, port: 53 }];
  const servers = await startTogether<[Peer, Peer, Peer]>([
    startPeer('nsd', [root], at(network.root)),
    startPeer('nsd', tlds, at(network.tlds)),
    startPeer('nsd', children, at(network.children)),
  ]);
  return {
    space: { anchors: [root.ds], reached: { root: network.root } },
    subject: { address: network.subject, port: 53 },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function signTld(network: Network, tld: string, zones: readonly SignedText[]): Promise<SignedText> {
  const text = [
    '@ 3600 SOA a.nic hostmaster.nic 1 1800 900 604800 60',
    '@ 3600 NS a.nic',
    `a.nic 3600 A ${network.tlds}`,
    `ours.nic 3600 A ${network.subject}`,
    ...zones
      .filter(({ apex }) => apex.endsWith(`.${tld}`))
      .flatMap(({ apex, ds }) => [`${apex} 3600 NS ${subjectName(tld)}`, ds]),
  ];
  const nsec3 = tld === 'yy.' ? { iterations: 0, salt: '', optOut: true } : undefined;
  return signWith(
    { name: tld, program: 'dnssec-signzone', algorithm: 13, ...(nsec3 && { nsec3 }) },
    { apex: tld, text: `$TTL 3600\n${text.join('\n')}` },
  );
}

function rootText(network: Network, tlds: readonly SignedText[]): string {
  const lines = [
    '$TTL 3600',
    '@ 3600 SOA a.root. hostmaster.root. 1 1800 900 604800 60',
    '@ 3600 NS a.root.',
    `a.root. 3600 A ${network.root}`,
    ...tlds.flatMap(({ apex, ds }) => [
      `${apex} 3600 NS a.nic.${apex}`,
      `a.nic.${apex} 3600 A ${network.tlds}`,
      ds,
    ]),
  ];
  return lines.join('\n');
}

/** Port 53 requires root, and loopback has more than one address only on Linux. */
function canListenOn53(): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false);
  const socket = createSocket('udp4');
  return new Promise<boolean>((done) => {
    socket.once('error', () => done(false));
    socket.bind(53, '127.61.1.1', () => done(true));
  }).finally(() => socket.close());
}

/** Answers that markers lead to, which no file can contain because they depend on the records. */
const MARKED_ROW = 'marked names';

interface FixtureWorld {
  readonly zones: (SignedText & Partial<OurZone>)[];
  readonly children: ZoneText[];
  readonly questions: ExpectedVerdict[];
}

interface OwnStyle {
  readonly name: string;
  readonly program: 'ours';
  readonly nsec3?: { readonly optOut: false };
  readonly setting: keyof ReturnType<typeof keySettings>;
}

const OUR_STYLES: readonly OwnStyle[] = [
  { name: 'ours-nsec', program: 'ours', setting: 'one key of algorithm 13' },
  { name: 'ours-nsec3', program: 'ours', setting: 'a KSK and a ZSK', nsec3: { optOut: false } },
  { name: 'ours-15-nsec3', program: 'ours', setting: 'one key of algorithm 15', nsec3: { optOut: false } },
  { name: 'ours-two', program: 'ours', setting: 'a KSK and a ZSK of two algorithms' },
];
const MARKS = ['marked', 'x.y.marked-deep'];

const NSEC: SigningStyle = { name: 'nsec', program: 'dnssec-signzone', algorithm: 13 };

/** `tlds`: the number of TLDs. Each zone is below one of them in turn, or below both. */
async function signFixtures(network: Network, tlds: 1 | 2): Promise<FixtureWorld> {
  const world: FixtureWorld = { zones: [], children: [], questions: [] };
  let turn = 0;
  const settings = keySettings();
  for (const style of [...SIGNING_STYLES, ...OUR_STYLES]) {
    for (const name of validatedZoneNames()) {
      const below = tlds === 2 ? TLDS : [TLDS[turn++ % 2] as string];
      for (const tld of below) await addZone(world, { name, style, tld, network, settings });
    }
  }
  return world;
}

interface ZoneToSign {
  readonly name: string;
  readonly style: SigningStyle | OwnStyle;
  readonly tld: string;
  readonly network: Network;
  readonly settings: Readonly<Record<string, KeySetting>>;
}

async function addZone(
  { zones, children, questions }: FixtureWorld,
  { name, style, tld, network, settings }: ZoneToSign,
): Promise<void> {
  const apex = `${name}-${style.name}.${tld}`;
  const { text } = readValidatedZone(name, apex, network);
  let ds = '';
  if (/^secure /m.test(text)) {
    const signed = await signWith(NSEC, childZone(`secure.${apex}`, network));
    ds = signed.ds;
    children.push(signed, childZone(`insecure.${apex}`, network));
  }
  const zone = { apex, text: `${text}\n${ds}` };
  if (style.program === 'ours') {
    const setting = settings[style.setting] as KeySetting;
    zones.push(signAsOurs({ denial: style.nsec3 ? 'nsec3' : 'nsec', setting, marks: MARKS }, zone));
    questions.push(...markQuestions(apex));
  } else {
    zones.push(await signWith(style, zone));
  }
  for (const { security, ...question } of readValidatedQuestions(name, apex)) {
    const proven = style.nsec3?.optOut ? 'insecure' : 'secure';
    questions.push({ ...question, security: security === 'opt-out' ? proven : security });
  }
}

function markQuestions(apex: string): ExpectedVerdict[] {
  const asked = (name: string, rcode: number) => ({
    name: parseName(`${name}.${apex}`, ROOT),
    type: TYPE.A,
    rcode: rcodeMnemonic(rcode),
    security: 'secure' as const,
    row: MARKED_ROW,
  });
  return [
    asked('marked', RCODE.NOERROR),
    asked('x.y.marked-deep', RCODE.NOERROR),
    asked('y.marked-deep', RCODE.NOERROR),
    asked('below.marked', RCODE.NXDOMAIN),
  ];
}

function childZone(apex: string, network: Network): ZoneText {
  const text = [
    '@ 300 SOA ns hostmaster 1 7200 900 1209600 60',
    '@ 300 NS ns',
    `ns 300 A ${network.children}`,
    'www 300 A 192.0.2.7',
  ];
  return { apex, text: text.join('\n') };
}

/** A zone in which one address was changed after signing, and one proof was removed. Validators must detect both. */
async function brokenZone(network: Network): Promise<FixtureWorld> {
  const apex = 'broken.zz.';
  const signed = await signWith(NSEC, readValidatedZone('whole', apex, network));
  const www = parseName(`www.${apex}`, ROOT);
  const lines = recordsOf(signed.text, apex)
    .filter(({ owner, type, rdata }) => {
      const covered = type === TYPE.RRSIG ? Buffer.from(rdata).readUInt16BE() : type;
      return owner !== www || covered !== TYPE.NSEC;
    })
    .map(({ owner, ttl, type, rdata }) => {
      const text = printRdata(type, rdata);
      const isChanged = owner === www && type === TYPE.A;
      return `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${isChanged ? '192.0.2.66' : text}`;
    });
  const expect = (name: string, type: number, security: Security): ExpectedVerdict => ({
    name: parseName(`${name}.${apex}`, ROOT),
    type,
    rcode: rcodeMnemonic(security === 'bogus' ? RCODE.SERVFAIL : RCODE.NOERROR),
    security,
    row: 'positive',
  });
  return {
    zones: [{ ...signed, text: lines.join('\n') }],
    children: [],
    questions: [
      expect('mail', TYPE.A, 'secure'),
      expect('www', TYPE.A, 'bogus'),
      expect('www', TYPE.TXT, 'bogus'),
      expect('alias', TYPE.A, 'bogus'),
    ],
  };
}

interface ValidatedQuestion {
  readonly name: Name;
  readonly type: number;
  readonly rcode: string;
  readonly security: 'secure' | 'insecure' | 'opt-out';
  /** Its row in the table of answers. */
  readonly row: string;
}

const FOLDER = join(import.meta.dirname, '../../../fixtures/validated');

function validatedZoneNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.zone'))
    .map((file) => file.slice(0, -'.zone'.length));
}

function readValidatedZone(zone: string, apex: string, network: Network): ZoneText {
  const tld = `${apex.split('.').at(-2)}.`;
  const text = readFileSync(join(FOLDER, `${zone}.zone`), 'utf8')
    .replaceAll(/\bSERVERNAME\b/g, subjectName(tld))
    .replaceAll(/\bSERVER\b/g, network.subject)
    .replaceAll(/\bCHILD\b/g, network.children);
  return { apex, text };
}

function readValidatedQuestions(zone: string, apex: string): ValidatedQuestion[] {
  const origin = parseName(apex, ROOT);
  let row = '';
  const questions: ValidatedQuestion[] = [];
  for (const line of readFileSync(join(FOLDER, `${zone}.questions`), 'utf8').split('\n')) {
    if (line.startsWith(';')) row = line.slice(2);
    if (line === '' || line.startsWith(';')) continue;
    const [name = '', type = '', rcode = '', security = ''] = line.split(' ');
    const code = type === 'ANY' ? 255 : typeCode(type);
    if (code === undefined || !/^(secure|insecure|opt-out)$/.test(security))
      throw new Error(`fixtures/validated/${zone}.questions: ${line}`);
    questions.push({
      name: parseName(name === '@' ? apex : name, origin),
      type: code,
      rcode,
      security: security as ValidatedQuestion['security'],
      row,
    });
  }
  return questions;
}

const ANY = 255;

async function startKnotResolver({ anchors, reached }: RootSpace): Promise<ValidatingResolver> {
  const port = await freePort();
  const config = (directory: string) => [
    `net.listen('127.0.0.1', ${port}, { kind = 'dns' })`,
    `net.listen('${directory}/control', nil, { kind = 'control' })`,
    'net.ipv6 = false',
    "option('ALLOW_LOCAL', true)",
    `cache.open(20 * MB, 'lmdb://${directory}')`,
    'cache.min_ttl(0)',
    "trust_anchors.remove('.')",
    ...anchors.map((anchor) => `trust_anchors.add([[${anchor}]])`),
    ...['priming', 'detect_time_skew', 'ta_signal_query'].map(
      (module) => `if modules.list()['${module}'] ~= nil then modules.unload('${module}') end`,
    ),
    "modules.load('hints')",
    `hints.root({ ['a.root.'] = '${reached.root}' })`,
    '',
  ];
  const daemon = await startDaemon({
    program: 'kresd',
    isReady: () => answers(port),
    files: (directory) => ({ 'kresd.conf': config(directory).join('\n') }),
    args: (directory) => ['-n', '-c', join(directory, 'kresd.conf'), directory],
  });
  const forget = () => command(join(daemon.directory, 'control'), 'cache.clear()');
  return {
    name: 'kresd',
    port,
    judges: ({ row, type }) => type !== ANY && row !== BARE_WILDCARD_ROW,
    // One after another: version 5.6 considers some answers bogus if it validates many of one zone concurrently.
    async ask(questions) {
      const verdicts: Verdict[] = [];
      for (const question of questions) verdicts.push(...(await askResolver(port, [question])));
      return verdicts;
    },
    forget,
    stop: daemon.stop,
  };
}

/** Resolves when it prints a result. */
async function command(socketPath: string, words: string): Promise<void> {
  const socket = connect(socketPath);
  let told = '';
  socket.on('data', (text) => (told += text.toString()));
  socket.on('error', (error) => (told = String(error)));
  socket.write(`${words}\n`);
  await until(() => told.includes('\n'), `kresd: ${words}`);
  socket.destroy();
}

/** Never answers from its cache. */
async function startNamed({ anchors, reached }: RootSpace): Promise<ValidatingResolver> {
  const port = await freePort();
  const config = (directory: string) => `
options {
  directory "${directory}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none; lock-file none; session-keyfile none;
  recursion yes;
  dnssec-validation yes;
  empty-zones-enable no;
  servfail-ttl 0;
  max-cache-ttl 0; max-ncache-ttl 0; synth-from-dnssec no;
};
controls {};
${bindAnchors(anchors)}
zone "." { type hint; file "root.hints"; };
`;
  const daemon = await startDaemon({
    program: 'named',
    isReady: () => answers(port),
    files: (directory) => ({
      'named.conf': config(directory),
      'root.hints': `. 3600000 NS a.root.\na.root. 3600000 A ${reached.root}\n`,
    }),
    args: (directory) => ['-g', '-n', '1', '-c', join(directory, 'named.conf')],
  });
  return {
    name: 'named',
    judges: ({ row }) => row !== NSEC_AT_ALIAS_ROW,
    port,
    ask: (questions) => askResolver(port, questions),
    async forget() {},
    stop: daemon.stop,
  };
}

/** DS records as in a zone file, in the syntax of BIND's configuration. */
function bindAnchors(anchors: readonly string[]): string {
  const lines = anchors.map((anchor) => {
    const [owner, , , tag, algorithm, type, ...digest] = anchor.split(/\s+/);
    return `  "${owner}" static-ds ${tag} ${algorithm} ${type} "${digest.join('')}";`;
  });
  return `trust-anchors {\n${lines.join('\n')}\n};`;
}

const PROGRAMS = ['unbound', 'named', 'kresd', 'dnssec-signzone', 'ldns-signzone', 'nsd'];
const absent = PROGRAMS.filter((program) => !isInstalled(program));
/** Used in a test's name. */
const NEEDS_VALIDATORS = absent.length === 0 ? '' : ` (skipped: needs ${absent.join(', ')})`;

const UNBOUND_KINDS: readonly UnboundKind[] = ['plain', 'strict', 'aggressive', 'minimising'];

interface Validators {
  readonly resolvers: readonly Validator[];
  forget(): Promise<void>;
  stop(): Promise<void>;
}

async function startValidators(space: RootSpace): Promise<Validators> {
  const resolvers = await startTogether<ValidatingResolver[]>([
    ...UNBOUND_KINDS.map((kind) => startUnbound(space, { kind, keeps: kind === 'aggressive' })),
    startNamed(space),
    startKnotResolver(space),
  ]);
  return {
    resolvers,
    async forget() {
      for (const resolver of resolvers) await resolver.forget();
    },
    async stop() {
      await Promise.all(resolvers.map((resolver) => resolver.stop()));
    },
  };
}

const missing = (await canListenOn53()) ? NEEDS_VALIDATORS : ' (skipped: needs port 53 of loopback)';

describe.skipIf(missing !== '')(`other validators${missing}`, () => {
  const network = chooseNetwork();
  let fixtures: FixtureWorld;
  let broken: FixtureWorld;
  let world: SignedWorld;
  let validators: Validators;

  beforeAll(async () => {
    fixtures = await signFixtures(network, proves ? 2 : 1);
    broken = await brokenZone(network);
    world = await startSignedWorld(network, allZones(), fixtures.children);
    validators = await startValidators(world.space);
  });

  afterAll(async () => {
    await validators?.stop();
    await world?.stop();
  });

  const builtZones = () =>
    zonesOf(
      ...allZones().map(({ apex, text, records }) =>
        zoneOfRecords(parseName(apex, ROOT), records ?? recordsOf(text, apex)),
      ),
    );
  const allZones = () => [...fixtures.zones, ...broken.zones];

  describe('with NSD, which proves the expectations', () => {
    let subject: { stop(): Promise<void> };
    beforeAll(async () => {
      subject = await startPeer('nsd', allZones(), [world.subject]);
      await validators.forget();
    });
    afterAll(() => subject.stop());

    it('consider every answer secure or insecure as its rule says', () =>
      judge(fixtures.questions.filter(({ row }) => row !== MARKED_ROW)));
    it('consider changed and unproven answers bogus', judgeBroken);
  });

  describe('with a node of the fleet and the same signed zones', () => {
    let subject: { stop(): Promise<void> } | undefined;
    beforeAll(async () => {
      subject = await serveNode(nodeOf(builtZones()), [world.subject]);
      await validators.forget();
    });
    afterAll(() => subject?.stop());

    it('consider every answer secure or insecure as its rule says', judgeFixtures);
    it('consider changed and unproven answers bogus', judgeBroken);
  });

  const judgeFixtures = () => judge(fixtures.questions);
  const judgeBroken = () => judge(broken.questions);

  async function judge(questions: readonly ExpectedVerdict[]): Promise<void> {
    const wrong: string[] = [];
    for (const validator of validators.resolvers) {
      const able = questions.filter((question) => validator.judges?.(question) ?? true);
      wrong.push(...unexpected(validator, able, await validator.ask(able)));
    }
    expect(wrong.slice(0, 40)).toEqual([]);
  }
});

/** Listens on UDP and TCP, as the nameserver process does. */
async function serveNode(
  node: AnsweringNode,
  addresses: readonly ListenAddress[],
): Promise<{ stop(): Promise<void> }> {
  const stoppable = <T extends { close(): Promise<void> }>(listener: T) => ({ stop: () => listener.close() });
  const [udp, tcp] = await startTogether([
    listenUdpFor(node, addresses).then(stoppable),
    listenTcp(addresses, node).then(stoppable),
  ]);
  return {
    async stop() {
      await Promise.all([udp.stop(), tcp.stop()]);
    },
  };
}

/** Differences from the expectations, one per line. */
function unexpected(
  { name: validator }: Pick<Validator, 'name'>,
  questions: readonly ExpectedVerdict[],
  verdicts: readonly Verdict[],
): string[] {
  return questions.flatMap(({ name, type, row, rcode, security }, i) => {
    const got = verdicts[i] as Verdict;
    const asked = `${validator}: ${printName(name)} ${typeMnemonic(type)} [${row}]`;
    if (got.security === security && got.rcode === rcode) return [];
    const why = got.reason === undefined ? '' : ` (${got.reason})`;
    return [`${asked}: ${got.rcode} ${got.security}${why}, not ${rcode} ${security}`];
  });
}
