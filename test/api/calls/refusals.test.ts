import { expect, it } from 'vitest';
import { refusalsOf } from '../../../src/api/calls/refusals.ts';
import { isWrite } from '../../../src/api/calls/route.ts';
import { RESELLER_ROUTES, ROUTES } from '../../../src/features/every-route.ts';

const describesAmbiguity = (route: Parameters<typeof refusalsOf>[0]) =>
  refusalsOf(route).some(({ status, codes }) => status === 409 && codes.includes('domain_ambiguous'));

it('every write to a domain in the path describes 409 domain_ambiguous', () => {
  const writes = ROUTES.filter(({ access, method }) => access.kind === 'domain' && isWrite(method));
  expect(writes.length).toBeGreaterThan(30);
  expect(writes.filter((route) => !describesAmbiguity(route)).map(({ path }) => path)).toEqual([]);
});

it('reseller routes use domain ids, so none describes domain_ambiguous', () => {
  expect(RESELLER_ROUTES.filter(describesAmbiguity).map(({ path }) => path)).toEqual([]);
});
