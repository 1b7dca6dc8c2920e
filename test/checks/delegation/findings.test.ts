import { expect, it } from 'vitest';
import { FINDING_CODES, FINDINGS, type Finding } from '../../../src/checks/delegation/findings.ts';
import { parseName } from '../../../src/dns/name.ts';
import { DS, names, nameserverSets } from '../../support/world/check-evidence.ts';

const parent = parseName('co.uk.');
const target = names('ns1.a ns2.a');
const [taken, left] = [nameserverSets('ns1.a ns2.a'), nameserverSets('ns1.b ns2.b | ns1.c ns2.c')];
const shown = (observed: string) => ({ parent, observed: names(observed), target });

it.each<[Finding, string]>([
  [
    FINDINGS.NS_MISSING(shown('ns1.a')),
    'At your registrar, add ns2.a, so that exactly ns1.a and ns2.a are set; the zone co.uk shows ns1.a.',
  ],
  [
    FINDINGS.NS_EXTRA(shown('ns1.a ns2.a old1.x old2.x')),
    'At your registrar, remove old1.x and old2.x; keep exactly ns1.a and ns2.a.',
  ],
  [
    FINDINGS.NS_MIXED(shown('ns1.b ns2.b')),
    'Name servers of several sets do not serve a domain together: at your registrar, set exactly ns1.a and ns2.a and remove ns1.b and ns2.b.',
  ],
  [
    FINDINGS.NS_FOREIGN(shown('old1.x')),
    'The zone co.uk delegates this domain to old1.x, none of them ours. To use it here, at your registrar replace them with exactly ns1.a and ns2.a.',
  ],
  [
    FINDINGS.NOT_DELEGATED(shown('')),
    'The zone co.uk does not delegate this domain: at your registrar, set its name servers to exactly ns1.a and ns2.a.',
  ],
  [
    FINDINGS.NOT_REGISTERED({ parent, observed: [], target: undefined }),
    'This domain does not exist in the zone co.uk: register or renew it, or have its hold lifted, and at your registrar set its name servers to exactly the name servers that are shown for it here.',
  ],
  [
    FINDINGS.ALIAS(shown('')),
    'In the zone co.uk this domain is an alias (CNAME or DNAME): whoever edits that zone must replace the alias with NS records for exactly ns1.a and ns2.a.',
  ],
  [
    FINDINGS.STALE_DS([DS, Uint8Array.of(0, 7, 8, 2), DS], true),
    'At your registrar, turn DNSSEC off or remove the DS records (key tags: 7, 12345): no key of ours matches them, and resolvers that validate refuse this domain until they are gone.',
  ],
  [
    FINDINGS.STALE_DS([DS], false),
    'Before you set our name servers at your registrar, turn DNSSEC off or remove the DS records (key tags: 12345) there: no key of ours matches them, and resolvers that validate would refuse this domain.',
  ],
  [
    FINDINGS.PRESET_DELEGATION(taken, left),
    'This domain was delegated to us before it was added to this account, and is not answered until it is plain that you may change that: at your registrar, set exactly ns1.b and ns2.b instead of ns1.a and ns2.a, or ask for approval.',
  ],
  [
    FINDINGS.PRESET_DELEGATION(taken, []),
    'This domain was delegated to us before it was added to this account, and is not answered until it is plain that you may change that: at your registrar, remove ns1.a and ns2.a until a check has seen that they are gone, or ask for approval.',
  ],
])('$code', ({ message }, sentence) => {
  expect(message).toBe(sentence);
});

it('nothing is to be changed at the registrar for what others must mend', () => {
  for (const { message } of [
    FINDINGS.PARENT_UNREACHABLE(parseName('.')),
    FINDINGS.PARENT_LAME(parent),
    FINDINGS.PARENT_FAILS(parent, names('p1.uk p2.uk p3.uk')),
    FINDINGS.PARENTS_DISAGREE(parent),
    FINDINGS.UNCONFIRMED(parent),
    FINDINGS.MOVES_HELD(),
  ])
    expect(message).toMatch(
      /\. There is nothing to change at your registrar for this; the check will be repeated\.$/,
    );
  for (const { message } of [FINDINGS.WALK_LIMIT(parent), FINDINGS.DELEGATION_LOOP(parent)])
    expect(message).toMatch(/zone co\.uk.*whoever runs the zones/);
});

it('servers that fail are named', () => {
  const { names: named, message } = FINDINGS.PARENT_FAILS(parent, names('p1.uk p2.uk p3.uk'));
  expect(message).toContain('p1.uk, p2.uk and p3.uk');
  expect(named).toHaveLength(3);
});

it('every code but the one of the store has a sentence', () => {
  expect(Object.keys(FINDINGS).sort()).toEqual(FINDING_CODES.filter((code) => code !== 'CLAIM_LOST').sort());
});
