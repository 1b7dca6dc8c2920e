// The nameserver as dig and kdig see it over real sockets: programs that know nothing of us and judge the wire.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listenTcp, type TcpListener } from '../../src/nameserver/tcp/tcp.ts';
import type { UdpListener } from '../../src/nameserver/udp/udp-sockets.ts';
import { listenUdpFor } from '../support/answer/listen-udp-for.ts';
import { testNode } from '../support/answer/test-node.ts';
import { isInstalled } from '../support/peers/peers.ts';

const run = promisify(execFile);

let udp: UdpListener;
let tcp: TcpListener;
beforeAll(async () => {
  const node = testNode();
  udp = await listenUdpFor(node, [
    { address: '127.0.0.1', port: 0 },
    { address: '::1', port: 0 },
  ]);
  tcp = await listenTcp([{ address: '127.0.0.1', port: 0 }], node);
});
afterAll(async () => {
  await udp.close();
  await tcp.close();
});

async function asked(program: 'dig' | 'kdig', ...words: string[]): Promise<string> {
  const overTcp = words.includes('+tcp');
  const at = overTcp ? tcp.addresses[0] : words.includes('-6') ? udp.addresses[1] : udp.addresses[0];
  const common = program === 'dig' ? ['+tries=1', '+time=3', '+noignore'] : ['+retry=0', '+timeout=3'];
  const { stdout } = await run(program, [`@${at!.address}`, '-p', String(at!.port), ...common, ...words]);
  expect(stdout).not.toMatch(/warning|malformed|mismatch|unexpected/i);
  return stdout;
}

const hasDig = isInstalled('dig');
describe.skipIf(!hasDig)(`dig${hasDig ? '' : ' (skipped: needs dig)'}`, () => {
  test('sees flags, question in its case, OPT and a server cookie', async () => {
    const text = await asked('dig', '+qr', '+norecurse', 'WwW.eXample.test', 'A');
    const reply = text.slice(text.indexOf('Got answer'));
    expect(reply).toContain('flags: qr aa; QUERY: 1, ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 1');
    expect(reply).toContain('; EDNS: version: 0, flags:; udp: 1232');
    expect(reply).toMatch(/COOKIE: [0-9a-f]{48} \(good\)/);
    expect(reply).toMatch(/^WwW\.eXample\.test\.\s+300\s+IN\s+A\s+192\.0\.2\.3$/m);
  });
  test('is told that recursion is not available', async () => {
    const { stdout } = await run('dig', [
      '@127.0.0.1',
      '-p',
      String(udp.addresses[0]!.port),
      'www.example.test',
    ]);
    expect(stdout).toContain('WARNING: recursion requested but not available');
    expect(stdout).toContain('flags: qr aa rd;');
  });
  test('gets the same over IPv6', async () => {
    expect(await asked('dig', '-6', '+norecurse', '+short', 'www.example.test')).toBe('192.0.2.3\n');
  });
  test('sees NSID and the Extended DNS Error of a refusal', async () => {
    const text = await asked('dig', '+norecurse', '+nsid', 'elsewhere.test');
    expect(text).toContain('status: REFUSED');
    expect(text).toContain('; EDE: 20 (Not Authoritative)');
    expect(text).toContain('NSID: 6e 6f 64 65 2d 31 ("node-1")');
    expect(await asked('dig', '+norecurse', '+tcp', 'example.test', 'AXFR')).toContain('Transfer failed');
  });
  test('gets BADVERS for version 1 and asks again with version 0', async () => {
    const text = await asked('dig', '+norecurse', '+edns=1', '+noednsneg', 'www.example.test');
    expect(text).toContain('status: BADVERS');
    expect(text).toContain('EDNS: version: 0');
    expect(await asked('dig', '+norecurse', '+edns=1', '+ednsneg', '+short', 'www.example.test')).toBe(
      '192.0.2.3\n',
    );
  });
  test('sees the keepalive of a TCP connection, and all answers of several queries on one', async () => {
    const text = await asked('dig', '+norecurse', '+tcp', '+keepalive', 'www.example.test');
    expect(text).toContain('TCP KEEPALIVE: 10.0 secs');
    const kept = await asked(
      'dig',
      '+norecurse',
      '+tcp',
      '+keepopen',
      '+short',
      'www.example.test',
      'mail.example.test',
      'ns1.example.test',
    );
    expect(kept).toBe('192.0.2.3\n192.0.2.9\n192.0.2.1\n');
  });
  test('sees a truncated answer, empty but for question and OPT', async () => {
    const text = await asked('dig', '+norecurse', '+ignore', 'big.example.test', 'TXT');
    expect(text).toContain('flags: qr aa tc; QUERY: 1, ANSWER: 0, AUTHORITY: 0, ADDITIONAL: 1');
    expect(
      (await asked('dig', '+norecurse', '+tcp', '+short', 'big.example.test', 'TXT')).split('\n'),
    ).toHaveLength(42);
  });
  test('sees NOTIMP for other opcodes and reads version.bind', async () => {
    expect(await asked('dig', '+norecurse', '+opcode=status', 'example.test')).toContain('status: NOTIMP');
    expect(await asked('dig', '+short', '+norecurse', 'version.bind', 'CH', 'TXT')).toBe(
      '"Zonefleet 1.2.3"\n',
    );
  });
});

const hasKdig = isInstalled('kdig');
describe.skipIf(!hasKdig)(`kdig${hasKdig ? '' : ' (skipped: needs kdig)'}`, () => {
  test('reads all records of a referral', async () => {
    const text = await asked('kdig', '+norec', '+bufsize=1232', 'x.sub.example.test');
    expect(text).toContain('AUTHORITY: 12; ADDITIONAL: 25');
  });
  test('gets pipelined answers over one TCP connection', async () => {
    const text = await asked('kdig', '+tcp', '+keepopen', '+short', 'www.example.test', 'mail.example.test');
    expect(text).toBe('192.0.2.3\n192.0.2.9\n');
  });
});
