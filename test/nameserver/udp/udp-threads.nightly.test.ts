import { type ChildProcess, fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { openLibc } from '../../../src/nameserver/threads/libc.ts';
import { openUdpSockets } from '../../../src/nameserver/udp/udp-sockets.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { exchangeUdp } from '../../support/answer/sockets.ts';
import { type RunningThreads, startUdpThreads } from '../../support/answer/udp-threads.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';

const open: RunningThreads[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ threads }) => threads.close()));
});

async function start(...given: Parameters<typeof startUdpThreads>): Promise<RunningThreads> {
  const running = await startUdpThreads(...given);
  open.push(running);
  return running;
}

function command(word: string): Buffer {
  return Buffer.concat([Buffer.alloc(12), Buffer.from(word)]);
}

const QUERY = Buffer.alloc(12);
/** Longer than a busy machine may delay an answer. */
const LOST_AFTER_MS = 10_000;

describe('the UDP threads', () => {
  test(`are gone after they are closed, ${scale(50, 10)} times, and leave nothing open`, async () => {
    const held = () => ({
      descriptors: readdirSync('/proc/self/fd').length,
      threads: readdirSync('/proc/self/task').length,
    });
    let before = held();
    for (let round = 0; round < scale(50, 10); round++) {
      const { threads, address } = await startUdpThreads(2);
      expect(await exchangeUdp(address, QUERY)).toBeDefined();
      await threads.close();
      if (round === 2) before = held(); // Node's own resources exist by now
    }
    await until(() => held().threads <= before.threads, 'all threads gone');
    expect(held()).toEqual(before);
  });

  test('can be closed while one of them is being replaced', async () => {
    const { threads, address } = await start(1);
    await threads.worker(0)?.terminate();
    await Promise.all(open.splice(0).map((running) => running.threads.close()));
    expect(await exchangeUdp(address, QUERY, 50).catch(() => undefined)).toBeUndefined();
  });

  test('do not start if one of them cannot be started', async () => {
    const libc = await openLibc();
    const sockets = openUdpSockets(libc, [{ address: '127.0.0.1', port: 0 }], 2);
    const answerer = new URL('no-such.ts', import.meta.url).href;
    await expect(startUdpThreads(2, { sockets, answerer })).rejects.toThrow('no-such.ts');
    openUdpSockets(libc, sockets.addresses, 1).close(); // the address is free again
  });
});

describe('a UDP thread', () => {
  test('that is killed loses at most the answers in progress', async () => {
    const { threads, address, log } = await start(2);
    const clients = Array.from({ length: 16 }, () => new SteadyClient(address));
    await until(() => clients.every(({ answers }) => answers > 10), 'everybody is served');
    await until(() => threads.hasSpare, 'a spare is there');
    const worker = threads.worker(0)!;
    await worker.terminate();
    const answers = clients.map((client) => client.answers);
    await until(() => clients.every((client, i) => client.answers > answers[i]! + 10), 'everybody again');
    // The next thread answers what waits in the socket: each client loses at most one query.
    const lost = clients.map((client) => client.end());
    expect(Math.max(...lost)).toBeLessThanOrEqual(1);
    expect(threads.worker(0)).not.toBe(worker);
    expect(log.lines).toMatchObject([
      { level: 'error', fields: { thread: 0, pauseMs: 0 }, message: 'a UDP thread ended: replacing it' },
    ]);
  });

  test('that ends unexpectedly is replaced, repeatedly, after increasing pauses', async () => {
    const { address, log } = await start(1);
    for (let deaths = 1; deaths <= 3; deaths++) {
      await exchangeUdp(address, command('exit'), 10);
      await until(() => log.lines.length === deaths, 'its end is seen');
      expect(await exchangeUdp(address, QUERY, 20_000)).toBeDefined();
    }
    expect(log.lines.map(({ fields }) => (fields as { pauseMs: number }).pauseMs)).toEqual([0, 100, 200]);
  });

  test('whose loop stalls is ended and replaced', async () => {
    const { address, log } = await start(1, { watchIntervalMs: 250 });
    await exchangeUdp(address, command('loop'), 10);
    await until(() => log.lines.length > 1, 'it is replaced');
    expect(log.lines.map(({ message }) => message)).toEqual([
      'a UDP thread is stuck: ending it',
      'a UDP thread ended: replacing it',
    ]);
    expect(await exchangeUdp(address, QUERY, 20_000)).toBeDefined();
  });

  test('without work is not considered stuck', async () => {
    const { threads, log } = await start(1, { watchIntervalMs: 250 });
    const worker = threads.worker(0);
    let looks = 0;
    const counting = setInterval(() => looks++, 250);
    await until(() => looks > 7, 'looks enough for a stuck one');
    clearInterval(counting);
    expect(log.lines).toEqual([]);
    expect(threads.worker(0)).toBe(worker);
  });

  test('stuck in native code ends the whole process', async () => {
    const child = fork(new URL('../../support/answer/udp-threads.ts', import.meta.url), {
      execArgv: ['--import', 'tsx'],
    });
    const [address] = (await once(child, 'message')) as [ListenAddress];
    expect(await exchangeUdp(address, QUERY)).toBeDefined();
    const end = endOf(child);
    await exchangeUdp(address, command('sleep'), 10);
    expect(await end).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
}

/** Sends a query after each answer, like a client with one query at a time. Counts missing answers. */
class SteadyClient {
  answers = 0;
  #lost = 0;
  readonly #socket = createSocket('udp4');
  readonly #to: ListenAddress;
  #timer: NodeJS.Timeout | undefined;

  constructor(to: ListenAddress) {
    this.#to = to;
    this.#socket.on('message', () => {
      this.answers++;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#ask(), 5);
    });
    this.#ask();
  }

  #ask(): void {
    this.#socket.send(QUERY, this.#to.port, this.#to.address);
    this.#timer = setTimeout(() => {
      this.#lost++;
      this.#ask();
    }, LOST_AFTER_MS);
  }

  end(): number {
    clearTimeout(this.#timer);
    this.#socket.close();
    return this.#lost;
  }
}
