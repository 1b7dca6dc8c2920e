import { describe, expect, it } from 'vitest';
import { isWrite } from '../../src/api/calls/route.ts';
import { RESELLER_ROUTES, ROUTES } from '../../src/features/every-route.ts';

const all = [...ROUTES, ...RESELLER_ROUTES];

describe('the audit log', () => {
  it('is declared by exactly the routes that write, with a reason if they write no row', () => {
    const undeclared = all.filter(({ method, audit }) => isWrite(method) !== (audit !== undefined));
    expect(undeclared.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    for (const { audit } of all)
      if (typeof audit === 'object' && 'none' in audit) expect(audit.none.length).toBeGreaterThan(10);
  });

  it('is written with the change only by routes that change or create domains', () => {
    for (const { path, audit } of all)
      if (audit === 'changes')
        expect(path).toMatch(
          /^(\/domains\/(batch)?$|\/domains\/\{domain\}|\/admin\/domains\/\{id\}\/|\/reseller\/v1\/(domains\/\{domainId\}|services))/,
        );
  });
});
