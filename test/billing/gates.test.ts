import { describe, expect, it } from 'vitest';
import { ENTITLEMENTS, NO_ENTITLEMENTS } from '../../src/billing/entitlements.ts';
import { GATES, type Gate, judgeGate } from '../../src/billing/gates.ts';

const gates = Object.entries(GATES) as [string, Gate][];

describe('the gates of plans', () => {
  it('exist for every entitlement', () => {
    const used = new Set(gates.flatMap(([, gate]) => (gate.opens === 'plan' ? [] : [gate.by])));
    expect([...used].sort()).toEqual(Object.keys(ENTITLEMENTS).sort());
  });

  it.each(gates)('%s is closed without an active plan, unless it only notifies', (_name, gate) => {
    const codes = {
      plan: gate.opens === 'plan' && gate.status === 402 ? 'no_active_plan' : 'plan_feature',
      feature: 'plan_feature',
      limit: gate.opens === 'limit' && gate.refuses ? 'plan_limit' : undefined,
    };
    const refused = judgeGate(gate, null, 1);
    expect(refused?.code).toBe(codes[gate.opens]);
    if (refused !== undefined) expect(refused.message).toContain('the domain has no active plan');
  });

  it('respond 402 without an active plan only for analytics and imports', () => {
    const without = gates.filter(([, gate]) => judgeGate(gate, null, 1)?.code === 'no_active_plan');
    expect(without.map(([name]) => name)).toEqual(['import', 'analytics']);
  });

  it.each(gates)('%s names what the plan lacks', (_name, gate) => {
    const refused = judgeGate(gate, NO_ENTITLEMENTS, 1);
    if (gate.opens === 'plan' || (gate.opens === 'limit' && !gate.refuses)) expect(refused).toBeUndefined();
    else if (gate.opens === 'feature')
      expect(refused).toMatchObject({ code: 'plan_feature', feature: ENTITLEMENTS[gate.by].name });
    else expect(refused).toMatchObject({ code: 'plan_limit', limit: 0 });
  });

  it('with a limit are open up to it, always open without one, and those of features if the plan includes them', () => {
    const plan = { ...NO_ENTITLEMENTS, maxRecords: 2 };
    expect(judgeGate(GATES.records, plan, 2)).toBeUndefined();
    expect(judgeGate(GATES.records, plan, 3)).toEqual({
      code: 'plan_limit',
      message: 'the plan allows 2 records, but this would be 3',
      limit: 2,
    });
    expect(judgeGate(GATES.records, { ...plan, maxRecords: null }, 1e9)).toBeUndefined();
    const rich = { ...NO_ENTITLEMENTS, hostHeaderEditEnabled: true };
    expect(judgeGate(GATES.host_header, rich)).toBeUndefined();
  });
});
