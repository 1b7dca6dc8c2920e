import { describe, expect, it } from 'vitest';
import type { FamilyEvidence } from '../../../src/checks/aname/target-evidence.ts';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { findAllAddresses } from '../../../src/resolver/aname/find-all-addresses.ts';

const NONE: FamilyEvidence = { kind: 'none', ttl: 60 };
const FAILED: FamilyEvidence = { kind: 'failed', reason: 'unreachable', message: 'x' };
const found = (...addresses: string[]): FamilyEvidence => ({ kind: 'found', addresses, ttl: 60 });

const KNOWN: Record<string, { v4: FamilyEvidence; v6: FamilyEvidence }> = {
  'a.': { v4: found('192.0.2.1'), v6: found('2001:db8::1') },
  'b.': { v4: found('192.0.2.2', '192.0.2.1'), v6: NONE },
  'none.': { v4: NONE, v6: NONE },
  'half.': { v4: found('192.0.2.3'), v6: FAILED },
};

const of = async (...names: string[]) => {
  const asked: string[] = [];
  const addresses = await findAllAddresses(
    names.map((name) => parseName(name)),
    async (name: Name) => {
      asked.push(printName(name));
      return KNOWN[printName(name)] as (typeof KNOWN)[string];
    },
  );
  return { addresses: addresses && [...addresses].sort(), asked: asked.sort() };
};

describe('the addresses of a list of names', () => {
  it('are those of all of them, each name looked up once', async () => {
    expect(await of('a.', 'b.', 'a.')).toEqual({
      addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
      asked: ['a.', 'b.'],
    });
  });

  it.each(['none.', 'half.'])('are not known when those of %s are not', async (name) => {
    expect((await of('a.', name)).addresses).toBeUndefined();
  });

  it('are not known of no name, and not looked for when there are too many', async () => {
    expect((await of()).addresses).toBeUndefined();
    expect(await of(...Array.from({ length: 401 }, (_, i) => `n${i}.`))).toEqual({
      addresses: undefined,
      asked: [],
    });
  });
});
