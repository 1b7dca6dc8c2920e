import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type Gateway,
  type Gateways,
  isNoticeOf,
  type NoticeProof,
  readNoticeProof,
  signOrder,
} from '../../src/billing/gateway.ts';
import { signNotice } from '../support/billing/sign-notice.ts';

const SECRET = 'a secret of thirty-two characters.';
const gateway: Gateway = { name: 'online', secret: SECRET, paymentUrl: () => '' };
const only = (of: Gateway): Gateways => new Map([[of.name, of]]);
const at = new Date('2026-03-01T12:00:00Z');
const body = Buffer.from('{"reference":"A","amount_rials":5}');
const header = signNotice(SECRET, 'online', body, at);
const proof = readNoticeProof(header, at.getTime()) as NoticeProof;

describe('the header of a notice', () => {
  it("has the time and the HMAC-SHA256 of the gateway's name, the time and the body", () => {
    const seconds = at.getTime() / 1000;
    const mac = createHmac('sha256', SECRET).update(`notice.online.${seconds}.${body}`).digest('hex');
    expect(header).toBe(`t=${seconds},v1=${mac}`);
  });

  it.each([
    ['immediately', 0, true],
    ['5 minutes later', 300_000, true],
    ['5 minutes before', -300_000, true],
    ['a millisecond more than that later', 300_001, false],
    ['a millisecond more than that before', -300_001, false],
  ])('is accepted or not, %s', (_, afterMs, counts) => {
    expect(readNoticeProof(header, at.getTime() + afterMs) !== undefined).toBe(counts);
  });

  it.each([
    undefined,
    '',
    'v1=00',
    `${header},v1=00`,
    ` ${header}`,
    header.toUpperCase(),
    header.replace('t=', 't=0'),
    header.slice(0, -1),
    [header, header],
  ])('in another format is rejected: %j', (text) => {
    expect(readNoticeProof(text, at.getTime())).toBeUndefined();
  });
});

describe('a notice is accepted', () => {
  it("with the gateway's secret", () => expect(isNoticeOf('online', only(gateway), proof, body)).toBe(true));

  it.each<[string, Gateway, NoticeProof, Buffer]>([
    ['with another body', gateway, proof, Buffer.from(body.toString().replace('5', '6'))],
    ['with another time', gateway, { ...proof, seconds: proof.seconds + 1 }, body],
    ['with another secret', { ...gateway, secret: `${SECRET}!` }, proof, body],
    ['of a gateway without notices', { name: 'online', paymentUrl: () => '' }, proof, body],
    ['of an unknown gateway', { ...gateway, name: 'another' }, proof, body],
  ])('not %s', (_, of, given, text) => {
    expect(isNoticeOf('online', only(of), given, text)).toBe(false);
  });

  it('only for its own gateway, even if another has the same secret, and not with the signature of an order', () => {
    const twin = { ...gateway, name: 'twin' };
    const gateways = new Map([...only(gateway), ...only(twin)]);
    expect(isNoticeOf('online', gateways, proof, body)).toBe(true);
    expect(isNoticeOf('twin', gateways, proof, body)).toBe(false);
    const order = { reference: 'A', amountRials: 5, pageUrl: 'https://a.test/', at };
    const mac = Buffer.from(signOrder(SECRET, order, proof.seconds), 'hex');
    const text = Buffer.from(`order.A.5.https://a.test/.${proof.seconds}`);
    for (const each of [body, text])
      expect(isNoticeOf('online', only(gateway), { ...proof, mac }, each)).toBe(false);
  });
});
