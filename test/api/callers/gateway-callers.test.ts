import { expect, it } from 'vitest';
import { Problem } from '../../../src/api/answers/problem.ts';
import { GatewayCallers } from '../../../src/api/callers/gateway-callers.ts';
import type { Gateway } from '../../../src/billing/gateway.ts';
import { signNotice } from '../../support/billing/sign-notice.ts';

const SECRET = 'a secret of thirty-two characters.';
const BODY = Buffer.from('{}');
const gateways = new Map(
  ['one', 'two'].map((name): [string, Gateway] => [name, { name, secret: SECRET, paymentUrl: () => '' }]),
);

function play() {
  let nowMs = Date.UTC(2026, 2, 1);
  const callers = new GatewayCallers(gateways, () => nowMs);
  const refusal = (gateway: string, signature = signNotice(SECRET, gateway, BODY, new Date(nowMs))) => {
    const presented = callers.present(gateway, { 'zonefleet-signature': signature });
    return presented instanceof Problem ? presented : presented.judgeBody(BODY);
  };
  return {
    refusal,
    tell: (gateway: string, signature?: string) => refusal(gateway, signature)?.status ?? 200,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

it('accepts 600 notices of a gateway in any 60 seconds', () => {
  const { tell, pass } = play();
  const many = Array.from({ length: 601 }, () => tell('one'));
  expect(many.slice(0, 600).every((status) => status === 200)).toBe(true);
  expect(many[600]).toBe(429);
  pass(59_999);
  expect(tell('one')).toBe(429);
  pass(1);
  expect(tell('one')).toBe(200);
});

it('returns the time after which a gateway may send again', () => {
  const { refusal, tell, pass } = play();
  for (let i = 0; i < 600; i++) tell('one');
  pass(20_000);
  expect(refusal('one')?.headers).toMatchObject({ 'Retry-After': '40' });
});

it('counts each gateway separately, and only signed notices', () => {
  const { tell } = play();
  for (let i = 0; i < 600; i++) expect(tell('one')).toBe(200);
  for (let i = 0; i < 700; i++) expect(tell('two', `t=1,v1=${'0'.repeat(64)}`)).toBe(401);
  expect([tell('one'), tell('two')]).toEqual([429, 200]);
});
