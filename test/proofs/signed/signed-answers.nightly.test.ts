// Random zones as BIND and ldns sign them: every answer of the reference proves what it says, to a validator that knows only
// the keys, and to the one that delegations are checked with.

import { afterAll, describe, expect, it } from 'vitest';
import { ValidationBudget } from '../../../src/checks/validation/budget.ts';
import { validateDs, validateReply } from '../../../src/checks/validation/validate-reply.ts';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import {
  foldCase,
  isWithin,
  type Name,
  parentOf,
  parseName,
  printName,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { type Answer, findAnswer } from '../../../src/zone/find-answer.ts';
import { findFaults } from '../../../src/zone/signing/check-signed.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { replyOf } from '../../support/dnssec/answer-records.ts';
import { Bogus } from '../../support/dnssec/bogus.ts';
import { DebianSigner, type SignerName } from '../../support/dnssec/debian-signers.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { type AskedFor, judgeSignedReply } from '../../support/dnssec/judge-signed-reply.ts';
import { signHalfTheCuts } from '../../support/dnssec/sign-half-the-cuts.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { pick, randomFrom, randomQuestion, randomZone } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { reply } from '../../support/world/zone-exchange.ts';
import { recordsOf, zonesOf } from '../../support/zone/zone-text.ts';

const APEX = 'o.test.';
const NSEC3 = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: false } as const;
const STYLES: readonly (readonly [string, DenialStyle])[] = [
  ['NSEC', { kind: 'nsec' }],
  ['NSEC3', NSEC3],
  ['NSEC3 with salt and 50 iterations', { ...NSEC3, salt: Uint8Array.of(0xab, 0xcd), iterations: 50 }],
  ['NSEC3 with opt-out', { ...NSEC3, optOut: true, iterations: 1 }],
];

interface Signed {
  readonly zone: Zone;
  readonly records: readonly ZoneRecord[];
  readonly keys: readonly Uint8Array[];
  readonly at: number;
}

function zoneWith(records: readonly ZoneRecord[]): Signed {
  const built = buildZone(parseName(APEX), records);
  if (built.kind === 'refused') throw new Error(built.problems.map(({ message }) => message).join('; '));
  const { zone } = built;
  const keys = zone.nodes.get(zone.apex)?.sets.get(TYPE.DNSKEY)?.rdata ?? [];
  return { zone, records, keys, at: Math.floor(Date.now() / 1000) };
}

function judge({ zone, keys, at }: Signed, asked: AskedFor, answer: Answer): string {
  try {
    return judgeSignedReply(replyOf(answer), asked, { apex: zone.apex, keys, at });
  } catch (error) {
    if (!(error instanceof Bogus)) throw error;
    // What opt-out leaves out below a wildcard cannot be proven (RFC 5155 §7.1, §7.2.2).
    const wildcard = /^(\*\..*): no record covers its hash$/.exec(error.message)?.[1];
    if (wildcard !== undefined && zone.nodes.has(parseName(wildcard))) return 'unprovable';
    throw new Error(
      `${printName(asked.name)} ${typeMnemonic(asked.type)} (${answer.kind}): ${error.message}`,
    );
  }
}

/** The validator of delegation checks; it takes questions for NS and DS. Undefined: it has no opinion. */
function secondOpinion(
  { zone, keys, at }: Signed,
  { name, type }: AskedFor,
  answer: Answer,
): string | undefined {
  const read = keys.map((rdata) => ({
    tag: keyTag(rdata),
    algorithm: rdata[3] as number,
    publicKey: rdata.subarray(4),
    rdata,
  }));
  const { answers, authorities, aa, rcode } = replyOf(answer);
  const message = reply({ answers, authorities, aa, rcode });
  const validating = { at, budget: new ValidationBudget() };
  const from = { zone: zone.apex, keys: read };
  if (isAtEmptyWildcard(zone, name)) return undefined; // it does not know that a wildcard may be an empty non-terminal
  const isPlain = answer.answer.length === 0;
  if (type === TYPE.DS && (answer.kind === 'answer' || answer.kind === 'referral') && name !== zone.apex) {
    const cut = answer.authority.find((set) => set.type === TYPE.NS)?.owner ?? name;
    return isPlain || answer.answer[0]?.type === TYPE.DS
      ? kindOf(validateDs(message, cut, from, validating))
      : undefined;
  }
  if (!isPlain || type !== TYPE.NS) return undefined;
  if (answer.kind === 'nodata' || answer.kind === 'nxdomain')
    return kindOf(validateReply(message, { kind: answer.kind, name }, from, validating));
  if (answer.kind !== 'referral') return undefined;
  const cut = answer.authority[0]?.owner as Name;
  return kindOf(validateReply(message, { kind: 'referral', cut }, from, validating));
}

function isAtEmptyWildcard({ nodes }: Zone, name: Name): boolean {
  let encloser = name;
  while (!nodes.has(encloser)) encloser = parentOf(encloser);
  const wildcard = encloser === name ? undefined : wildcardBelow(encloser);
  return wildcard !== undefined && nodes.get(wildcard)?.sets.size === 0;
}

function kindOf(found: { kind: string; reason?: string }): string {
  return found.reason === undefined ? found.kind : `${found.kind}: ${found.reason}`;
}

describe.each<SignerName>(['dnssec-signzone', 'ldns-signzone'])('zones that %s signs', (program) => {
  const isMissing = !isInstalled(program);
  const signer = isMissing ? undefined : new DebianSigner(program, APEX);
  afterAll(() => signer?.remove());

  it.skipIf(isMissing).each(STYLES)(
    `with %s${isMissing ? ` (skipped: needs ${program})` : ''}`,
    { timeout: 600_000 },
    (_, denial) => {
      const random = randomFrom(Number(process.env.ZONEFLEET_SEED ?? 23));
      const seen = new Map<string, number>();
      const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
      for (let round = 0; round < scale(100, 5); round++) {
        const { text } = randomZone(random, APEX, 5 + Math.floor(random() * 60), ['other.test.']);
        const signed = zoneWith(
          (signer as DebianSigner).sign(
            signHalfTheCuts(random, parseName(APEX), recordsOf(text, APEX)),
            denial,
          ),
        );
        const { zone, records, at } = signed;
        const faults = [...findFaults(zone.apex, records, at)].filter((fault) => fault !== undefined);
        expect(faults.filter(({ code }) => code !== 'DENIAL_TTL')).toEqual([]);
        const names = [...zone.nodes.keys()];
        for (let i = 0; i < scale(500, 120); i++) {
          const { name, type } = randomQuestion(random, zone, names);
          const asked = { name: foldCase(name), type: pick(random, [type, type, TYPE.NS, TYPE.DS]) };
          if (!isWithin(asked.name, zone.apex)) continue;
          const answer = findAnswer(zonesOf(zone), asked.name, asked.type, { dnssecOk: true });
          const judged = judge(signed, asked, answer);
          count(judged);
          const second = secondOpinion(signed, asked, answer);
          if (second === undefined || judged === 'unprovable') continue;
          count(`second: ${second}`);
          expect(`${printName(asked.name)} ${typeMnemonic(asked.type)} ${second}`).toMatch(
            / (secure|insecure)$/,
          );
        }
      }
      expect(seen.get('secure')).toBeGreaterThan(scale(5000, 250)); // opt-out leaves half of the proofs open
      expect(seen.get('second: secure')).toBeGreaterThan(50);
      const optsOut = denial.kind === 'nsec3' && denial.optOut;
      expect(seen.has('insecure')).toBe(optsOut);
    },
  );
});
