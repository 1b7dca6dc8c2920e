// One zone in three variants with the same records: unsigned, and signed by BIND's dnssec-signzone with NSEC and with
// NSEC3. Every server serves them unchanged. The queries are those of the zone of many names; some are replaced by queries
// for missing types and for names below a cut.

import { createHash } from 'node:crypto';
import { signWith } from '../../test/support/dnssec/signing-programs.ts';
import { randomFrom } from '../../test/support/random/random-zones.ts';
import { makeOneZone } from './one-zone.ts';
import type { ZoneSet, ZoneText } from './zone-set.ts';

const CUTS = 100;
const NODATA_PART = 0.05;
const REFERRAL_PART = 0.05;
/** ECDSAP256SHA256 (RFC 6605). */
const ALGORITHM = 13;
/** RFC 9276 §3.1. */
const NSEC3 = { iterations: 0, salt: '', optOut: false };

/** First labels of the three variants. They have the same length, so that the answers have too. */
export type Signing = 'bare' | 'nsec' | 'hash';

export interface SignedZones {
  readonly set: ZoneSet;
  /** Lines for dnsperf. */
  questions(zone: Signing, count: number, seed: number): string;
  /** Nonexistent names directly below the apex, almost all different. */
  absentNames(zone: Signing, count: number, seed: number): string;
}

export async function makeSignedZones(names: number): Promise<SignedZones> {
  const plain = (label: Signing): ZoneText => {
    const [zone] = makeOneZone(label, names).set.zones as [ZoneText];
    return { apex: zone.apex, text: zone.text + cutLines() };
  };
  const style = { name: 'bench', program: 'dnssec-signzone', algorithm: ALGORITHM } as const;
  const zones = [
    plain('bare'),
    await signWith(style, plain('nsec')),
    await signWith({ ...style, nsec3: NSEC3 }, plain('hash')),
  ];
  // Each run of the signer makes different signatures, and sets with different contents need different names.
  const digest = createHash('sha256')
    .update(zones.map(({ text }) => text).join(''))
    .digest('hex');
  const records = zones.reduce((sum, { text }) => sum + text.split('\n').length, 0);
  return {
    set: { name: `signed_${names}_${digest.slice(0, 8)}`, zones, records },
    questions(label, count, seed) {
      const random = randomFrom(seed);
      const { questions, hostName } = makeOneZone(label, names);
      const lines = questions(count, seed)
        .trimEnd()
        .split('\n')
        .map((line) => {
          const kind = random();
          if (kind < NODATA_PART) return `${hostName(Math.floor(random() * (names / 2)))} MX`;
          if (kind < NODATA_PART + REFERRAL_PART)
            return `www.cut${Math.floor(random() * CUTS)}.${label}.test A`;
          return line;
        });
      return `${lines.join('\n')}\n`;
    },
    absentNames(label, count, seed) {
      const random = randomFrom(seed);
      const name = () => `${Math.floor(random() * 2 ** 32).toString(36)}-absent.${label}.test A`;
      return `${Array.from({ length: count }, name).join('\n')}\n`;
    },
  };
}

/** Every second cut leads to a signed zone. */
function cutLines(): string {
  const lines: string[] = [];
  for (let i = 0; i < CUTS; i++) {
    lines.push(`cut${i} NS ns1.cut${i}`, `ns1.cut${i} A 203.0.113.${i}`);
    if (i % 2 === 0) lines.push(`cut${i} DS ${i + 1} ${ALGORITHM} 2 ${i.toString(16).padStart(64, '0')}`);
  }
  return `${lines.join('\n')}\n`;
}
