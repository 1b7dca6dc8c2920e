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
    'At your registrar, add the missing nameserver ns2.a, so that exactly ns1.a and ns2.a are set. At the moment the zone co.uk lists ns1.a.',
  ],
  [
    FINDINGS.NS_EXTRA(shown('ns1.a ns2.a old1.x old2.x')),
    'At your registrar, remove the nameservers old1.x and old2.x; keep exactly ns1.a and ns2.a.',
  ],
  [
    FINDINGS.NS_MIXED(shown('ns1.b ns2.b')),
    'The nameservers of this domain belong to several sets, which do not work together. At your registrar, set exactly ns1.a and ns2.a and remove ns1.b and ns2.b.',
  ],
  [
    FINDINGS.NS_FOREIGN(shown('old1.x')),
    'This domain uses other nameservers than ours: the zone co.uk lists old1.x. To use the domain here, replace them at your registrar with exactly ns1.a and ns2.a.',
  ],
  [
    FINDINGS.NOT_DELEGATED(shown('')),
    'The zone co.uk lists no nameservers for this domain. At your registrar, set exactly ns1.a and ns2.a.',
  ],
  [
    FINDINGS.NOT_REGISTERED({ parent, observed: [], target: undefined }),
    'This domain does not exist in the zone co.uk: it is not registered, has expired, or is on hold. Register or renew it, or ask your registrar about the hold, and set its nameservers there to exactly the nameservers that are shown for it here.',
  ],
  [
    FINDINGS.ALIAS(shown('')),
    'In the zone co.uk this domain is an alias of another name (CNAME or DNAME). Whoever manages that zone must replace the alias with NS records for exactly ns1.a and ns2.a.',
  ],
  [
    FINDINGS.STALE_DS([DS, Uint8Array.of(0, 7, 8, 2), DS], true),
    'At your registrar, turn DNSSEC off or remove the DS records (key tags: 7, 12345): they do not belong to our nameservers, and until they are gone, many visitors cannot reach this domain.',
  ],
  [
    FINDINGS.STALE_DS([DS], false),
    'Before you set our nameservers at your registrar, turn DNSSEC off or remove the DS records (key tags: 12345) there: they do not belong to our nameservers, and many visitors could not reach this domain.',
  ],
  [
    FINDINGS.PRESET_DELEGATION(taken, left),
    'This domain used our nameservers before it was added to this account, so we do not answer for it until you show that you control it: at your registrar, set exactly ns1.b and ns2.b instead of ns1.a and ns2.a, or ask for approval.',
  ],
  [
    FINDINGS.PRESET_DELEGATION(taken, []),
    'This domain used our nameservers before it was added to this account, so we do not answer for it until you show that you control it: at your registrar, remove ns1.a and ns2.a until a check has seen that they are gone, or ask for approval.',
  ],
])('$code', ({ message }, sentence) => {
  expect(message).toBe(sentence);
});

it('what others must repair asks for no change at the registrar', () => {
  for (const { message } of [
    FINDINGS.PARENT_UNREACHABLE(parseName('.')),
    FINDINGS.PARENT_LAME(parent),
    FINDINGS.PARENT_FAILS(parent, names('p1.uk p2.uk p3.uk')),
    FINDINGS.PARENTS_DISAGREE(parent),
    FINDINGS.UNCONFIRMED(parent),
    FINDINGS.MOVES_HELD(),
  ])
    expect(message).toMatch(
      /\. There is nothing to change at your registrar for this; we check again automatically\.$/,
    );
  for (const { message } of [FINDINGS.WALK_LIMIT(parent), FINDINGS.DELEGATION_LOOP(parent)])
    expect(message).toMatch(/zone co\.uk.*[Ww]hoever manages the zones/);
});

it('servers that fail are named', () => {
  const { names: named, message } = FINDINGS.PARENT_FAILS(parent, names('p1.uk p2.uk p3.uk'));
  expect(message).toContain('p1.uk, p2.uk and p3.uk');
  expect(named).toHaveLength(3);
});

it('every code but the one of the store has a sentence', () => {
  expect(Object.keys(FINDINGS).sort()).toEqual(FINDING_CODES.filter((code) => code !== 'CLAIM_LOST').sort());
});
