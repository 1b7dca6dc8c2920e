import { describe, expect, it } from 'vitest';
import { isWrite } from '../../../src/api/calls/route.ts';
import { ROUTES } from '../../../src/api/routes/every-route.ts';
import { RESELLER_ROUTES } from '../../../src/api/routes/reseller/every-reseller-route.ts';
import { ACTION_NAMES } from '../../../src/store/audit/audit-actions.ts';

const told = [...ROUTES, ...RESELLER_ROUTES].map(({ method, path, audit }) => ({
  call: `${method} ${path}`,
  method,
  path,
  audit,
}));

describe('every route that writes', () => {
  it('says how it gets its row in the audit log, or why it has none', () => {
    expect(told.filter(({ method, audit }) => isWrite(method) && audit === undefined)).toEqual([]);
    const reasons = told.flatMap(({ audit }) =>
      typeof audit === 'object' && 'none' in audit ? [audit.none] : [],
    );
    for (const reason of reasons) expect(reason.length).toBeGreaterThan(10);
  });

  it('leaves it to the changes only where it changes one domain, or makes it', () => {
    const calls = told.filter(({ audit }) => audit === 'changes').map(({ path }) => path);
    for (const path of calls)
      expect(path).toMatch(
        /^(\/domains\/$|\/domains\/\{domain\}|\/admin\/domains\/\{id\}\/|\/reseller\/v1\/(domains\/\{domainId\}|services))/,
      );
  });

  it('below /admin is for global admins, and no other is', () => {
    for (const { path, access } of ROUTES)
      expect([path, access.kind === 'admin']).toEqual([path, path.startsWith('/admin/')]);
  });
});

it('a route that only reads says nothing', () => {
  expect(told.filter(({ method, audit }) => !isWrite(method) && audit !== undefined)).toEqual([]);
});

it('every action is that of a route, of a change, or of the command line', () => {
  const ofRoutes = told.flatMap(({ audit }) => {
    if (typeof audit === 'string') return audit === 'changes' ? [] : [audit];
    return audit !== undefined && 'inHandler' in audit ? [audit.inHandler] : [];
  });
  const elsewhere = [
    'session.fail',
    'domain.create',
    'domain.status',
    'domain.nameservers',
    'domain.delete',
    'domain.dnssec',
    'domain.restore',
    'domain.move',
    'records.edit',
    'rules.edit',
    'node.forget',
    'edge.create',
    'edge.drain',
    'edge.read_key',
    'edge.region',
    'edge.revoke',
    'edge.rotate',
    'edge.serve',
    'vantage.add',
    'wallet.adjust',
    'wallet.refuse',
    'vantage.remove',
    'zone.dnssec',
    'zone.load',
    'zone.unload',
  ];
  expect([...new Set([...ofRoutes, ...elsewhere])].sort()).toEqual([...ACTION_NAMES].sort());
});
