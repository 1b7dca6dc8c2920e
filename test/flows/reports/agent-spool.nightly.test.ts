// The agent's spool of requests (agent/requests), without nginx: malicious log lines, a log that grows while it is
// read, a full disk, and an agent that is killed between any two steps.

import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refused } from '../../../agent/edge-client.mjs';
import { CollectRequests } from '../../../agent/requests/collect-requests.mjs';
import { RequestReport } from '../../../agent/requests/report-requests.mjs';
import { LOG_FORMAT, printLine } from '../../../agent/requests/request-line.mjs';
import { judgeLine } from '../../../src/edge/requests/request-line.ts';
import { rowsOf, wordsOf } from '../../support/tests/rows-of.ts';
import { until } from '../../support/tests/until.ts';

const NOW = Date.now();
/** A line as nginx writes it. */
const LINE = {
  ended: (NOW / 1000).toFixed(3),
  took: '0.012',
  host: 'www.shop.example',
  method: 'GET',
  uri: '/',
};
const ANSWERED = { status: '200', octets: '512', client: '203.0.113.9', cache: '', asked: '200' };
const ORIGIN = { connected: '0.001', headed: '0.002', rule: '', limit: '', limited: '', waf: '', reason: '' };
const logged = (values: Record<string, string> = {}) =>
  JSON.stringify({ ...LINE, ...ANSWERED, ...ORIGIN, ...values });
const told = (values: Record<string, string>) => JSON.parse(printLine(logged(values)) ?? '{}');

describe('a line', () => {
  it('has the fields of the contract', () => {
    expect(Object.keys(JSON.parse(logged()))).toEqual(
      [...LOG_FORMAT.matchAll(/"(\w+)":/g)].map(([, name]) => name),
    );
    const { host, method, uri } = LINE;
    expect(told({ cache: 'HIT', asked: '' })).toEqual({
      ...{ host, method, uri, status: 200, octets: 512, ms: 12, client: ANSWERED.client, cache: 'hit' },
      at: new Date(NOW - 12).toISOString(),
    });
    expect(told({ status: '101' }).websocket).toBe(true);
    expect(told({ status: '000' })).toMatchObject({ status: 0, reason: 'client_closed' });
  });

  // result | fields of the line | the reason | the rule
  it.each(
    rowsOf(`
an error of the origin’s own | status=502 asked=502 headed=0.1
no connection | status=502 asked=502 connected=- headed=- | origin_unreachable
none in time | status=504 asked=504 connected=- headed=- | origin_unreachable
no answer | status=504 asked=504 headed=- | origin_timeout
no HTTP | status=502 asked=502 headed=- | origin_broke_off
the last origin answers | asked=502,200 connected=-,0.1 headed=-,0.1
the last does not | status=504 asked=502,504 connected=-,0.1 headed=-,- | origin_timeout
no origin | status=502 asked= | no_origin
a loop | status=508 asked= | loop
suspended | status=403 asked= reason=suspended | suspended
a rule | status=403 asked= rule=7 | rule_blocked | 7
the WAF | status=403 asked= waf=p1t5-r9-x942100- | rule_blocked | 9
an origin’s 403 behind the WAF | status=403 asked=403 waf=p1t5-r9-
a rate limit | status=429 asked= limit=REJECTED limited=5 | rule_limited | 5
one of several | status=429 asked= limit=REJECTED | rule_limited
a redirect | status=301 asked= rule=8 | | 8
a visitor who left | status=499 asked=- headed=- | client_closed
a slow visitor | status=408 asked= | client_timeout
too long a request | status=414 asked= | client_bad_request
a fault of nginx | status=500 asked= | edge_fault
a stale answer | status=200 asked=502 headed=- cache=STALE`),
  )('records why no origin responded: %s', (_, fields = '', reason = '', rule = '0') => {
    const values = wordsOf(fields).map((word) => word.replaceAll(',', ', ').split('='));
    const line = told(Object.fromEntries(values));
    expect([line.rule ?? 0, line.reason ?? '']).toEqual([Number(rule), reason]);
    expect(judgeLine(JSON.stringify(line), NOW)).toMatchObject({ rule: Number(rule), reason });
  });

  it('is accepted or classified by the API, whatever visitors write', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('"}\n{"ended":"1'));
    const names = ['host', 'method', 'uri', 'client', 'waf', 'rule', 'reason'];
    const line = fc.record(Object.fromEntries(names.map((name) => [name, text])));
    fc.assert(
      fc.property(line, (values) => {
        const printed = printLine(logged(values));
        expect(printed).toBeDefined();
        expect(printed).not.toContain('\n');
        expect(['line', 'host']).toContain(judgeLine(printed as string, NOW)); // no client writes such a line
      }),
    );
    const odd = printLine(logged({ uri: `/${'\u0000"\\😀'.repeat(10_000)}` })) as string;
    expect(judgeLine(odd, NOW)).toMatchObject({ host: 'www.shop.example' });
    const zeros = printLine(logged({ uri: '\u0000'.repeat(32_768) })) as string;
    expect(Buffer.byteLength(zeros)).toBeLessThan(32_768);
  });

  it('that is truncated does not affect others', () => {
    expect(printLine(logged().slice(0, 50))).toBeUndefined();
    expect(printLine(`${logged({ uri: '/cut' }).slice(0, 80)}${logged({ uri: '/whole' })}`)).toContain(
      '/whole',
    );
    const wrong = ['', 'x', 'null', '[]', '{}', '1', '{"ended":"x"}', logged({ ended: 'x' })];
    for (const text of [...wrong, logged({ octets: '' })])
      expect([text, printLine(text) === undefined || text.includes('octets')]).toEqual([text, true]);
  });
});

let folder: string;
let clock: number;
let lost: [number, string][];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-agent-spool-'));
  clock = 0;
  lost = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Like nginx: its own file until it is told to reopen it. */
class FakeNginx {
  path = join(folder, 'requests.log');
  #open = this.path;
  count = 0;

  constructor() {
    writeFileSync(this.path, '');
  }

  write(lines: number) {
    for (let i = 0; i < lines; i++)
      this.raw(`${logged({ uri: `/${this.count++}?${randomBytes(9).toString('base64url')}` })}\n`);
  }

  raw(text: string | Uint8Array) {
    // An open file follows its renamed path.
    const held = this.#held();
    if (held !== undefined) appendFileSync(held, text);
  }

  /** When notified, it continues in a new file. */
  reopen() {
    this.#inode = undefined;
    writeFileSync(this.path, '', { flag: 'a' });
    return true;
  }

  #inode: number | undefined;
  #held() {
    if (this.#inode === undefined) this.#inode = statSync(this.#open).ino;
    return readdirSync(folder)
      .map((name) => join(folder, name))
      .find((path) => statSync(path).ino === this.#inode);
  }
}

const collect = (reopen: () => boolean, mostBytes = 64 * 1024 * 1024) =>
  new CollectRequests(folder, {
    mostBytes,
    reopen,
    onLost: (lines, why) => lines > 0 && lost.push([lines, why]),
    nowMs: () => clock,
  });
/** Advances the time, so that logs are taken and are quiet. */
const look = async (collected: CollectRequests, times = 3) => {
  for (let i = 0; i < times; i++) {
    clock += 2_000;
    await collected.look();
  }
};
const urisOf = (octets: Uint8Array) =>
  gunzipSync(octets)
    .toString()
    .trim()
    .split('\n')
    .map((line) => Number.parseInt(JSON.parse(line).uri.slice(1), 10));
const batchesOf = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.gz'))
    .sort();
const stored = () => batchesOf().flatMap((name) => urisOf(readFileSync(join(folder, name))));
const all = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('the log of nginx', () => {
  it('is processed completely, including later lines, and deleted from the disk', async () => {
    const nginx = new FakeNginx();
    let isDeaf = true;
    const collected = collect(() => isDeaf || nginx.reopen());
    nginx.write(10);
    await look(collected);
    nginx.write(10); // into the log that was taken
    await look(collected);
    isDeaf = false;
    await look(collected);
    nginx.write(10);
    nginx.raw(logged({ uri: '/30' }).slice(0, 40));
    await look(collected);
    expect(stored()).toEqual(all(30));
    expect(new Set(collected.batches.map(({ id, from }) => `${id}-${from}`)).size).toBe(3);
    expect(lost).toEqual([]);
    for (const batch of collected.batches) collected.finish(batch);
    clock += 200_000;
    await look(collected);
    expect(lost).toEqual([[1, 'unreadable']]); // the truncated line
    expect(readdirSync(folder)).toEqual(['requests.log']);
  });

  it('is also processed if `nginx -t` created the file that nginx does not know yet', async () => {
    const nginx = new FakeNginx();
    nginx.write(10);
    collect(() => true).files.takeCurrent(); // then the agent is killed
    writeFileSync(nginx.path, '');
    const next = collect(() => nginx.reopen());
    for (let round = 0; round < 2; round++) {
      await look(next);
      clock += 200_000; // no agent runs, and the log remains
      await look(next);
      nginx.write(10);
    }
    await look(next);
    expect(stored()).toEqual(all(30));
  });

  it('remains on the disk while no nginx can be notified', async () => {
    const nginx = new FakeNginx();
    let isThere = false;
    const collected = collect(() => isThere && nginx.reopen());
    nginx.write(10);
    await look(collected);
    clock += 200_000;
    await look(collected);
    nginx.write(10); // a worker without its master
    isThere = true;
    await look(collected);
    expect(stored()).toEqual(all(20));
  });

  it('is limited in memory and line length, and unreadable lines are counted', async () => {
    const nginx = new FakeNginx();
    const collected = collect(() => nginx.reopen());
    nginx.raw(Buffer.alloc(300_000, 'x'));
    nginx.raw('\n');
    nginx.raw(Buffer.from([0xff, 0xfe, 0x0a]));
    nginx.raw(`${logged({ uri: '/0?A' }).replace('A', '')}\n`);
    nginx.raw(`${Array.from({ length: 25_000 }, (_, i) => logged({ uri: `/${i + 1}` })).join('\n')}\n`);
    await look(collected);
    expect(lost).toEqual([[2, 'unreadable']]);
    expect(collected.batches.map(({ lines }) => lines)).toEqual([10_000, 10_000, 5_001]);
  });

  it('stays within its disk limit: the oldest batches are deleted first, the one being sent last', async () => {
    const nginx = new FakeNginx();
    const most = 200_000;
    const collected = collect(() => nginx.reopen(), most);
    let first: unknown;
    for (let round = 0; round < 40; round++) {
      nginx.write(500);
      await look(collected);
      first ??= collected.next();
      const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
      expect(bytes).toBeLessThanOrEqual(most + 500 * 500);
    }
    expect(collected.batches[0]).toBe(first);
    const found = stored();
    const isLost = lost.filter(([, why]) => why === 'full').reduce((sum, [lines]) => sum + lines, 0);
    expect(isLost).toBeGreaterThan(0);
    expect(new Set(found).size).toBe(found.length);
    expect(found.length + isLost).toBe(20_000);
    expect(found.at(-1)).toBe(19_999);
  });
});

describe('an agent that is killed', () => {
  let sent: number[] = [];
  it.each<[string, (collected: CollectRequests, nginx: FakeNginx) => Promise<void>]>([
    ['after it took the log, before nginx is notified', async ({ files }) => void files.takeCurrent()],
    [
      'within a batch',
      async ({ files }) => {
        files.takeCurrent();
        writeFileSync(join(folder, '1.gz.new'), 'half');
      },
    ],
    [
      'after it wrote a batch, before it recorded this in the log, while the log grows',
      async (collected, nginx) => {
        const before = readdirSync(folder);
        await look(collected);
        const isTaken = (name: string) => /-[1-9]\d*\.log$/.test(name) && !before.includes(name);
        const log = join(folder, readdirSync(folder).find(isTaken) as string);
        const begun = log.replace(/-\d+\.log$/, '-0.log');
        renameSync(log, begun);
        appendFileSync(begun, `${logged({ uri: `/${nginx.count++}` })}\n`);
      },
    ],
    [
      'after it emptied a log, before it renamed it',
      async (collected) => {
        await look(collected);
        for (const batch of collected.batches) sent.push(...urisOf(readFileSync(join(folder, batch.file))));
        for (const batch of collected.batches) collected.finish(batch);
        const log = readdirSync(folder).find((name) => /-[1-9]\d*\.log$/.test(name)) as string;
        truncateSync(join(folder, log), 0);
      },
    ],
  ])('%s: its successor puts each line into exactly one batch', async (_, end) => {
    sent = [];
    const nginx = new FakeNginx();
    nginx.write(20);
    await end(
      collect(() => nginx.reopen()),
      nginx,
    );
    const next = collect(() => nginx.reopen());
    await look(next);
    nginx.write(20);
    await look(next);
    sent.push(...next.batches.flatMap(({ file }) => urisOf(readFileSync(join(folder, file)))));
    expect(sent.sort((a, b) => a - b)).toEqual(all(nginx.count));
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
    expect(lost).toEqual([]);
  });
});

describe('sending', () => {
  /** Until all lines of nginx are taken. Returns the calls in order. */
  async function tell(answers: (call: number, batch: string) => Error | undefined, lines = 30) {
    const nginx = new FakeNginx();
    const calls: [string, string][] = [];
    const told: string[] = [];
    const stopped = new AbortController();
    const options = {
      mostBytes: 64 * 1024 * 1024,
      reopen: () => nginx.reopen(),
      log: (text: string) => void told.push(text),
      send: async (batch: string, octets: Uint8Array) => {
        calls.push([batch, Buffer.from(octets).toString('base64')]);
        const error = answers(calls.length, batch);
        if (error !== undefined) throw error;
        return { accepted: 1, dropped: { line: 0, time: 0, host: 0 } };
      },
    };
    nginx.write(lines);
    const report = new RequestReport(folder, options);
    const running = report.run(stopped.signal);
    await until(() => calls.length > 0 && batchesOf().length === 0, 'all is taken');
    stopped.abort();
    await running;
    return { calls, told };
  }

  it('repeats a batch unchanged, under its id, until it is answered', async () => {
    const refusals = [503, 401, 500].map((status) => new Refused(status));
    const faults = [new Error('socket hang up'), new Refused(429, '1'), ...refusals];
    const { calls } = await tell((call) => faults[call - 1]);
    expect(calls).toHaveLength(6);
    expect(new Set(calls.map((call) => call.join())).size).toBe(1);
    expect(urisOf(Buffer.from(calls[0]?.[1] as string, 'base64'))).toEqual(all(30));
  });

  it.each([
    400, 413, 415, 422,
  ])('drops a batch that is answered with %i, and reports this', async (status) => {
    const { calls, told } = await tell(() => new Refused(status));
    expect(calls).toHaveLength(1);
    expect(told.join()).toContain(`30 requests were lost: the API answered ${status}`);
  });

  it('is resumed from the disk by the next agent, byte for byte', async () => {
    const nginx = new FakeNginx();
    nginx.write(30);
    const collected = collect(() => nginx.reopen());
    await look(collected);
    const [batch] = collected.batches;
    const octets = readFileSync(join(folder, batch?.file as string));
    const again = collect(() => nginx.reopen());
    expect(again.batches).toEqual(collected.batches);
    await look(again);
    expect(again.batches).toEqual([batch]);
    expect(readFileSync(join(folder, batch?.file as string)).equals(octets)).toBe(true);
    expect(existsSync(join(folder, 'requests.log'))).toBe(true);
  });
});
