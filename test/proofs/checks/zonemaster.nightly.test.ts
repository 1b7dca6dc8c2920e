// Zonefleet's check of the delegated zone compared with Debian's zonemaster-cli, on the same small internets: every
// world of fixtures/child-worlds, and some of them before the delegation. Both run in their own network namespace.

import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChildCode } from '../../../src/checks/child/child-codes.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { scale } from '../../support/tests/scale.ts';
import { readWorld, worldFolders } from '../../support/world/read-world.ts';

const run = promisify(execFile);

/** Returns what is missing for a comparison; empty if nothing is. */
function missingPrograms(): string {
  if (!isInstalled('zonemaster-cli')) return 'zonemaster-cli';
  if (!isInstalled('ip')) return 'iproute2';
  const name = `zfprobe${process.pid}`;
  const isMade = spawnSync('ip', ['netns', 'add', name]).status === 0;
  if (isMade) spawnSync('ip', ['netns', 'del', name]);
  return isMade ? '' : 'the right to make network namespaces';
}

/** Removes the leftovers of killed runs. */
async function removeAbandoned(): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'list']);
  for (const [name, pid] of stdout.matchAll(/^zf(\d+)[a-z]*(?= |$)/gm)) {
    if (!isRunning(Number(pid))) await run('ip', ['netns', 'del', name]).catch(() => {}); // another run may be removing it
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const CHILD = fileURLToPath(new URL('../../support/zonemaster/world-child.ts', import.meta.url));

/** One attempt of one second, for servers that are silent on purpose. */
const PROFILE = { resolver: { defaults: { timeout: 2, retrans: 1, retry: 1 } } };
const ZONEMASTER_MS = 120_000;

/** A message of Zonemaster. */
interface ZonemasterMessage {
  /** The test case, like `delegation01`. */
  readonly test: string;
  readonly tag: string;
  readonly args: string;
}

/** Result of Zonefleet's check: see world-child.ts. */
interface Looked {
  readonly codes: readonly string[];
  readonly isAnswered: boolean;
  readonly isKnown: boolean;
}

/** Starts a network namespace in which both programs check the same worlds. */
async function makeNetwork(addresses: readonly string[], rootHints: string) {
  const folder = await mkdtemp(join(tmpdir(), 'zonefleet-network-'));
  const name = `zf${process.pid}`;
  const within = (...words: readonly string[]) => ['netns', 'exec', name, ...words];
  let child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  const remove = async () => {
    if (child !== undefined && child.exitCode === null) {
      const ended = once(child, 'exit');
      child.stdin.end();
      child.kill();
      await ended;
    }
    await run('ip', ['netns', 'del', name]).catch(() => {});
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await removeAbandoned();
    await run('ip', ['netns', 'add', name]);
    const lines = addresses.map((address) =>
      address.includes(':') ? `addr add ${address}/128 dev lo nodad` : `addr add ${address}/32 dev lo`,
    );
    const batch = join(folder, 'batch');
    await writeFile(batch, ['link set lo up', ...lines, ''].join('\n'));
    await run('ip', ['-n', name, '-batch', batch]);
    await writeFile(join(folder, 'hints'), rootHints);
    await writeFile(join(folder, 'profile.json'), JSON.stringify(PROFILE));
    child = spawn('ip', within(process.execPath, '--import', 'tsx', CHILD), {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  } catch (error) {
    await remove();
    throw error;
  }
  const { stdin, stdout } = child;
  const answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    /** Serves a world from now on, and runs Zonefleet's check on it. */
    async look(world: string, servers: readonly string[]): Promise<Looked> {
      stdin.write(`${[world, ...servers].join(' ')}\n`);
      const answer = await answers.next();
      if (answer.done === true) throw new Error('the process in the namespace has ended');
      return JSON.parse(answer.value) as Looked;
    },
    /** Runs these test cases, such as `Delegation/delegation01`, on the served world. */
    async zonemaster(
      domain: string,
      tests: readonly string[],
      servers: readonly string[],
    ): Promise<ZonemasterMessage[]> {
      const words = within(
        ...['zonemaster-cli', domain, '--raw', '--no-time', '--show_testcase', '--level=INFO'],
        ...['--hints', join(folder, 'hints'), '--profile', join(folder, 'profile.json')],
        ...tests.flatMap((test) => ['--test', test]),
        ...servers.flatMap((server) => ['--ns', server]),
      );
      const env = { ...process.env, HOME: folder };
      const { stdout: text } = await run('ip', words, { timeout: ZONEMASTER_MS, env });
      const messages = text.split('\n').flatMap((line): ZonemasterMessage[] => {
        const [, test, tag, rest = ''] = /^\s*[\d.]+\s+[A-Z]+\s+(\S+)\s+(\S+)\s*(.*)$/.exec(line) ?? [];
        return test === undefined || tag === undefined ? [] : [{ test: test.toLowerCase(), tag, args: rest }];
      });
      if (messages.length === 0) throw new Error(`zonemaster-cli said nothing: ${text}`);
      return messages;
    },
    remove,
  };
}

interface Question {
  readonly test: string;
  readonly codes: readonly ChildCode[];
  /** Messages of which Zonemaster prints one if it finds the fault. */
  readonly found: RegExp;
  /** Messages that mean that the test case was not decided. */
  readonly undecided?: RegExp;
  /** True if Zonefleet's check requires an answer of the zone to decide. */
  readonly needsAnswer?: true;
  /** True if Zonefleet's check requires the addresses of all servers to decide. */
  readonly needsAddresses?: true;
}

const NO_SOA = /^NO_RESPONSE_SOA_QUERY$/;

const QUESTIONS: readonly Question[] = [
  { test: 'delegation01', codes: ['TOO_FEW_NAMES'], found: /^NOT_ENOUGH_NS_(DEL|CHILD)$/, needsAnswer: true },
  { test: 'delegation01', codes: ['IPV4_ONLY'], found: /^NO_IPV6_NS_DEL$/, needsAddresses: true },
  { test: 'delegation01', codes: ['IPV6_ONLY'], found: /^NO_IPV4_NS_DEL$/, needsAddresses: true },
  { test: 'delegation02', codes: ['SAME_ADDRESS'], found: /SAME_IP/ },
  {
    test: 'delegation03',
    codes: ['REFERRAL_OVER_512', 'REFERRAL_OVER_1232'],
    found: /^REFERRAL_SIZE_TOO_LARGE$/,
  },
  { test: 'delegation05', codes: ['NAME_IS_ALIAS'], found: /^NS_IS_CNAME$/ },
  { test: 'delegation07', codes: ['NS_ONLY_AT_PARENT'], found: /^EXTRA_NAME_PARENT$/, needsAnswer: true },
  { test: 'delegation07', codes: ['NS_ONLY_IN_ZONE'], found: /^EXTRA_NAME_CHILD$/, needsAnswer: true },
  { test: 'consistency01', codes: ['SERIALS_DIFFER'], found: /^MULTIPLE_SOA_SERIALS$/, needsAnswer: true },
  { test: 'consistency04', codes: ['NS_SETS_DIFFER'], found: /^MULTIPLE_NS_SET$/, needsAnswer: true },
  {
    test: 'consistency05',
    codes: ['GLUE_DIFFERS', 'GLUE_MISSING'],
    found: /ADDR_MISMATCH$|^EXTRA_ADDRESS_CHILD$/,
    undecided: /^CHILD_ZONE_LAME$/,
    needsAnswer: true,
  },
  { test: 'connectivity01', codes: ['SERVER_SILENT', 'SERVER_LAME'], found: /^CN01_(?!IPV)/ },
  { test: 'connectivity02', codes: ['TCP_REFUSED', 'UDP_TCP_DIFFER'], found: /^CN02_(?!IPV)/ },
  {
    test: 'nameserver02',
    codes: ['EDNS_BROKEN'],
    found: /^(NO_EDNS_SUPPORT|BREAKS_ON_EDNS|EDNS_VERSION_ERROR|EDNS_RESPONSE_WITHOUT_EDNS)$/,
    needsAnswer: true,
  },
  {
    test: 'nameserver06',
    codes: ['NS_WITHOUT_ADDRESS'],
    found: /^(CAN_NOT_BE_RESOLVED|NO_RESOLUTION)$/,
    needsAddresses: true,
  },
  { test: 'address01', codes: ['PRIVATE_ADDRESS'], found: /^NAMESERVER_IP_PRIVATE_NETWORK$/ },
  { test: 'zone02', codes: ['SOA_REFRESH_LOW'], found: /_LOWER$/, undecided: NO_SOA },
  { test: 'zone03', codes: ['SOA_RETRY_NOT_BELOW_REFRESH'], found: /^REFRESH_LOWER/, undecided: NO_SOA },
  { test: 'zone04', codes: ['SOA_RETRY_LOW'], found: /_LOWER$/, undecided: NO_SOA },
  { test: 'zone05', codes: ['SOA_EXPIRE_LOW'], found: /LOWER/, undecided: NO_SOA },
  { test: 'zone06', codes: ['SOA_MINIMUM_OUT_OF_RANGE'], found: /_(HIGHER|LOWER)$/, undecided: NO_SOA },
];

/** Test cases in the form of zonemaster-cli. */
const TESTS: readonly string[] = [...new Set(QUESTIONS.map(({ test }) => test))].map((test) => {
  const module = test.replace(/\d+$/, '');
  return `${module[0]?.toUpperCase()}${module.slice(1)}/${test}`;
});

interface Answer {
  readonly test: string;
  readonly codes: readonly ChildCode[];
  readonly ours: boolean;
  readonly theirs: boolean;
}

/** The questions that both programs decide in one world. */
function compare({ codes, isAnswered, isKnown }: Looked, messages: readonly ZonemasterMessage[]): Answer[] {
  const failing = new Set(serversIn(messages.filter(({ tag }) => tag.startsWith('CN01_'))));
  return QUESTIONS.flatMap((question) => {
    const said = messages.filter(({ test }) => test === question.test);
    const isDecided =
      !said.some(({ tag }) => question.undecided?.test(tag)) &&
      (isAnswered || !question.needsAnswer) &&
      (isKnown || !question.needsAddresses);
    if (!isDecided) return [];
    // Without the address of a server, Zonemaster sends no query.
    const asksNobody = messages.some(({ tag }) => tag === 'NO_RESOLUTION');
    if (question.test === 'connectivity01' && asksNobody) return [];
    // Zonefleet does not query non-public addresses, and uses TCP only if UDP works.
    if (question.test === 'connectivity01' && codes.includes('PRIVATE_ADDRESS')) return [];
    const found = said.filter(({ tag }) => question.found.test(tag));
    const theirs = found.some(
      (message) =>
        question.test !== 'connectivity02' || serversIn([message]).some((server) => !failing.has(server)),
    );
    return [
      {
        test: question.test,
        codes: question.codes,
        ours: question.codes.some((code) => codes.includes(code)),
        theirs,
      },
    ];
  });
}

/** `ns1.example.com/192.0.2.1`, as messages name their server. */
function serversIn(messages: readonly ZonemasterMessage[]): string[] {
  return messages.flatMap(({ args }) => /\bns=(\S+?)(?:;|$)/.exec(args)?.[1] ?? []);
}

const ALL = worldFolders('child-worlds');
const REDUCED = ['healthy', 'glue-differs', 'one-name', 'server-refuses', 'tcp-refused', 'timers-too-low'];
const FOLDERS = scale(1, 0) === 1 ? ALL : REDUCED;
const GIVEN = ['healthy', 'server-lame', 'tcp-refused', 'serials-differ', 'timers-too-low', 'same-address'];
const GIVEN_FOLDERS = GIVEN.filter((folder) => FOLDERS.includes(folder));
const LEAST_AGREEMENT = 0.95;

/** Known differences by world and test case, with the reason. Some depend on which server Zonemaster queries first. */
const KNOWN: readonly { readonly world: RegExp; readonly tests: RegExp; readonly why: string }[] = [
  {
    world: /^serials-a-minute-apart$/,
    tests: /^consistency01$/,
    why: `serials that are times may differ by an hour here: docs/rules.md "The child's checks"`,
  },
  {
    world: /^(only-in-the-zone|no-name-in-common|sets-differ)$/,
    tests: /^consistency05$/,
    why: 'a name that the parent does not have can have no glue there; NS_ONLY_IN_ZONE tells it here',
  },
  {
    world: /^sets-differ$/,
    tests: /^nameserver06$/,
    why: 'Zonemaster looks up only the names of the first set, and calls those of the other unresolvable',
  },
  {
    world: /^server-lame(, given)?$/,
    tests: /^(delegation01|delegation07|connectivity01|nameserver06|consistency05)$/,
    why: 'Zonemaster takes the empty reply of a lame server for the word that a server has no address',
  },
];

const missing = missingPrograms();
const suffix = missing === '' ? '' : ` (skipped: needs ${missing})`;

const addressesOf = (folder: string) => [...readWorld(folder, 'child-worlds').servers.keys()];
const serversOf = (folder: string) => {
  const first = ['5.3.0.1', '2a0b:3::1'];
  const second = folder === 'same-address' ? first : ['5.4.0.1', '2a0b:4::1'];
  return [
    ...first.map((address) => `ns1.example.com/${address}`),
    ...second.map((address) => `ns2.example.com/${address}`),
  ];
};

const HINTS = `. 3600000 NS a.root.
. 3600000 NS b.root.
a.root. 3600000 A 5.0.0.1
b.root. 3600000 AAAA 2a0b::2
`;

interface Compared extends Answer {
  readonly world: string;
}

const agrees = ({ ours, theirs }: Answer) => ours === theirs;

describe.skipIf(missing !== '')(`a check of the delegated zone, compared with Zonemaster${suffix}`, () => {
  let network: Awaited<ReturnType<typeof makeNetwork>>;
  const compared: Compared[] = [];

  beforeAll(
    async () => {
      network = await makeNetwork([...new Set(ALL.flatMap(addressesOf))], HINTS);
      const runs = [
        ...FOLDERS.map((folder) => ({ folder, servers: [] as string[] })),
        ...GIVEN_FOLDERS.map((folder) => ({ folder, servers: serversOf(folder) })),
      ];
      for (const { folder, servers } of runs) {
        const ours = await network.look(folder, servers);
        const messages = await network.zonemaster('example.com', TESTS, servers);
        const world = servers.length === 0 ? folder : `${folder}, given`;
        compared.push(...compare(ours, messages).map((answer) => ({ ...answer, world })));
      }
    },
    scale(30 * 60_000, 180_000),
  );
  afterAll(() => network?.remove());

  it('agrees on at least 95 % of the questions that both decide', () => {
    expect(compared.length).toBeGreaterThan(FOLDERS.length * 10);
    expect(compared.filter(agrees).length / compared.length).toBeGreaterThanOrEqual(LEAST_AGREEMENT);
  });

  it('differs only for known reasons', () => {
    const differing = compared.filter((answer) => !agrees(answer));
    const unmeant = differing.filter(
      (answer) => !KNOWN.some(({ world, tests }) => world.test(answer.world) && tests.test(answer.test)),
    );
    expect(
      unmeant.map(({ world, test, codes, ours }) => `${world}: ${test} ${codes} is ${ours} here`),
    ).toEqual([]);
  });

  it('finds the faults that Zonemaster finds, at least one', () => {
    expect(compared.filter(({ ours, theirs }) => ours && theirs).length).toBeGreaterThanOrEqual(
      REDUCED.length - 1,
    );
  });
});
