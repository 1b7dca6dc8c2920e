import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FINDING_CODES, FINDINGS, type Finding } from '../../../src/checks/delegation/findings.ts';
import type { VoiceView } from '../../../src/checks/delegation/seen.ts';
import { parseName } from '../../../src/dns/name.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { DS, names } from '../../support/world/check-evidence.ts';

const parent = parseName('co.uk.');
const target = names('ns1.a ns2.a');
const shown = (observed: string) => ({ parent, observed: names(observed), target });

const NOTHING_TO_CHANGE =
  'There is nothing to change at your registrar for this; we check again automatically.';

const TURNS =
  'Another account waits for this name too, so your nameservers and theirs are answered in turn, for registries that look before they delegate.';

const FOUND: readonly Finding[] = [
  FINDINGS.NS_MISSING(shown('ns1.a')),
  FINDINGS.NS_EXTRA(shown('ns1.a ns2.a old1.x old2.x')),
  FINDINGS.NS_MIXED(shown('ns1.b ns2.b')),
  FINDINGS.NS_FOREIGN(shown('old1.x')),
  FINDINGS.NOT_DELEGATED(shown('')),
  FINDINGS.NOT_REGISTERED({ parent, observed: [], target: undefined }),
  FINDINGS.ALIAS(shown('')),
  FINDINGS.STALE_DS([DS, Uint8Array.of(0, 7, 8, 2), DS], true),
  FINDINGS.STALE_DS([DS], false),
  FINDINGS.PRESET_DELEGATION(names('ns1.a ns2.a'), names('ns1.b ns2.b')),
  FINDINGS.PARENT_UNREACHABLE(parseName('.')),
  FINDINGS.PARENT_LAME(parent),
  FINDINGS.PARENT_BOGUS(parent),
  FINDINGS.VALIDATION_LIMIT(parent),
  FINDINGS.ROOT_FAULT(),
  FINDINGS.PARENT_FAILS(parent, names('p1.uk p2.uk p3.uk')),
  FINDINGS.PARENTS_DISAGREE(parent, [
    { by: names('p1.uk'), kind: 'delegation', ns: names('ns1.a ns2.a') },
    { by: names('p2.uk p3.uk'), kind: 'delegation', ns: names('ns1.x') },
    { by: names('p4.uk'), kind: 'nodata', ns: [] },
    { by: names('p5.uk p6.uk'), kind: 'nxdomain', ns: [] },
    { by: names('p7.uk'), kind: 'alias', ns: [] },
  ]),
  FINDINGS.PARENT_SETS_AA(parent),
  FINDINGS.PARENT_HOLDS_CHILD(parent),
  FINDINGS.OWN_ANSWER(parent),
  FINDINGS.UNCONFIRMED(parent),
  FINDINGS.WALK_LIMIT(parent),
  FINDINGS.DELEGATION_LOOP(parent),
  FINDINGS.TRY_LATER(parent),
  FINDINGS.MOVES_HELD(),
  FINDINGS.NAME_IN_USE(target),
  FINDINGS.TAKEOVER_WAITS(),
  FINDINGS.TAKEOVER_SEEN(target),
  FINDINGS.NS_TURN({
    kind: 'now',
    from: Date.UTC(2026, 10, 23, 14, 5),
    until: Date.UTC(2026, 10, 23, 14, 20),
  }),
  FINDINGS.NS_TURN({ kind: 'waits' }),
  FINDINGS.NS_TURN({ kind: 'none' }),
  FINDINGS.NS_UNSTEADY({ count: 3, isMore: false }, target),
  FINDINGS.INNER_DELEGATED([
    { name: parseName('a.shop.com.'), ns: target },
    { name: parseName('b.shop.com.'), ns: [] },
  ]),
  FINDINGS.SETS_SPENT(),
  FINDINGS.PENDING_OVER(target),
  FINDINGS.CLAIM_DISPLACED(),
  FINDINGS.CAME_BACK(),
  FINDINGS.VANTAGES_DISAGREE(parent, { kind: 'delegated', ns: names('ns1.x ns2.x') }, [
    { label: 'ams', word: 'differs', kind: 'unregistered', ns: [] },
  ]),
  FINDINGS.VANTAGES_AWAY(),
  FINDINGS.PREPARE(parseName('_svc-challenge.shop.uk.'), 'svc-verify=x'),
  FINDINGS.PREPARE(parseName('_svc-challenge.shop.uk.'), undefined),
  FINDINGS.CLAIM_LOST(),
];

/** The messages of these findings, in order. */
const SENTENCES = rowsOf(`
At your registrar, add the missing nameserver ns2.a, so that exactly ns1.a and ns2.a are set. At the moment the zone co.uk lists ns1.a.
At your registrar, remove the nameservers old1.x and old2.x; keep exactly ns1.a and ns2.a.
The nameservers of this domain belong to several sets, which do not work together. At your registrar, set exactly ns1.a and ns2.a and remove ns1.b and ns2.b.
This domain uses other nameservers than its own here: the zone co.uk lists old1.x. To use the domain here, replace them at your registrar with exactly ns1.a and ns2.a.
The zone co.uk lists no nameservers for this domain. At your registrar, set exactly ns1.a and ns2.a.
This domain does not exist in the zone co.uk: it is not registered, has expired, or is on hold. Register or renew it, or ask your registrar about the hold, and set its nameservers there to exactly the nameservers that the operator names for it.
In the zone co.uk this domain is an alias of another name (CNAME or DNAME). Whoever manages that zone must replace the alias with NS records for exactly ns1.a and ns2.a.
At your registrar, turn DNSSEC off or remove the DS records (key tags: 7, 12345): they do not belong to our nameservers, and until they are gone, many visitors cannot reach this domain.
Before you set our nameservers at your registrar, turn DNSSEC off or remove the DS records (key tags: 12345) there: they do not belong to our nameservers, and many visitors could not reach this domain.
This domain points at nameservers of ours, but not at yours: at your registrar, set exactly ns1.b and ns2.b instead of ns1.a and ns2.a. Until then we answer for it only with its SOA and NS records.
We could not check this domain, because no nameserver of the zone . (the root) gave a usable answer. ${NOTHING_TO_CHANGE}
We could not check this domain, because the nameservers of the zone co.uk that we asked do not serve that zone. ${NOTHING_TO_CHANGE}
We could not check this domain, because the signatures (DNSSEC) of the zone co.uk are wrong or missing, so its answers may be forged. ${NOTHING_TO_CHANGE}
We could not check this domain: to verify the signatures (DNSSEC) of the zone co.uk takes more work than a check may do. Whoever manages that zone can reduce its keys and signatures.
This domain keeps its status for now, because we cannot verify the signatures of the DNS root at the moment. ${NOTHING_TO_CHANGE}
Some nameservers of the zone co.uk gave no usable answer at one of their addresses or at all: p1.uk, p2.uk and p3.uk. ${NOTHING_TO_CHANGE}
The nameservers of the zone co.uk give different answers for this domain, perhaps because a recent change has not reached all of them yet: p1.uk lists ns1.a and ns2.a; p2.uk and p3.uk list ns1.x; p4.uk says that it has no nameservers; p5.uk and p6.uk say that it does not exist; p7.uk says that it is an alias. ${NOTHING_TO_CHANGE}
The nameservers of the zone co.uk mark the delegation of this domain as an answer of their own (AA); we read it as a delegation, as resolvers do. There is nothing to change at your registrar for this.
The nameservers of the zone co.uk also hold a zone of this domain, and answer from it instead of referring to its nameservers; that zone’s own NS records were compared. Whoever manages those nameservers should remove the zone of this domain there, so that visitors reach ours.
The nameservers of the zone co.uk answer for this domain themselves, so we cannot see whether it was delegated to us. Whoever manages that zone must delegate this domain with NS records there.
So far only one nameserver address of the zone co.uk shows this; the status changes when a second one shows the same. ${NOTHING_TO_CHANGE}
We could not check this domain: to find its nameservers takes more questions or time than a check may use. The check stopped at the zone co.uk; whoever manages the zones from there on can shorten the way.
We could not check this domain: below the zone co.uk, nameservers refer to each other in a circle. Whoever manages the zones there must correct that.
We ended this check early: the nameservers of the zone co.uk took long to answer while we had many slow checks to make. ${NOTHING_TO_CHANGE}
This domain keeps its status for now, because the checks of unusually many domains changed at the same time. ${NOTHING_TO_CHANGE}
Another account uses this name here. It becomes yours when your registrar shows exactly ns1.a and ns2.a; from then on the records of this domain are answered.
Your registrar shows your nameservers. Because another account uses this name here, a second check must see the same at every nameserver of the zone above, at least a minute later. ${NOTHING_TO_CHANGE}
Your registrar shows the nameservers of another account here, and the name passes to it with the next check. If this was not you, secure your account at the registrar now and set exactly ns1.a and ns2.a there.
Your nameservers are answered for this domain from 14:05 to 14:20 UTC. ${TURNS} If that is too short, ask for another turn with “check now”.
Your nameservers are in line to be answered for this domain. ${TURNS} The time of your turn will be shown here.
${TURNS} If your registry wants to see yours first, ask for a turn with “check now”.
Within 24 hours the zone above this domain changed its nameservers 3 times. While they change, some visitors are sent elsewhere: set exactly ns1.a and ns2.a at your registrar and leave them. If you did not change them, secure your account there and ask your registrar.
Inside this domain, names are answered here that are not in your account. They stop when this domain becomes active, unless its records delegate them. To let them go on, add NS records here before you change your registrar: a.shop.com NS ns1.a and ns2.a; b.shop.com.
No nameserver set is left that could prove this domain: each was shown by your registrar before you added the domain, or belongs to another account that waits for this name. Do not set the nameservers that are shown here, since they may bring the name to that account: ask the operator for approval.
This domain waited too long for its nameservers and was disabled. Set exactly ns1.a and ns2.a at your registrar, then enable it again.
Many accounts wait for this name, and this domain waited longest without its nameservers at the registrar, so it was disabled. Enable it again when you have set them.
Your registrar shows your nameservers again, so this domain came back by itself. ${NOTHING_TO_CHANGE}
This domain keeps its status for now: before a status changes we look at the zone co.uk from several places, and they do not see the same. From here: ns1.x and ns2.x; from ams: no such domain. A recent change may not have reached every nameserver of that zone yet. There is nothing to change at your registrar for this; we check again automatically.
This domain keeps its status for now: before a status changes we look from several places, and too few of them could answer. There is nothing to change at your registrar for this; we check again automatically.
Optional: add this TXT record at your present DNS provider first, then all records are answered before you switch: name _svc-challenge.shop.uk, value svc-verify=x
Optional: a TXT record at your present DNS provider lets us answer all records before you switch. Its value has expired: ask for a fresh one (verify), then add it at _svc-challenge.shop.uk.
The zone above this domain now names the nameservers of another account, so the name is that account’s. Your records are kept here. If this was not you, ask your registrar.`).map(
  ([sentence]) => sentence,
);

it('observers elsewhere are named by their labels, and those that saw nothing are left out', () => {
  const seen = (label: string, kind: VoiceView['kind'], ns = ''): VoiceView => ({
    label,
    kind,
    ns: names(ns),
    word: 'differs',
  });
  const views = [
    seen('ams', 'delegated', 'ns1.x ns2.x'),
    seen('fra', 'nothing'),
    seen('lon', 'not_delegated'),
    seen('nyc', 'unregistered'),
    seen('par', 'alias'),
    seen('rom', 'split'),
  ];
  const { message } = FINDINGS.VANTAGES_DISAGREE(undefined, { kind: 'nothing', ns: [] }, views);
  expect(message).toContain(
    'From here: nothing certain; from ams: ns1.x and ns2.x; from lon: no nameservers; from nyc: no such domain; from par: an alias; from rom: different things.',
  );
});

it.each(FOUND.map((finding, i) => ({ ...finding, sentence: SENTENCES[i] })))('$code', ({
  message,
  sentence,
}) => {
  expect(message).toBe(sentence);
});

it('the servers of the parent that fail are named', () => {
  expect(FINDINGS.PARENT_FAILS(parent, names('p1.uk p2.uk p3.uk')).names).toHaveLength(3);
});

it('a sentence names at most eight servers of a set that its owner made long', () => {
  const ns = names(Array.from({ length: 60 }, (_, i) => `n${i}.x`).join(' '));
  const { message } = FINDINGS.PARENTS_DISAGREE(parent, [{ by: names('p1.uk'), kind: 'delegation', ns }]);
  expect(message).toContain('n6.x, n7.x and 52 more');
  expect(message).not.toContain('n8.x');
});

it('eight domains inside are named, and that there are more', () => {
  const inner = Array.from({ length: 9 }, (_, i) => ({ name: parseName(`n${i}.shop.com.`), ns: target }));
  const { message, names: told } = FINDINGS.INNER_DELEGATED(inner);
  expect(told).toHaveLength(8);
  expect(message).toContain('n7.shop.com NS ns1.a and ns2.a; there are more.');
});

it('every code has a sentence in the table above', () => {
  const codes = new Set(FOUND.map(({ code }) => code));
  expect([...codes].sort()).toEqual([...FINDING_CODES].sort());
});

it('every code has a row in docs/operating.md "Delegation checks"', () => {
  const text = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('\n## Delegation checks\n');
  const [, table = ''] = (section.split('\n## ')[0] as string).split('\n| finding | |\n');
  const rows = (table.split('\n\n')[0] as string).split('\n').map((row) => row.split('|')[1] as string);
  const described = rows.flatMap((row) => [...row.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code));
  expect(described.sort()).toEqual([...FINDING_CODES].sort());
});
