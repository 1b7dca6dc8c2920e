import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { digestSecret, hideSecret } from '../../../src/api/calls/paths.ts';

it.each([
  ['/invites/inv_abc', '/invites/***'],
  ['/invites/inv_abc/accept', '/invites/***/accept'],
  ['/invites/inv_abc/accept?x=1', '/invites/***/accept?x=1'],
  ['/%69nvites/%69nv_abc', '/invites/***'],
  ['/Invites/inv_abc/', '/Invites/***/'],
  ['/reseller/v1/invites/inv_abc', '/reseller/v1/invites/***'],
  ['/domains/shop.example/invites/7/resend', '/domains/shop.example/invites/7/resend'],
  ['/domains/%C3%BC.example/records/?name=a', '/domains/%C3%BC.example/records/?name=a'],
  ['/invites', '/invites'],
])('%s is logged as %s', (url, hidden) => expect(hideSecret(url)).toBe(hidden));

it('calls with different tokens have different digests, which do not contain the tokens', () => {
  const digest = createHash('sha256').update('inv_abc').digest('hex');
  expect(digestSecret('/invites/inv_abc/accept')).toBe(`/invites/${digest}/accept`);
  expect(digestSecret('/invites/inv_abd/accept')).not.toBe(`/invites/${digest}/accept`);
  expect(digestSecret('/domains/?limit=1')).toBe('/domains/?limit=1');
});
