// The witness of a scenario, a process of its own so that the attacker's load does not slow its clock: asks over UDP, TCP
// and HTTP and edits records all the time, and in the end looks for every edit that was acknowledged.
//
//   parent ──▶ { kind: 'begin' | 'fault_ends' | 'end' }        witness ──▶ { kind: 'ready' } … { kind: 'seen', seen }

import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { queryFor } from '../support/answer/queries.ts';
import { exchangeUdp } from '../support/answer/sockets.ts';
import { askTcp } from '../support/peers/peers.ts';
import { Door } from './door.ts';

export interface WitnessOptions {
  readonly dns: { readonly address: string; readonly port: number };
  readonly apiPort: number;
  readonly key: string;
  /** Without final dot; `www` has the address 192.0.2.1, `absent` does not exist. */
  readonly domain: string;
}

export interface Seen {
  readonly asked: number;
  readonly lost: number;
  readonly wrong: number;
  readonly worstDnsMs: number;
  readonly reads: number;
  readonly readsFailed: number;
  readonly worstReadMs: number;
  readonly editsAcknowledged: number;
  readonly editsRefused: number;
  readonly editsLost: number;
  /** Until all doors work for good again; undefined: they do not. */
  readonly recoverySeconds: number | undefined;
}

const ANSWER_TIMEOUT_MS = 2000;
const CALL_TIMEOUT_MS = 30_000;
const UDP_EVERY_MS = 10;
const TCP_EVERY_MS = 50;
const READ_EVERY_MS = 50;
const EDIT_EVERY_MS = 100;
/** How long after the attack the doors may take to open again. */
const RECOVERY_MS = 60_000;
const NXDOMAIN = 3;

const { dns, apiPort, key, domain } = JSON.parse(process.argv[2] as string) as WitnessOptions;
/** So many that no call waits here for a connection while others take as long as they may; one address may have 200. */
const CONNECTIONS = { GET: 120, PUT: 40 };
const agents = {
  GET: new Agent({ keepAlive: true, maxSockets: CONNECTIONS.GET }),
  PUT: new Agent({ keepAlive: true, maxSockets: CONNECTIONS.PUT }),
};
const udp = new Door();
const tcp = new Door();
const reads = new Door();
const edits = new Door();
const doors = [udp, tcp, reads, edits];
const acknowledged: string[] = [];
let isRunning = false;
let faultEndedAtMs: number | undefined;

type Question = 'www' | 'absent';
type Heard = 'right' | 'wrong' | 'lost';

function judge(answer: Uint8Array | undefined, question: Question): Heard {
  if (answer === undefined) return 'lost';
  const { rcode, answers } = decodeMessage(answer);
  if (question === 'absent') return rcode === NXDOMAIN && answers.length === 0 ? 'right' : 'wrong';
  const [address] = answers;
  const isRight = rcode === 0 && address !== undefined && Buffer.from(address.rdata).equals(ADDRESS);
  return isRight ? 'right' : 'wrong';
}
const ADDRESS = Buffer.of(192, 0, 2, 1);

async function ask(transport: 'udp' | 'tcp', question: Question): Promise<Heard> {
  const query = queryFor({
    name: parseName(`${question}.${domain}.`),
    type: TYPE.A,
    udpPayloadSize: undefined,
  });
  const answering =
    transport === 'udp'
      ? exchangeUdp(dns, query, ANSWER_TIMEOUT_MS)
      : Promise.race([askTcp(dns.port, query), pause(ANSWER_TIMEOUT_MS, undefined)]);
  return judge(await answering.catch(() => undefined), question);
}

interface Called {
  /** Undefined: no answer came. */
  readonly status: number | undefined;
  readonly body: string;
}

function call(method: keyof typeof agents, path: string, body?: unknown): Promise<Called> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((done) => {
    const lost = () => done({ status: undefined, body: '' });
    const calling = request(
      {
        agent: agents[method],
        host: '127.0.0.1',
        port: apiPort,
        method,
        path,
        timeout: CALL_TIMEOUT_MS,
        headers: {
          authorization: `Bearer ${key}`,
          ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', lost);
        response.on('end', () =>
          done({ status: response.statusCode, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    calling.on('timeout', () => calling.destroy());
    calling.on('error', lost);
    calling.end(bytes);
  });
}

/** Calls `once` every so often without waiting for the one before, until the end. */
async function repeat(everyMs: number, once: (count: number) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  for (let count = 0; isRunning; count++) {
    const one = once(count).finally(() => running.delete(one));
    running.add(one);
    await pause(everyMs);
  }
  await Promise.all(running);
}

const QUESTIONS: readonly Question[] = ['www', 'absent'];

async function testify(): Promise<void> {
  const questionOf = (count: number) => QUESTIONS[count % QUESTIONS.length] as Question;
  await Promise.all([
    repeat(UDP_EVERY_MS, (count) => udp.pass(() => ask('udp', questionOf(count)))),
    repeat(TCP_EVERY_MS, (count) => tcp.pass(() => ask('tcp', questionOf(count)))),
    repeat(READ_EVERY_MS, () =>
      reads.pass(async () => ((await call('GET', `/domains/${domain}`)).status === 200 ? 'right' : 'lost')),
    ),
    repeat(EDIT_EVERY_MS, (count) => edits.pass(() => edit(`edit-${count}`))),
  ]);
}

async function edit(name: string): Promise<Heard> {
  const body = { create: [{ name, type: 'TXT', destination: name }] };
  const { status } = await call('PUT', `/domains/${domain}/records/batch`, body);
  if (status !== 200) return 'lost';
  acknowledged.push(name);
  return 'right';
}

/** Edits that were acknowledged and that the API or the nameserver does not have. */
async function countLostEdits(): Promise<number> {
  const listed = await call('GET', `/domains/${domain}/records/?type=TXT`);
  const there = new Set(listed.status === 200 ? textsIn(listed.body) : []);
  let lost = 0;
  for (const name of acknowledged) {
    if (!there.has(name) || !(await isServedSoon(name))) lost++;
  }
  return lost;
}

/** The newest edit may still be on its way. */
async function isServedSoon(name: string): Promise<boolean> {
  const query = queryFor({
    name: parseName(`${name}.${domain}.`),
    type: TYPE.TXT,
    udpPayloadSize: undefined,
  });
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = await exchangeUdp(dns, query, ANSWER_TIMEOUT_MS).catch(() => undefined);
    if (answer !== undefined && decodeMessage(answer).answers.length === 1) return true;
    await pause(300);
  }
  return false;
}

function textsIn(body: string): string[] {
  return (JSON.parse(body) as { destination: string }[]).map(({ destination }) => destination);
}

async function untilAllWork(): Promise<void> {
  const endMs = performance.now() + RECOVERY_MS;
  const fromMs = faultEndedAtMs ?? performance.now();
  while (performance.now() < endMs && doors.some((door) => !door.worksSince(fromMs))) await pause(50);
  await pause(1000); // a door that fails again now and then has not recovered
}

async function end(): Promise<void> {
  faultEndedAtMs ??= performance.now();
  await untilAllWork();
  isRunning = false;
  await testifying;
  const recoveries = doors.map((door) => door.recoveredAtMs());
  const fault = faultEndedAtMs;
  const seen: Seen = {
    asked: udp.asked + tcp.asked,
    lost: udp.lost + tcp.lost,
    wrong: udp.wrong + tcp.wrong,
    worstDnsMs: Math.max(udp.worstMs, tcp.worstMs),
    reads: reads.asked,
    readsFailed: reads.lost,
    worstReadMs: reads.worstMs,
    editsAcknowledged: acknowledged.length,
    editsRefused: edits.lost,
    editsLost: await countLostEdits(),
    recoverySeconds: recoveries.every((atMs) => atMs !== undefined)
      ? Math.max(0, ...recoveries.map((atMs) => (atMs as number) - fault)) / 1000
      : undefined,
  };
  process.send?.({ kind: 'seen', seen });
  for (const agent of Object.values(agents)) agent.destroy();
  process.disconnect();
}

let testifying: Promise<void> = Promise.resolve();

process.on('message', ({ kind }: { kind: 'begin' | 'fault_ends' | 'end' }) => {
  if (kind === 'begin') {
    isRunning = true;
    testifying = testify();
  }
  if (kind === 'fault_ends') faultEndedAtMs = performance.now();
  if (kind === 'end') void end();
});
process.on('disconnect', () => process.exit()); // the suite is gone
process.send?.({ kind: 'ready' });
