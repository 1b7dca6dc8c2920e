// Settings, limits and waits of a process. Connections and settings have separate tests.

import { createHash, type KeyObject } from 'node:crypto';
import { getEventListeners } from 'node:events';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, test } from 'vitest';
import { AnalyticsFault } from '../src/analytics/open-analytics.ts';
import { abortWith, boundSignal } from '../src/process/bound-signal.ts';
import { openCountryDb } from '../src/process/country-db.ts';
import { isOurHost } from '../src/process/judge-host.ts';
import { parseListenAddress, parseServer, printListenAddress } from '../src/process/listen-address.ts';
import { openLog } from '../src/process/log.ts';
import { pauseUnless, Wakeup, warnOncePerMinute } from '../src/process/reconnect.ts';
import { type Accounts, chooseUser, giveDirectory, mayRead } from '../src/process/run-as.ts';
import { explainLimit } from '../src/process/start-fault.ts';
import {
  digestOf,
  fingerprintOf,
  isSignedBy,
  isVantageName,
  makeVantageKey,
  publicKeyOf,
  readPrivateKey,
  readPublicKey,
  readVantageHeaders,
  signVantageRequest,
  VANTAGE_CLOCK_MS,
  type VantageProof,
} from '../src/process/vantage-signature.ts';
import { openAsnDb } from '../src/resolver/asn-db.ts';
import { collectGarbage } from './support/tests/heap-octets.ts';

test('a file that cannot be read or has an invalid line causes an error with the setting; without a file nothing is known', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'zonefleet-asn-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'asn.txt');
  await expect(openAsnDb(path)).rejects.toThrow(/^ASN_DB: .*asn\.txt cannot be read: ENOENT/);
  await writeFile(path, 'x\n');
  await expect(openAsnDb(path)).rejects.toThrow(/^ASN_DB: .*line 1: "x"/);
  await writeFile(path, '5.0.0.0/8 64500\n');
  expect((await openAsnDb(path))?.('5.1.1.1')).toBe(64500);
  expect(await openAsnDb(undefined)).toBeUndefined();
});

const aborted = (signal: AbortSignal) =>
  new Promise<Error>((resolve) =>
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true }),
  );

it("a bound signal aborts at its timeout, even after garbage collection, or with the outer signal's reason", async () => {
  const ended = aborted(boundSignal(new AbortController().signal, 100));
  for (let i = 0; i < 2; i++) {
    await setImmediate();
    collectGarbage();
  }
  expect((await ended).name).toBe('TimeoutError');
  const outer = new AbortController();
  const endedEarly = aborted(boundSignal(outer.signal, 60_000));
  outer.abort(new Error('the client is gone'));
  expect((await endedEarly).message).toBe('the client is gone');
  expect(boundSignal(outer.signal, 60_000).reason.message).toBe('the client is gone');
});

it('abortWith passes the reason on, and leaves no listener after its release', () => {
  const stopping = new AbortController();
  const [ended, running] = [new AbortController(), new AbortController()];
  abortWith(ended, stopping.signal)();
  abortWith(running, stopping.signal);
  expect(getEventListeners(stopping.signal, 'abort')).toHaveLength(1);
  stopping.abort(new Error('the process stops'));
  expect(ended.signal.aborted).toBe(false);
  expect(running.signal.reason.message).toBe('the process stops');
});

describe('the country database', () => {
  it('that is shipped contains the addresses of registries, and is optional', async () => {
    const countryOf = await openCountryDb('shipped');
    expect(
      ['193.0.6.139', '2001:67c:2e8:22::c100:68b', '8.8.8.8', '192.0.2.1', '10.0.0.1', '::1'].map((address) =>
        countryOf?.(address),
      ),
    ).toEqual(['NL', 'NL', 'US', ...Array(3).fill(undefined)]);
    expect(await openCountryDb(undefined)).toBeUndefined();
  });

  it('that is not a database is a settings error', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'zonefleet-country-'));
    const path = join(folder, 'c.mmdb');
    await expect(openCountryDb({ path })).rejects.toThrow(/^COUNTRY_DB: .*c\.mmdb cannot be read: /);
    await writeFile(path, 'no database');
    await expect(openCountryDb({ path })).rejects.toThrow(/^COUNTRY_DB: .*c\.mmdb cannot be read: /);
    await rm(folder, { recursive: true });
  });
});

it('explainLimit names the limit that was reached, and returns undefined for any other error', () => {
  const fault = (code: string) => explainLimit(Object.assign(new Error('x'), { code }));
  expect(fault('EMFILE')).toContain('ulimit -n');
  expect(fault('ENOMEM')).toContain('IMAGE_BYTES');
  expect(fault('ERR_WORKER_OUT_OF_MEMORY')).toContain('max-old-space-size');
  expect(explainLimit(new RangeError('Array buffer allocation failed'))).toContain('IMAGE_BYTES');
  const eio = Object.assign(new Error('x'), { code: 'EIO' });
  for (const error of [new Error('x'), eio, null, undefined, 'x'])
    expect(explainLimit(error)).toBeUndefined();
});

describe('the Host header of a request', () => {
  const HOSTS = ['node1.example.net'];

  const ACCEPTED = [
    '127.0.0.1:9153 192.0.2.1 [::1]:9153 [2001:db8::1] localhost:9153 LOCALHOST api.localhost',
    'nameserver:9153 node1.example.net:9153 Node1.Example.Net',
  ];
  it.each([undefined, ...ACCEPTED.join(' ').split(' ')])('is accepted: %s', (host) => {
    expect(isOurHost(host, HOSTS)).toBe(true);
  });

  const REFUSED = [
    'evil.example:9153 127.0.0.1.evil.example localhost.evil.example node2.example.net',
    'node1.example.net.evil.example evil. [evil.example] [::1 ::1 localhost@evil.example localhost:80:80 localhost:x',
  ];
  it.each(['', 'a b', ...REFUSED.join(' ').split(' ')])('is refused: %j', (host) => {
    expect(isOurHost(host, HOSTS)).toBe(false);
  });
});

describe('an address with a port', () => {
  it.each([
    ['127.0.0.1:5300', { address: '127.0.0.1', port: 5300 }],
    ['0.0.0.0:1', { address: '0.0.0.0', port: 1 }],
    ['[::1]:65535', { address: '::1', port: 65535 }],
    ['[fe80::1%eth0]:53', { address: 'fe80::1%eth0', port: 53 }],
  ])('%s is read, and printed as it was', (text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
    expect(printListenAddress(address)).toBe(text);
  });

  const NONE =
    '127.0.0.1 127.0.0.1: 127.0.0.1:0 127.0.0.1:65536 ::1:53 [127.0.0.1]:53 [::1] localhost:53'.split(' ');
  it.each(['', ' 127.0.0.1:53', ...NONE])('"%s" is rejected', (text) => {
    expect(parseListenAddress(text)).toBeUndefined();
  });

  it('has port 53 by default if it is the address of a server', () => {
    expect(parseServer('192.0.2.1')).toEqual({ address: '192.0.2.1', port: 53 });
    expect(parseServer('2001:db8::1')).toEqual({ address: '2001:db8::1', port: 53 });
    expect(parseServer('[2001:db8::1]:5300')).toEqual({ address: '2001:db8::1', port: 5300 });
    for (const text of ['fe80::1%eth0', 'ns.example']) expect(parseServer(text)).toBeUndefined();
  });
});

const MAX_LINE_CHARACTERS = 32_768;

function logging() {
  const lines: string[] = [];
  return { lines, log: openLog('nameserver', 'info', { write: (line: string) => lines.push(line) }) };
}

describe('the log', () => {
  it('is one JSON object per line, with the process and the message', () => {
    const { lines, log } = logging();
    log.info({ zones: 3 }, 'loaded');
    log.debug('not at this level');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ process: 'nameserver', zones: 3, msg: 'loaded' });
  });

  it('contains no password anywhere in a line', () => {
    const { lines, log } = logging();
    log.error({ err: new Error('cannot reach postgres://u:hunter2@db/zones') }, 'at postgres://u:hunter2@db');
    expect(lines.join()).not.toContain('hunter2');
    expect(lines.join()).toContain('postgres://u:***@db');
    expect(() => JSON.parse(lines[0] as string)).not.toThrow();
  });

  it.each([
    [
      'says it',
      (cause: Error) => new AnalyticsFault('away', `the store: ${cause.message}`, { cause }),
      'the store: no road',
    ],
    ['does not', (cause: Error) => new Error('not read', { cause }), 'not read: no road'],
    [
      'says it, and is a cause',
      (cause: Error) => new Error('not kept', { cause: new Error(`at 1: ${cause.message}`, { cause }) }),
      'not kept: at 1: no road',
    ],
    [
      'says one of two',
      (cause: Error) => new Error('at 2: shut', { cause: new Error('shut', { cause }) }),
      'at 2: shut: no road',
    ],
  ])('contains the reason of an error once if its message %s', (_what, faultOf, told) => {
    const { lines, log } = logging();
    log.error({ err: faultOf(new Error('no road')) }, 'waits');
    const { err, msg } = JSON.parse(lines[0] as string);
    expect([err.message, msg]).toEqual([told, 'waits']);
    expect(err.stack).toMatch(/caused by: Error: no road/);
  });

  it('has the stack of an error, but not of a warning', () => {
    const { lines, log } = logging();
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const child = log.child({ node: 'a' });
    child.warn({ err: new Error('away', { cause: refused }), zones: 3 }, 'waits');
    child.warn(new AggregateError([refused], 'all failed'));
    child.info({ err: refused }, 'goes on');
    child.error({ err: refused }, 'ends');
    const [nested, several, info, error] = lines.map((line) => JSON.parse(line));
    expect(nested).toMatchObject({ msg: 'waits', node: 'a', zones: 3, err: { type: 'Error' } });
    expect(nested.err.message).toBe('away: connect');
    expect(several).toMatchObject({
      msg: 'all failed',
      err: { aggregateErrors: [{ code: 'ECONNREFUSED' }] },
    });
    expect(info.err).toMatchObject({ message: 'connect', code: 'ECONNREFUSED' });
    expect(lines.slice(0, 3).join()).not.toMatch(/stack|process\.test\.ts/);
    expect(error.err.stack).toContain('process.test.ts');
  });

  it('has only type, message, code and stack of an error, and never the connection that a driver attaches', () => {
    const { lines, log } = logging();
    const secret = { processID: 7, secretKey: 4711, connectionParameters: { password: 'hunter2' } };
    const broken = Object.assign(new Error('terminated'), { code: '57P01', client: secret, length: 116 });
    log.warn({ err: broken }, 'an idle connection broke');
    log.warn({ err: new AggregateError([broken], 'all broke') });
    log.error({ err: broken }, 'failed');
    log.error({ err: new Error('failed', { cause: broken }) });
    const told = lines.map((line) => Object.keys(JSON.parse(line).err));
    expect(told).toEqual([
      ['type', 'message', 'code'],
      ['type', 'message', 'aggregateErrors'],
      ['type', 'message', 'code', 'stack'],
      ['type', 'message', 'stack'],
    ]);
    expect(JSON.parse(lines[1] as string).err.aggregateErrors).toEqual([
      { type: 'Error', message: 'terminated', code: '57P01' },
    ]);
  });

  it('handles an error that is its own cause, and one whose cause has no message', () => {
    const { lines, log } = logging();
    const first = new Error('first');
    first.cause = new Error('second', { cause: first });
    log.warn(first);
    log.warn({ err: new Error('the store: ECONNREFUSED', { cause: new AggregateError([]) }) });
    const told = lines.map((line) => JSON.parse(line).err.message);
    expect(told).toEqual(['first: second', 'the store: ECONNREFUSED']);
  });

  it('truncates long texts in a line, and shows their original length', () => {
    const { lines, log } = logging();
    log.warn({ url: `/${'a'.repeat(1_000_000)}`, count: 7 }, 'asked');
    const [line = ''] = lines;
    expect(line.length).toBeLessThanOrEqual(MAX_LINE_CHARACTERS);
    expect(line.endsWith('}\n')).toBe(true);
    const told = JSON.parse(line);
    expect(told).toMatchObject({ level: 40, process: 'nameserver', count: 7, msg: 'asked' });
    expect(told.cut).toBeGreaterThan(1_000_000);
    expect(told.url).toMatch(/^\/a+$/);
  });

  it('keeps time, process and message of a line with many members', () => {
    const { lines, log } = logging();
    log.warn({ list: Array.from({ length: 100_000 }, (_, i) => i) }, '"'.repeat(100_000));
    const [line = ''] = lines;
    expect(line.length).toBeLessThanOrEqual(MAX_LINE_CHARACTERS);
    expect(Object.keys(JSON.parse(line))).toEqual(['level', 'time', 'process', 'cut', 'msg']);
  });

  it('hides a password before it truncates the line', () => {
    const { lines, log } = logging();
    log.warn({ url: `${'a'.repeat(4080)} postgres://u:hunter2${'x'.repeat(40_000)}@db` }, 'asked');
    expect(lines.join()).not.toContain('hunter2');
  });
});

it('a repeated warning is logged once per minute and kind, with the number of calls since its last line', () => {
  const { lines, log } = logging();
  let nowMs = 0;
  const warn = warnOncePerMinute(log, () => nowMs);
  const away = new Error('connect');
  warn(away, 'no feed');
  warn(away, 'no feed');
  warn(away, 'call failed', 'queue');
  warn(away, 'call failed', 'schedule');
  nowMs = 59_999;
  warn(away, 'no feed');
  nowMs = 60_000;
  warn(new Error('refused'), 'no feed');
  nowMs = 60_001;
  warn(away, 'no feed');
  const told = lines.map((line) => JSON.parse(line));
  expect(told.map(({ msg, of, calls, err }) => [msg, of, calls, err.message])).toEqual([
    ['no feed', undefined, 1, 'connect'],
    ['call failed', 'queue', 1, 'connect'],
    ['call failed', 'schedule', 1, 'connect'],
    ['no feed', undefined, 3, 'refused'],
  ]);
});

const LONG_MS = 3_600_000;

test('a pause ends when the process must stop, and a wait when it is woken, even if that happened before', async () => {
  const stopping = new AbortController();
  const paused = pauseUnless(stopping.signal, LONG_MS);
  stopping.abort();
  await paused;
  await pauseUnless(stopping.signal, LONG_MS);
  const wakeup = new Wakeup();
  const waited = wakeup.wait(LONG_MS);
  wakeup.wake();
  await waited;
  wakeup.wake();
  await wakeup.wait(LONG_MS);
});

test('a pause of a negative time ends immediately, without a warning from Node', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  await pauseUnless(new AbortController().signal, -1000);
  await setImmediate(); // warnings are emitted in the next turn of the event loop
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

const ROOT: Accounts = {
  uid: 0,
  passwd: 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\nann:x:1000:1001::/:/bin/sh\n',
  group: 'root:x:0:\ndns:x:53:ann\n',
  idMap: '         0          0 4294967295\n',
};
const USER = { uid: 61_001, gid: 61_002 };

describe('the user that replaces root', () => {
  it('is zonefleet, an unused id or, in a container, nobody; is undefined without root or with RUN_AS=off', () => {
    expect(chooseUser(undefined, { ...ROOT, uid: 1000 })).toBeUndefined();
    expect(chooseUser('ann', { ...ROOT, uid: 1000 })).toBeUndefined();
    expect(chooseUser('off', ROOT)).toBeUndefined();
    const passwd = `${ROOT.passwd}zonefleet:x:990:991::/:/bin/false\n`;
    expect(chooseUser(undefined, { ...ROOT, passwd })).toEqual({ uid: 990, gid: 991 });
    expect(chooseUser(undefined, ROOT)).toEqual({ uid: 60_953, gid: 60_953 });
    expect(chooseUser(undefined, { ...ROOT, idMap: '0 100000 1\n65534 165534 1\n' })).toEqual({
      uid: 65_534,
      gid: 65_533,
    });
    expect(() => chooseUser(undefined, { ...ROOT, idMap: '0 100000 1\n' })).toThrow(
      'RUN_AS: there is no unprivileged user',
    );
  });

  it.each([
    ['ann', { uid: 1000, gid: 1001 }],
    ['1000', { uid: 1000, gid: 1001 }],
    ['ann:dns', { uid: 1000, gid: 53 }],
    ['ann:77', { uid: 1000, gid: 77 }],
    ['4321', { uid: 4321, gid: 4321 }],
    ['4321:dns', { uid: 4321, gid: 53 }],
  ])('may be given as %s', (setting, user) => {
    expect(chooseUser(setting, ROOT)).toEqual(user);
  });

  it.each(['bob', 'ann:bob', 'root', '0', 'ann:root', '00'])('cannot be %s', (setting) => {
    expect(() => chooseUser(setting, ROOT)).toThrow(/^RUN_AS: /);
  });
});

describe.skipIf(process.getuid?.() !== 0)(
  'what is given to the user (skipped: needs root)'.replace(process.getuid?.() === 0 ? / \(.*/ : '', ''),
  () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'zf-run-as-'));
      chmodSync(directory, 0o755);
    });
    afterEach(() => rmSync(directory, { recursive: true, force: true }));

    it('gets the directory and its files, and again after root wrote one', () => {
      const place = join(directory, 'nodes/one');
      expect(giveDirectory([place], USER)).toBe(place);
      writeFileSync(join(place, 'log'), '', { mode: 0o600 });
      giveDirectory([place], USER);
      expect([place, join(place, 'log')].map((path) => statSync(path).uid)).toEqual([USER.uid, USER.uid]);
      expect(statSync(join(directory, 'nodes')).uid).toBe(0);
    });

    it("never gets a file of root's that the user has linked to", () => {
      const place = giveDirectory([join(directory, 'one')], USER);
      const secret = join(directory, 'secret');
      writeFileSync(secret, '', { mode: 0o600 });
      linkSync(secret, join(place, 'hard'));
      symlinkSync(secret, join(place, 'soft'));
      giveDirectory([place], USER);
      expect(statSync(secret).uid).toBe(0);
      rmSync(place, { recursive: true });
      mkdirSync(join(directory, 'other'));
      symlinkSync(join(directory, 'other'), place);
      expect(() => giveDirectory([place], USER)).toThrow(/ELOOP|ENOTDIR/);
      expect(statSync(join(directory, 'other')).uid).toBe(0);
    });

    it('gets the second directory if it cannot enter the parent of the first', () => {
      const closed = join(directory, 'closed');
      mkdirSync(closed, { mode: 0o700 });
      const open = join(directory, 'open/one');
      expect(giveDirectory([join(closed, 'one'), open], USER)).toBe(open);
      writeFileSync(join(closed, 'file'), '', { mode: 0o644 });
      expect(mayRead(join(closed, 'file'), USER)).toBe(false);
    });
  },
);

const NOW = 1_790_000_000_000;
const request = { method: 'POST', path: '/vantage/v1/answers', body: Buffer.from('{"id":"1"}') };
// RFC 8032 §7.1, test 1.
const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const PUBLIC = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
const privateKey = readPrivateKey(`zfv_${SEED.toString('base64url')}`) as KeyObject;
const publicKey = readPublicKey(PUBLIC.toString('base64url')) as KeyObject;

function proofOf(headers: Record<string, string>): VantageProof {
  return readVantageHeaders(headers) as VantageProof;
}

describe('a key of an observer', () => {
  it('is the seed of RFC 8032, new each time, restored from its texts, and shown by a fingerprint that hides it', () => {
    expect(publicKeyOf(privateKey)).toBe(PUBLIC.toString('base64url'));
    const made = makeVantageKey();
    expect(made.privateKey).toMatch(/^zfv_[\w-]{43}$/);
    expect(made).not.toEqual(makeVantageKey());
    expect(publicKeyOf(readPrivateKey(made.privateKey) as KeyObject)).toBe(made.publicKey);
    expect(readPublicKey(made.publicKey)).toBeDefined();
    expect(fingerprintOf(PUBLIC.toString('base64url'))).toMatch(/^([0-9a-f]{4}:){7}[0-9a-f]{4}$/);
    expect(fingerprintOf(PUBLIC.toString('base64url'))).not.toBe(fingerprintOf(makeVantageKey().publicKey));
  });

  it('rejects texts that are too short, too long, padded, or have other characters or unused bits that are set', () => {
    const text = PUBLIC.toString('base64url');
    const last = text.slice(0, -1);
    expect([text.slice(1), `${text}A`, `${text}=`, `+${text.slice(1)}`, ''].map(readPublicKey)).toEqual(
      Array(5).fill(undefined),
    );
    expect([...'ABCDEFGH'].filter((end) => readPublicKey(last + end) !== undefined)).toHaveLength(2);
    expect(readPrivateKey(SEED.toString('base64url'))).toBeUndefined();
    expect(readPrivateKey(`zfv_${text}A`)).toBeUndefined();
  });
});

describe('a signed request', () => {
  const headers = signVantageRequest(privateKey, 'paris', request, { timeMs: NOW });

  it('matches the specification line by line', () => {
    const nonce = Buffer.alloc(16, 0xab);
    expect(signVantageRequest(privateKey, 'paris', request, { timeMs: NOW, nonce })).toEqual({
      'x-vantage-name': 'paris',
      'x-vantage-time': '1790000000000',
      'x-vantage-nonce': 'ab'.repeat(16),
      'x-vantage-digest': createHash('sha256').update('{"id":"1"}').digest('hex'),
      // For "zonefleet-vantage-1
      // POST
      // /vantage/v1/answers
      // paris
      // 1790000000000
      // abab…ab
      // " and the hash of the body.
      'x-vantage-signature':
        'Bj8pk0cMMhTRvQLnS+uEAe0ZlSRTcHmhuizens49S2zVRZDMZpOcUiSe3N+aA8/ABkFxrsKzyqoyQtRetjbqDg==',
    });
  });

  it("is accepted from its signer for a minute before and after its time, and never has another one's nonce", () => {
    const taken = [-VANTAGE_CLOCK_MS - 1, -VANTAGE_CLOCK_MS, 0, VANTAGE_CLOCK_MS, VANTAGE_CLOCK_MS + 1].map(
      (late) => isSignedBy(publicKey, proofOf(headers), request, NOW + late),
    );
    expect(taken).toEqual([false, true, true, true, false]);
    const again = signVantageRequest(privateKey, 'paris', request, { timeMs: NOW });
    expect(again['x-vantage-nonce']).not.toBe(headers['x-vantage-nonce']);
  });

  it('is rejected with another key, name, time, nonce, digest, method or path', () => {
    const other = readPublicKey(makeVantageKey().publicKey) as KeyObject;
    const proof = proofOf(headers);
    expect(isSignedBy(other, proof, request, NOW)).toBe(false);
    const changed = [
      { name: 'rome' },
      { timeMs: NOW + 1 },
      { nonce: '00'.repeat(16) },
      { digest: digestOf(Buffer.from('2')) },
    ];
    for (const each of changed)
      expect(isSignedBy(publicKey, { ...proof, ...each }, request, NOW)).toBe(false);
    const asked = [{ method: 'PUT' }, { path: '/vantage/v1/jobs' }];
    for (const each of asked) expect(isSignedBy(publicKey, proof, { ...request, ...each }, NOW)).toBe(false);
  });

  it('is read only with all five headers, each once and well-formed', () => {
    const wrong: Record<string, string | string[] | undefined>[] = [
      { 'x-vantage-name': 'Paris' },
      { 'x-vantage-name': 'paris\nrome' },
      { 'x-vantage-name': 'a'.repeat(64) },
      { 'x-vantage-time': '01790000000000' },
      { 'x-vantage-time': '1e12' },
      { 'x-vantage-time': '-5' },
      { 'x-vantage-nonce': 'AB'.repeat(16) },
      { 'x-vantage-nonce': 'ab'.repeat(15) },
      { 'x-vantage-digest': undefined },
      { 'x-vantage-digest': headers['x-vantage-digest']?.toUpperCase() },
      { 'x-vantage-digest': headers['x-vantage-digest']?.slice(1) },
      { 'x-vantage-signature': headers['x-vantage-signature']?.slice(0, -4) },
      { 'x-vantage-signature': `${headers['x-vantage-signature']} ` },
      { 'x-vantage-signature': undefined },
      { 'x-vantage-signature': [headers['x-vantage-signature'] as string] },
    ];
    for (const each of wrong) expect(readVantageHeaders({ ...headers, ...each })).toBeUndefined();
    expect(readVantageHeaders(headers)).toBeDefined();
  });
});

it('a name of an observer is a label of lower-case letters, digits and hyphens', () => {
  expect(['paris', 'de-1', 'a', '4'].filter(isVantageName)).toHaveLength(4);
  expect(['', '-a', 'a-', 'A', 'a.b', 'a b', 'a\n', 'é'].filter(isVantageName)).toEqual([]);
});
