// The answers of the transfer thread, without sockets and database.

import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { TsigStreamVerifier } from '../../../src/dns/message/tsig-stream.ts';
import { parseName, printName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { AmplificationLimit } from '../../../src/nameserver/answer/amplification-limit.ts';
import { TransferWriter } from '../../../src/nameserver/transfer/encoding/transfer-writer.ts';
import { assemble, queryFor, summarize } from '../../support/answer/packets.ts';
import { axfr, type From, ixfr, keyOf, NOW, signed, slowNode, TEXT } from '../../support/answer/slow-node.ts';
import { collectingLog } from '../../support/processes/follow.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const NEAR = { from: '198.51.100.1' };

describe('a zone transfer', () => {
  test.each([
    ['of a peer', axfr(), NEAR, 'NOERROR aa 1/4/0/0'],
    ['with EDNS', axfr('example.test.', ''), NEAR, 'NOERROR aa 1/4/0/0 OPT()'],
    [
      'that requests EXPIRE (RFC 7314)',
      axfr('example.test.', '9:'),
      NEAR,
      'NOERROR aa 1/4/0/0 OPT(9:00015180)',
    ],
    ['of a source that is no peer', axfr('example.test.', ''), {}, 'REFUSED - 1/0/0/0 OPT(ede:0012)'],
    ['of a zone that is not served', axfr('absent.test.'), NEAR, 'NOTAUTH - 1/0/0/0'],
    ['of a name in a zone', axfr('ns.example.test.'), NEAR, 'NOTAUTH - 1/0/0/0'],
    [
      'of a zone of which only the apex is served',
      axfr('apex.test.', ''),
      NEAR,
      'REFUSED - 1/0/0/0 OPT(ede:0012)',
    ],
    [
      'of a zone that did not fit into memory',
      axfr('big.test.', ''),
      NEAR,
      'SERVFAIL - 1/0/0/0 OPT(ede:000e)',
    ],
    ['of a zone whose policy lists other peers', axfr('own.test.'), NEAR, 'REFUSED - 1/0/0/0'],
    ['over UDP', axfr('example.test.', ''), { ...NEAR, tcp: false }, 'REFUSED - 1/0/0/0 OPT(ede:0012)'],
    ['of another class', queryFor('example.test.', TYPE.AXFR, { class: 3 }), NEAR, 'REFUSED - 1/0/0/0'],
    ['with an unknown version of EDNS', axfr('example.test.', 'version=1'), NEAR, 'BADVERS - 1/0/0/0 OPT()'],
    ['of the current version', ixfr(7), NEAR, 'NOERROR aa 1/1/0/0'],
    ['of a newer version', ixfr(8), NEAR, 'NOERROR aa 1/1/0/0'],
    ['of an older version without history', ixfr(6), NEAR, 'NOERROR aa 1/4/0/0'],
    ['of an older version without history, over UDP', ixfr(6), { ...NEAR, tcp: false }, 'NOERROR aa 1/1/0/0'],
    ['IXFR without an SOA', queryFor('example.test.', TYPE.IXFR), NEAR, 'FORMERR - 1/0/0/0'],
    [
      'of a name that is compressed, which is not echoed',
      assemble('1234 0100 0001 0000 0000 0000 c002 00fb 0001'),
      NEAR,
      'NOTAUTH rd 0/0/0/0',
    ],
    [
      'with 100 additional records',
      assemble(
        `1234 0000 0001 0000 0000 0064 "example.test." 00fc 0001 ${'00 0001 0001 00000000 0000'.repeat(100)}`,
      ),
      NEAR,
      'FORMERR - 1/0/0/0',
    ],
  ])('%s', async (_, query, from, summary) => {
    const replies = await slowNode().answers(query, from);
    expect(replies.map(summarize)).toEqual([summary]);
    expect(decodeMessage(replies[0]!).id).toBe(0x1234);
  });

  const STRICT = '203.0.113.64';
  const REFUSED = ['REFUSED - 1/0/0/0 OPT(ede:0012)'];
  const SENT = ['NOERROR aa 1/4/0/0 OPT()'];
  test.each<[string, From, string[], RegExp?]>([
    [
      'of a strict peer over TCP is refused',
      { from: STRICT },
      REFUSED,
      /without TLS is refused: TLS of the peer is strict/,
    ],
    ['of a strict peer over TLS is sent', { from: STRICT, tls: 'dot' }, SENT],
    [
      'of a strict peer over TLS 1.2 is refused',
      { from: STRICT, tls: 'other' },
      REFUSED,
      /needs TLS 1.3 and the ALPN/,
    ],
    ['of another peer over TLS is sent', { ...NEAR, tls: 'dot' }, SENT],
    [
      'of another peer over TLS 1.2 is refused',
      { ...NEAR, tls: 'other' },
      REFUSED,
      /needs TLS 1.3 and the ALPN/,
    ],
    [
      'over TLS from a source that is not a peer is refused',
      { tls: 'dot' },
      REFUSED,
      /^a zone transfer is refused$/,
    ],
  ])('%s', async (_, from, summary, reason) => {
    const log = collectingLog();
    const node = slowNode({ log });
    for (const query of [axfr('example.test.', ''), ixfr(6, 'example.test.', 'OPT()')])
      expect((await node.answers(query, from)).map(summarize)).toEqual(summary);
    const refusals = log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(refusals).toEqual(reason === undefined ? [] : Array(2).fill(expect.stringMatching(reason)));
  });

  test('has an OPT record in every message, which pads it over TLS if the request is padded', async () => {
    const [plain, asked] = [axfr('long.test.', ''), axfr('long.test.', '12:0000')];
    const messagesOf = (query: Uint8Array, from: From) => slowNode().answers(query, from);
    const options = (messages: readonly Uint8Array[]) =>
      messages.map((one) => decodeMessage(one).edns?.options.length);
    const count = (await messagesOf(plain, NEAR)).length;
    expect(count).toBeGreaterThan(2);
    expect(options(await messagesOf(plain, NEAR))).toEqual(Array(count).fill(0));
    expect(options(await messagesOf(asked, NEAR))).toEqual(Array(count).fill(0));
    const near = { from: '192.0.2.1', tls: 'dot' } as const;
    for (const [query, from] of [
      [asked, { ...NEAR, tls: 'dot' as const }],
      [signed(asked, 'acme.').message, near],
    ] as const) {
      const messages = await messagesOf(query, from);
      expect(messages.map(({ length }) => length % 468)).toEqual(Array(count).fill(0));
    }
  });

  test('of a strict peer over UDP is refused', async () => {
    const answers = await slowNode().answers(ixfr(7, 'example.test.', 'OPT()'), { from: STRICT, tcp: false });
    expect(answers.map(summarize)).toEqual(REFUSED);
  });

  test('before the configuration was read gets SERVFAIL', async () => {
    const node = slowNode({ stored: undefined });
    expect((await node.answers(axfr(), NEAR)).map(summarize)).toEqual(['SERVFAIL - 1/0/0/0']);
    expect((await node.answers(signed(axfr(), 'acme.').message, NEAR)).map(summarize)).toEqual([
      'SERVFAIL - 1/0/0/0',
    ]);
  });

  test('echoes the question with its case and type', async () => {
    const query = ixfr(6, 'eXample.TEST.');
    const [reply] = await slowNode().answers(query, NEAR);
    expect(Buffer.from(reply!).subarray(12, 30)).toEqual(query.subarray(12, 30));
  });

  test('is sent in parts as the peer takes them', async () => {
    const node = slowNode();
    const id = await node.ask(axfr('long.test.'), NEAR);
    expect(node.posted.map(({ isLast }) => isLast)).toEqual([false]);
    expect(node.posted[0]?.octets?.length).toBeLessThan(80 * 1024);
    expect(node.take(id).flatMap((message) => decodeMessage(message).answers)).toHaveLength(404);
    expect(node.counters.state().transfers).toEqual([{ form: 'axfr', outcome: 'sent', count: 1 }]);
    expect(node.reports.take().reports).toMatchObject([{ peerId: 2, servedSerial: 7, form: 'axfr' }]);
  });

  test('waits for its turn: five of a peer at the same time, and as many as the node allows', async () => {
    const node = slowNode({ most: 6 });
    const ids: number[] = [];
    for (let i = 0; i < 7; i++) ids.push(await node.ask(axfr('long.test.'), NEAR));
    const started = () => new Set(node.posted.map(({ id }) => id)).size;
    expect(started()).toBe(5);
    const near = { from: '192.0.2.1' };
    for (let i = 0; i < 2; i++) ids.push(await node.ask(signed(axfr('long.test.'), 'acme.').message, near));
    expect(started()).toBe(6);
    node.transfers.closed(ids[0] as number);
    await nextRound();
    expect(started()).toBe(7);
    for (const id of ids) node.transfers.closed(id);
    await nextRound();
    expect(started()).toBe(7);
    expect((await node.answers(axfr(), NEAR)).map(summarize)).toEqual(['NOERROR aa 1/4/0/0']);
  });

  test('sends differences from the history, over UDP only if they fit', async () => {
    const writer = new TransferWriter(parseName('example.test.'));
    for (const record of recordsOf(
      `${TEXT}a TXT ${'x'.repeat(200)}\nb TXT ${'x'.repeat(200)}`,
      'example.test.',
    ))
      writer.write(record);
    const node = slowNode({ history: { kind: 'encoded', transfer: writer.finish() } });
    const over = async (tcp: boolean, opt: string) =>
      (await node.answers(ixfr(5, 'example.test.', opt), { ...NEAR, tcp })).map(summarize);
    expect(await over(true, '')).toEqual(['NOERROR aa 1/5/0/0']);
    expect(await over(false, '')).toEqual(['NOERROR aa 1/1/0/0']);
    expect(await over(false, 'OPT(size=1232)')).toEqual(['NOERROR aa 1/5/0/0 OPT()']);
    expect(node.loads).toEqual([5, 5, 5]);
  });

  test('over UDP without a signature counts for the limit of the network', async () => {
    const node = slowNode({ limit: new AmplificationLimit(1) });
    const answers: string[] = [];
    for (let i = 0; i < 60; i++)
      answers.push(...(await node.answers(ixfr(7), { ...NEAR, tcp: false })).map(summarize));
    expect(answers.length).toBeGreaterThan(0);
    expect(new Set(answers)).toEqual(new Set(['NOERROR aa 1/1/0/0']));
  });
});

describe('a private zone', () => {
  const soa = queryFor('private.test.', TYPE.SOA, { opt: '9:' });
  const udp = { tcp: false };

  test.each([
    ['sends its SOA to a peer', soa, { ...NEAR, ...udp }, 'NOERROR aa 1/1/0/0 OPT(9:00015180)'],
    ['sends its SOA to a peer over TCP', soa, NEAR, 'NOERROR aa 1/1/0/0 OPT(9:00015180)'],
    [
      'sends its SOA for the key of a peer',
      signed(soa, 'acme.').message,
      { from: '192.0.2.1' },
      'NOERROR aa 1/1/0/1 OPT(9:00015180)',
    ],
    ['sends AXFR to a peer', axfr('private.test.'), NEAR, 'NOERROR aa 1/4/0/0'],
    ['sends IXFR to a peer', ixfr(7, 'private.test.'), NEAR, 'NOERROR aa 1/1/0/0'],
    ['refuses its SOA to others', soa, udp, 'REFUSED - 1/0/0/0 OPT(ede:0012)'],
    [
      'refuses its SOA to a peer that may not transfer',
      signed(soa, 'other.').message,
      udp,
      'REFUSED - 1/0/0/1 OPT(ede:0012)',
    ],
    ['refuses AXFR to others', axfr('private.test.'), {}, 'REFUSED - 1/0/0/0'],
    ['refuses other types, also to a peer', queryFor('private.test.', TYPE.NS), NEAR, 'REFUSED - 1/0/0/0'],
    [
      'refuses names in it, also for a key',
      signed(queryFor('ns.private.test.', TYPE.A), 'acme.').message,
      { from: '192.0.2.1' },
      'REFUSED - 1/0/0/1',
    ],
  ])('%s', async (_, query, from, summary) => {
    expect((await slowNode().answers(query, from)).map(summarize)).toEqual([summary]);
  });

  test('is refused before the configuration was read, and by a node with TRANSFERS=off', async () => {
    const unread = await slowNode({ stored: undefined }).answers(soa, NEAR);
    const off = await slowNode({ hasTransfers: false }).answers(soa, NEAR);
    expect([...unread, ...off].map(summarize)).toEqual([
      'SERVFAIL - 1/0/0/0 OPT(ede:000e)',
      'REFUSED - 1/0/0/0 OPT(ede:0012)',
    ]);
  });
});

describe('TSIG', () => {
  const soa = queryFor('example.test.', TYPE.SOA, { opt: '' });

  /** Returns the summary of the answer, and `verified` or its TSIG error. */
  async function judge(
    octets: Uint8Array,
    mac: Uint8Array,
    name = 'acme.',
    from: From = { from: '192.0.2.1' },
  ) {
    const replies = await slowNode().answers(octets, from);
    const verifier = new TsigStreamVerifier(keyOf(name), mac);
    return replies.map((reply) => {
      const result = verifier.accept(reply, NOW);
      const { additionals } = decodeMessage(reply);
      const tsig = additionals.find(({ type }) => type === TYPE.TSIG);
      return `${summarize(reply)} ${tsig === undefined ? 'unsigned' : result.kind === 'ok' ? 'verified' : result.error}`;
    });
  }

  test.each([
    ['a query of any type is answered', soa, 'acme.', NOW, 'NOERROR aa 1/1/0/1 OPT() verified'],
    ['a transfer', axfr(), 'acme.', NOW, 'NOERROR aa 1/4/0/1 verified'],
    ['a transfer with another key is refused', axfr(), 'other.', NOW, 'REFUSED - 1/0/0/1 verified'],
    ['an unknown key', soa, 'unknown.', NOW, 'NOTAUTH - 1/0/0/1 OPT() the server reports BADKEY'],
    ['an expired key', soa, 'expired.', NOW, 'NOTAUTH - 1/0/0/1 OPT() the server reports BADKEY'],
    ['a key of a primary', soa, 'primary.', NOW, 'NOTAUTH - 1/0/0/1 OPT() the server reports BADKEY'],
    [
      'a key that TSIG_SECRETS does not open',
      soa,
      'unreadable.',
      NOW,
      'SERVFAIL - 1/0/0/0 OPT(ede:000e) unsigned',
    ],
    ['a wrong time', soa, 'acme.', NOW - 400, 'NOTAUTH - 1/0/0/1 OPT() BADTIME'],
  ])('%s', async (_, query, name, seconds, expected) => {
    const { message, mac } = signed(query, name, seconds);
    expect(await judge(message, mac, name)).toEqual([expected]);
  });

  test('a changed message gets BADSIG', async () => {
    const { message, mac } = signed(soa, 'acme.');
    message[2] = 1; // RD
    expect(await judge(message, mac)).toEqual(['NOTAUTH rd 1/0/0/1 OPT() the server reports BADSIG']);
  });

  test('every message of a transfer is signed', async () => {
    const { message, mac } = signed(axfr('long.test.'), 'acme.');
    const verdicts = await judge(message, mac);
    expect(verdicts.length).toBeGreaterThan(5);
    expect(verdicts.every((verdict) => verdict.endsWith('verified'))).toBe(true);
  });

  test('takes space from the records over UDP', async () => {
    const { message, mac } = signed(queryFor('x1.long.test.', TYPE.TXT), 'acme.');
    const big = signed(queryFor('x1.long.test.', TYPE.TXT, { opt: 'size=512' }), 'acme.');
    for (const one of [{ message, mac }, big]) {
      const [reply] = await slowNode().answers(one.message, { from: '192.0.2.1', tcp: false });
      expect(reply?.length).toBeLessThanOrEqual(512);
    }
  });
});

describe('NOTIFY', () => {
  const notify = (zone: string, answer = '') =>
    assemble(`1234 2400 0001 ${answer === '' ? '0000' : '0001'} 0000 0000 "${zone}" 0006 0001 ${answer}`);
  const soa = (serial: string) =>
    `"secondary.test." 0006 0001 00000000 0016 00 00 ${serial} 00000000 00000000 00000000 00000000`;

  test.each([
    [
      'of a zone that is not a secondary',
      notify('example.test.'),
      '203.0.113.1',
      'acme.',
      'NOTAUTH - 1/0/0/1',
    ],
    ['of another source', notify('secondary.test.'), '203.0.113.2', 'primary.', 'REFUSED - 1/0/0/1'],
    ['without the key', notify('secondary.test.'), '203.0.113.1', undefined, 'REFUSED - 1/0/0/0'],
    [
      'of another type',
      assemble('1234 2400 0001 0000 0000 0000 "secondary.test." 0001 0001'),
      '203.0.113.1',
      undefined,
      'FORMERR - 1/0/0/0',
    ],
    [
      'with a malformed question',
      assemble('1234 2400 0001 0000 0000 0000 c00c 0006 0001'),
      '203.0.113.1',
      'acme.',
      'FORMERR - 0/0/0/1',
    ],
    [
      'without a question',
      assemble('1234 2400 0000 0000 0000 0000'),
      '203.0.113.1',
      undefined,
      'FORMERR - 0/0/0/0',
    ],
  ])('%s is refused', async (_, message, from, key, summary) => {
    const node = slowNode();
    const octets = key === undefined ? message : signed(message, key).message;
    expect((await node.answers(octets, { from, tcp: false })).map(summarize)).toEqual([summary]);
    expect(node.notified).toEqual([]);
  });

  test.each([
    ['without a serial', notify('secondary.test.'), null],
    ['with a serial', notify('Secondary.test.', soa('00000009')), 9],
  ])('of a primary %s is recorded', async (_, message, serial) => {
    const node = slowNode();
    const octets = signed(message, 'primary.').message;
    const replies = await node.answers(octets, { from: '203.0.113.1', tcp: false });
    expect(replies.map(summarize)).toEqual(['NOERROR aa 1/0/0/1']);
    expect(decodeMessage(replies[0]!).opcode).toBe(4);
    expect(node.notified).toEqual([['secondary.test.', serial]]);
  });
});

describe('UPDATE', () => {
  const update = (counts = '0000 0000 0000', records = '', zone = '"Example.test." 0006 0001') =>
    assemble(`1234 2800 0001 ${counts} ${zone} ${records}`);
  const ADD = '"www.example.test." 0001 0001 0000003c 0004 c0000201';
  const OPT = '00 0029 04d0 00000000 0000';
  const VERSION_1 = '00 0029 04d0 00010000 0000';

  test.each([
    ['unsigned', update(), undefined, 'REFUSED - 1/0/0/0'],
    ['unsigned with EDNS', update('0000 0000 0001', OPT), undefined, 'REFUSED - 1/0/0/0 OPT(ede:0012)'],
    ['with an unknown key', update(), 'unknown.', 'NOTAUTH - 1/0/0/1'],
    [
      'with an unknown version of EDNS',
      update('0000 0000 0001', VERSION_1),
      'acme.',
      'BADVERS - 1/0/0/1 OPT()',
    ],
    ['with a truncated record', update('0000 0001 0000', ADD.slice(0, -2)), 'acme.', 'FORMERR - 1/0/0/0'],
    ['with OPT outside the additional section', update('0000 0001 0000', OPT), 'acme.', 'FORMERR - 1/0/0/1'],
    ['of another type', update(undefined, '', '"example.test." 0001 0001'), 'acme.', 'FORMERR - 1/0/0/1'],
    ['of another class', update(undefined, '', '"example.test." 0006 0003'), 'acme.', 'NOTAUTH - 1/0/0/1'],
    ['that is valid', update('0000 0001 0001', `${ADD} ${OPT}`), 'acme.', 'example.test.'],
    ['with 300 records', update('0000 012c 0000', ADD.repeat(300)), 'acme.', 'example.test.'],
  ])('%s gets an answer, or is passed on', async (_, message, key, expected) => {
    const passed: string[] = [];
    const node = slowNode({ updates: () => ({ add: (_, zone) => passed.push(printName(zone)) }) });
    const octets = key === undefined ? message : signed(message, key).message;
    const replies = await node.answers(octets, { tcp: false });
    expect([...replies.map(summarize), ...passed]).toEqual([expected]);
  });

  test('is refused with EDE 18 by a node that takes none, even if it is signed', async () => {
    const node = slowNode();
    const [reply] = await node.answers(signed(update('0000 0000 0001', OPT), 'acme.').message);
    expect(summarize(reply!)).toBe('REFUSED - 1/0/0/1 OPT(ede:0012)');
    expect(node.counters.state().updates).toEqual([{ outcome: 'off', count: 1 }]);
  });
});

test('a node with TRANSFERS=off refuses transfers and NOTIFY, and answers signed queries', async () => {
  const node = slowNode({ hasTransfers: false });
  const notify = assemble('1234 2400 0001 0000 0000 0000 "secondary.test." 0006 0001');
  const soa = signed(queryFor('example.test.', TYPE.SOA), 'acme.').message;
  const summaries: string[] = [];
  for (const octets of [signed(axfr(), 'acme.').message, ixfr(7), notify, soa])
    summaries.push(...(await node.answers(octets, { from: '192.0.2.1' })).map(summarize));
  expect(summaries).toEqual([
    'REFUSED - 1/0/0/1',
    'REFUSED - 1/0/0/0',
    'NOTIMP - 1/0/0/0',
    'NOERROR aa 1/1/0/1',
  ]);
});

test('responses and messages without a header get no answer', async () => {
  const node = slowNode();
  const response = Buffer.from(axfr());
  response[2] = 0x80;
  for (const octets of [response, Buffer.alloc(5)]) expect(await node.answers(octets, NEAR)).toEqual([]);
});
