// An operator moves 200 zones here from PowerDNS with the commands of docs/operating/move-in.md, "Move domains here from another system". A validating
// resolver is queried for names of all zones meanwhile, and the owners change records while the nameservers change.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { parseName, printName } from '../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { linesOf } from '../support/answer/observed-answer.ts';
import { queryFor } from '../support/answer/queries.ts';
import { CLI } from '../support/cli/run-cli.ts';
import { SIGNING_SECRETS } from '../support/database/signed-zones.ts';
import { askMany, isInstalled, type ZoneText } from '../support/peers/peers.ts';
import { dsOfPowerDns, type PowerDns, startPowerDns } from '../support/peers/power-dns.ts';
import { FLEET_SETS, NEEDS_PARENT, type RealParent, startRealParent } from '../support/peers/real-parent.ts';
import { type RealFleet, startRealFleet } from '../support/processes/real-fleet.ts';
import { ROOT } from '../support/tests/sources.ts';
import { startUnbound } from '../support/validators/unbound.ts';
import type { ValidatingResolver } from '../support/validators/validator.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const programs = ['unbound', 'pdns_server', 'pdnsutil', 'dig', 'dnsperf'].filter(
  (each) => !isInstalled(each),
);
const needs = NEEDS_PARENT || (programs.length === 0 ? '' : ` (skipped: needs ${programs.join(', ')})`);

const MINUTE_MS = 60_000;
const LABELS = Array.from({ length: 200 }, (_, i) => `shop${i}`);
const SIGNED = LABELS.filter((_, i) => i % 10 === 0);
const THEIRS = ['ns1.other.zz', 'ns2.other.zz'];
const OWNERS = ['ann@shop.example', 'bob@shop.example'];
/** TTL of the NS records in the zones. Those of the parent have half of it. */
const NS_TTL = 60;
/** Number of nameserver changes that the registry publishes together. */
const BATCH = 20;
const QUERIES_PER_SECOND = 100;
/** Line that dnsperf prints for a query without an answer when it stops. */
const INTERRUPTED = 'I';
const PROGRAM_MODE = 0o755;

const EXTRA = [
  '_sip._tcp 300 SRV 10 20 5060 www\n_443._tcp.www 300 TLSA 3 1 1 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  'ssh 300 SSHFP 4 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n@ 300 NAPTR 100 10 "U" "E2U+sip" "!^.*$!sip:a@b.example!" .',
  'team 300 NS ns.team\nns.team 300 A 192.0.2.77',
  '@ 300 HTTPS 1 . alpn=h2\nhq 300 LOC 52 22 23.000 N 4 53 32.000 E -2.00m 1m 10000m 10m',
  `key._domainkey 300 TXT "v=DKIM1; p=${'a'.repeat(240)}" "${'b'.repeat(200)}"\n_ftp._tcp 300 URI 10 1 "ftp://ftp.example/"`,
];

function zoneOf(label: string, i: number): ZoneText {
  const text = [
    '@ 60 SOA ns1.other.zz. hostmaster.zz. 1 1800 900 604800 60',
    ...THEIRS.map((name) => `@ ${NS_TTL} NS ${name}.`),
    `@ 300 A 198.51.100.${i}`,
    '@ 3600 MX 10 mail',
    '@ 3600 MX 20 mx.backup.example.',
    '@ 300 TXT "v=spf1 mx -all"',
    '@ 300 CAA 0 issue "ca.example"',
    `www 60 A 198.51.100.${i}`,
    'www 60 A 203.0.113.1',
    `www 60 AAAA 2001:db8::${i}`,
    'mail 300 A 203.0.113.25',
    'ftp 300 CNAME www',
    'old 60 A 203.0.113.9',
    '*.w 60 A 203.0.113.3',
    EXTRA[i % EXTRA.length],
  ];
  return { apex: `${label}.zz.`, text: text.join('\n') };
}

/** The command blocks of the document. A block that begins with `$` shows a session. */
function documentedCommands(): string[] {
  const text = readFileSync(join(ROOT, 'docs/operating/move-in.md'), 'utf8');
  const blocks = text.match(/(?:^ {7} *\S.*\n)+/gm) as string[];
  return blocks.map((block) => block.replaceAll(/^ {7}/gm, '')).filter((block) => !block.startsWith('$'));
}

/** A shell in an empty directory, whose commands reach this fleet and this PowerDNS. */
class OperatorShell {
  readonly directory = mkdtempSync(join(tmpdir(), 'zonefleet-move-in-'));
  readonly #env: Record<string, string>;
  commands = 0;

  constructor(fleet: RealFleet, old: PowerDns, addresses: Record<'OLD' | 'NEW', string>) {
    const programs = mkdtempSync(join(this.directory, '.programs-'));
    const link = (name: string, command: string) => {
      writeFileSync(join(programs, name), `#!/bin/sh\nexec ${command} "$@"\n`);
      chmodSync(join(programs, name), PROGRAM_MODE);
    };
    link('zonefleet', `'${process.execPath}' '${CLI}'`);
    link('pdnsutil', `/usr/bin/env PATH="$ORIGINAL_PATH" pdnsutil --config-dir=${old.directory}`);
    const path = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
    this.#env = {
      ...fleet.cliSettings,
      ...addresses,
      DATABASE_URL: fleet.database.url,
      DATA_DIR: '/nonexistent/zonefleet',
      HOME: process.env.HOME ?? '/',
      ORIGINAL_PATH: path,
      PATH: `${programs}:${path}`,
    };
  }

  /** Throws unless every command exits with 0. */
  async run(commands: string): Promise<void> {
    this.commands += commands.trim().split('\n').length;
    const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
      cwd: this.directory,
      env: this.#env,
    });
    let told = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        told = `${told}${text}`.slice(-4000);
      });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${commands}exited with ${code}: ${told}`);
  }

  write(file: string, lines: readonly string[]): void {
    writeFileSync(join(this.directory, file), `${lines.join('\n')}\n`);
  }

  read(file: string): string {
    return readFileSync(join(this.directory, file), 'utf8');
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Runs dnsperf, which queries a resolver for names of all zones. Three of four names are new. */
class Load {
  readonly #directory = mkdtempSync(join(tmpdir(), 'zonefleet-dnsperf-'));
  readonly #child: ReturnType<typeof spawn>;
  #told = '';

  constructor(port: number) {
    const lines = Array.from({ length: 30 * 60 * QUERIES_PER_SECOND }, (_, i) => {
      const zone = `${LABELS[(i * 7) % LABELS.length]}.zz`;
      return [`www.${zone} A`, `q${i}.w.${zone} A`, `q${i}.w.${zone} TXT`, `no${i}.${zone} A`][i % 4];
    });
    const file = join(this.#directory, 'queries');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const args = ['-s', '127.0.0.1', '-p', `${port}`, '-d', file, '-n', '1', '-Q', `${QUERIES_PER_SECOND}`];
    this.#child = spawn('dnsperf', [...args, '-t', '20', '-D', '-v'], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.on('data', (text: Buffer) => {
      this.#told += text;
    });
  }

  /** Queries without the required answer: `no…` names do not exist, all others do. */
  async stop(): Promise<{ completed: number; lost: number; wrong: string[] }> {
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGINT');
    await ended;
    rmSync(this.#directory, { recursive: true, force: true });
    const answers = [...this.#told.matchAll(/^> (\S+) (\S+) (\S+)/gm)].filter(
      ([, rcode]) => rcode !== INTERRUPTED,
    );
    const wrong = answers.filter(
      ([, rcode, name = '']) => rcode !== (name.startsWith('no') ? 'NXDOMAIN' : 'NOERROR'),
    );
    const lost = Number(/Queries lost: +(\d+)/.exec(this.#told)?.[1] ?? Number.NaN);
    return { completed: answers.length, lost, wrong: wrong.map(([line]) => line) };
  }
}

describe.skipIf(needs !== '')(`a PowerDNS installation that moves in${needs}`, () => {
  const closing: (() => unknown)[] = [];
  let parent: RealParent;
  let old: PowerDns;
  let fleet: RealFleet;
  let unbound: ValidatingResolver;
  const zones = LABELS.map(zoneOf);
  /** Returns the query for each record set, except SOA and NS of an apex. */
  const queries = new Map<string, Uint8Array>();
  for (const { apex, text } of zones) {
    for (const { owner, type } of recordsOf(text, apex)) {
      if (type === TYPE.SOA || (type === TYPE.NS && printName(owner) === apex)) continue;
      queries.set(
        `${printName(owner)} ${typeMnemonic(type)}`,
        queryFor({ name: owner, type, udpPayloadSize: 1232 }),
      );
    }
  }

  beforeAll(async () => {
    parent = await startRealParent(Object.fromEntries(LABELS.map((label) => [label, THEIRS])), {
      isSigned: true,
    });
    closing.unshift(() => parent.stop());
    const address = newAddress().replace(/\.\d+$/, '.9');
    const listen = [53, parent.port].map((port) => ({ address, port }));
    old = await startPowerDns({ zones, signed: SIGNED.map((label) => `${label}.zz`), listen });
    closing.unshift(() => old.stop());
    const ds: Record<string, string[]> = {};
    for (const label of SIGNED) ds[label] = [await dsOfPowerDns(old, `${label}.zz`)];
    await parent.showAllDs(ds);
    const [{ name, secret }] = SIGNING_SECRETS as [(typeof SIGNING_SECRETS)[number]];
    fleet = await startRealFleet(parent, { KEY_SECRETS: `${name}:${secret.toString('base64')}` });
    closing.unshift(() => fleet.stop());
    await fleet.startWorkers();
    const { ROOT_HINTS, TRUST_ANCHORS } = parent.settings as Record<string, string>;
    const [, root = ''] =
      /A (\S+)/.exec(readFileSync(ROOT_HINTS as string, 'utf8').split('\n')[1] ?? '') ?? [];
    const anchors = [readFileSync(TRUST_ANCHORS as string, 'utf8').trim()];
    unbound = await startUnbound({ anchors, reached: { root } });
    closing.unshift(() => unbound.stop());
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  function newAddress(): string {
    return (parent.ours[0] as { address: string }).address;
  }

  /** Returns the answer to each query, with TTLs. For a delegation, these are the referral's NS records. */
  async function answersAt(address: string): Promise<Map<string, string[]>> {
    const replies = await askMany(53, [...queries.values()], { address });
    return new Map(
      [...queries.keys()].map((key, i) => {
        if (replies[i] === undefined) return [key, ['no answer']];
        const { answers, authorities } = decodeMessage(replies[i]);
        return [key, linesOf([...answers, ...authorities.filter(({ type }) => type === TYPE.NS)])];
      }),
    );
  }

  let asked = 0;
  async function signedZonesAreSecure(): Promise<void> {
    asked++;
    const questions = SIGNED.flatMap((label) => [
      { name: parseName(`s${asked}.w.${label}.zz.`), type: TYPE.A },
      { name: parseName(`no-s${asked}.${label}.zz.`), type: TYPE.A },
    ]);
    const verdicts = await unbound.ask(questions);
    const expected = questions.map((_, i) => `secure ${i % 2 === 0 ? 'NOERROR' : 'NXDOMAIN'}`);
    expect(verdicts.map(({ security, rcode }) => `${security} ${rcode}`)).toEqual(expected);
  }

  async function done(method: string, path: string, body?: unknown) {
    const answer = await fleet.api.ask(method, path, body);
    expect([answer.status, path, answer.body]).toMatchObject([200, path, {}]);
    return answer.body;
  }

  /** Adds a record to the domain, and changes or deletes one. Stores the new answers in `expected`. */
  async function edit(label: string, i: number, expected: Map<string, string[]>): Promise<void> {
    const path = `/domains/${label}.zz/records/`;
    const put = (name: string, destination: string | undefined) => {
      const fqdn = `${name}.${label}.zz.`;
      expected.set(`${fqdn} A`, destination === undefined ? [] : [`${fqdn} 60 A ${destination}`]);
      queries.set(`${fqdn} A`, queryFor({ name: parseName(fqdn), type: TYPE.A, udpPayloadSize: 1232 }));
    };
    const added = { name: 'edited', type: 'A', destination: `192.0.2.${i}`, ttl: 60, proxied: false };
    await done('POST', path, added);
    put('edited', added.destination);
    const [record] = await done('GET', `${path}?name=old&type=A`);
    if (i % 2 === 0) {
      await done('PUT', `${path}${record.id}`, { destination: '192.0.2.254' });
      put('old', '192.0.2.254');
    } else {
      await done('DELETE', `${path}${record.id}`);
      put('old', undefined);
    }
  }

  test('loses no answer or edit, and has no bogus answer', { timeout: 20 * MINUTE_MS }, async () => {
    const blocks = documentedCommands();
    expect(blocks.map((block) => block.split('\n').length - 1)).toEqual([3, 1, 1, 2, 4, 3, 2, 1]);
    const [exporting, creating, importing, bringingKeys, comparing, comparingKeys, waiting, checking] =
      blocks as [string, string, string, string, string, string, string, string];
    const oldAddress = newAddress().replace(/\.\d+$/, '.9');
    const expected = await answersAt(oldAddress);
    expect([...expected].filter(([, lines]) => lines.length === 0 || lines[0] === 'no answer')).toEqual([]);
    const shell = new OperatorShell(fleet, old, { OLD: oldAddress, NEW: newAddress() });
    closing.unshift(() => shell.remove());
    await signedZonesAreSecure();
    const load = new Load(unbound.port);

    const startedAt = Date.now();
    const times: string[] = [];
    const timed = async (what: string, work: () => Promise<unknown>) => {
      const from = Date.now();
      await work();
      times.push(`${what} ${Math.round((Date.now() - from) / 1000)} s`);
    };
    for (const owner of OWNERS) await shell.run(`zonefleet account create ${owner}\n`);
    await timed('export', () => shell.run(exporting));
    shell.write(
      'moved.txt',
      LABELS.map((label, i) => `${label}.zz ${OWNERS[i % OWNERS.length]}`),
    );
    await timed('create', () => shell.run(creating));
    await timed('import', () => shell.run(importing));
    await timed('keys', () => shell.run(bringingKeys));
    await timed('compare', () => shell.run(comparing));
    expect(shell.read('names.txt').trim().split('\n')).toHaveLength(
      [...queries.keys()].filter((key) => !key.endsWith(' NS')).length,
    );
    await timed('compare keys', () => shell.run(comparingKeys));
    await timed('wait for FOREIGN_NS_READY', () => shell.run(waiting));
    await signedZonesAreSecure();
    await timed('change of nameservers', async () => {
      for (let from = 0; from < LABELS.length; from += BATCH) {
        const batch = LABELS.slice(from, from + BATCH);
        await Promise.all([
          parent.delegate(Object.fromEntries(batch.map((label) => [label, FLEET_SETS[0]]))),
          ...batch.map((label, i) => edit(label, from + i, expected)),
        ]);
        await signedZonesAreSecure();
      }
    });
    const changedAt = Date.now();
    await timed('wait for active domains', () => shell.run(checking));
    await pause(Math.max(0, changedAt + (NS_TTL + 1) * 1000 - Date.now()));
    await old.stop();
    const seconds = Math.round((Date.now() - startedAt) / 1000);

    await signedZonesAreSecure();
    const { completed, lost, wrong } = await load.stop();
    expect({ lost, wrong }).toEqual({ lost: 0, wrong: [] });
    expect(await answersAt(newAddress())).toEqual(expected);
    await unbound.forget();
    const edited = LABELS.map((label) => ({ name: parseName(`edited.${label}.zz.`), type: TYPE.A }));
    const verdicts = await unbound.ask(edited);
    expect(verdicts.map(({ answer }) => answer)).toEqual(
      LABELS.map((label, i) => [`edited.${label}.zz. A 192.0.2.${i}`]),
    );
    const listed = await fleet.cli('domain', 'list', '--json', '--status', 'active');
    expect(JSON.parse(listed.stdout).domains).toHaveLength(LABELS.length);
    const shown = await fleet.cli('dnssec', 'list', '--json');
    expect(
      JSON.parse(shown.stdout)
        .zones.map(({ zone }: { zone: string }) => zone)
        .sort(),
    ).toEqual(SIGNED.map((label) => `${label}.zz.`).sort());
    console.info(
      `${LABELS.length} zones moved in ${seconds} s with ${shell.commands} lines of commands (${times.join(', ')}); ` +
        `${completed} answers of Unbound, 0 lost`,
    );
  });
});
