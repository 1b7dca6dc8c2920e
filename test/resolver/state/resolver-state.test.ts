// What a check by hand does with failures that are remembered.

import { expect, test } from 'vitest';
import { COM_A, COM_B, comInternet, testResolver } from '../../support/world/test-resolver.ts';
import { name } from '../../support/world/zone-exchange.ts';

test('a verification by hand asks again what failed a moment ago; a scheduled one does not', async () => {
  const exchange = comInternet('example NS ns.example\nns.example A 5.3.0.1');
  exchange.behave(COM_A, () => 'silent').behave(COM_B, () => 'silent');
  const { resolver } = testResolver(exchange);
  const host = name('_svc-challenge.example.com');
  await resolver.observeTxt(host);
  exchange.takeAsked();
  await resolver.observeTxt(host);
  expect(exchange.takeAsked()).toEqual([]);
  await resolver.observeTxt(host, { fresh: true });
  expect(exchange.takeAsked().length).toBeGreaterThan(0);
});

test('what it finds out by hand is known to all', async () => {
  const exchange = comInternet('example NS ns.example\nns.example A 5.3.0.1');
  exchange.behave(COM_A, () => 'silent').behave(COM_B, () => 'silent');
  const { resolver } = testResolver(exchange);
  const host = name('_svc-challenge.other.com');
  await resolver.observeTxt(host);
  exchange.behave(COM_A, () => undefined).behave(COM_B, () => undefined);
  await resolver.observeTxt(host, { fresh: true });
  const before = exchange.takeAsked().length;
  const { links } = await resolver.observeTxt(host);
  expect(before).toBeGreaterThan(0);
  expect(links.length).toBeGreaterThan(0);
});
