// Verifications like those of workers, with given server answers: everything from the evaluation on is real.

import type { TxtEvidence, TxtServerEvidence } from '../../../src/checks/txt/txt-evidence.ts';
import { type Name, parentOf, parseName } from '../../../src/dns/name.ts';
import type { CheckKind } from '../../../src/jobs/jobs.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { createVerifier, type VerifyOutcome } from '../../../workers/jobs/verify-txt.ts';

export const UNVERIFIED_MAX_MS = 28 * 86_400_000;

/** Answer of each server of the zone: TXT records, or an outcome without any. */
export type SaidTxt = readonly string[] | 'nodata' | 'nxdomain' | 'timeout' | 'servfail';

export interface SaidWorld {
  /** One per server. */
  readonly servers: readonly SaidTxt[];
  /** Records of random sibling names. */
  readonly siblings?: readonly string[];
  readonly nameservers?: readonly string[];
  /** Primaries in the SOA of the zone. */
  readonly primaries?: readonly string[];
  /** Nameservers of the delegating zone. */
  readonly above?: readonly string[];
  readonly at?: number;
}

export function txtEvidenceOf(host: Name, said: SaidWorld): TxtEvidence {
  const { servers, siblings = [], above = [], at = Date.now() } = said;
  const names = said.nameservers ?? servers.map((_, i) => `ns${i + 1}.dns.test.`);
  const octets = (values: readonly string[]) => values.map((value) => Buffer.from(value));
  return {
    host,
    links: [
      {
        host,
        zone: parentOf(host),
        nameservers: names.map((name) => parseName(name)),
        delegations: [
          { zone: parentOf(parentOf(host)), nameservers: above.map((name) => parseName(name)), servers: [] },
        ],
        servers: servers.map(
          (one, i): TxtServerEvidence => ({
            server: parseName(names[i % names.length] as string),
            address: `192.0.2.${i + 1}`,
            transport: 'udp',
            askedAt: at,
            rttMs: one === 'timeout' ? undefined : 7,
            outcome: typeof one === 'string' ? one : 'answer',
            values: typeof one === 'string' ? [] : octets(one),
            target: undefined,
            error: one === 'timeout' ? 'no answer' : undefined,
          }),
        ),
        again: [],
        primaries: (said.primaries ?? []).map((name) => parseName(name)),
      },
    ],
    siblings: ['a', 'b', 'c', 'd'].map((label) => ({
      name: parseName(`${label}.sibling.test.`),
      address: '192.0.2.1',
      outcome: siblings.length > 0 ? 'answer' : 'nxdomain',
      targets: [],
      values: octets(siblings),
    })),
    resolvers: [{ address: '198.51.100.53', values: [], error: undefined }],
    failure: undefined,
    queries: servers.length + 6,
    startedAt: at - 20,
    finishedAt: at,
  };
}

interface MadeVerification {
  readonly now?: number;
  readonly unverifiedMaxMs?: number;
  /** True if the breaker holds moves and takeovers. */
  readonly frozen?: boolean;
  readonly sendsMail?: boolean;
}

/** Performs and saves one verification of a domain. `said` is called with the name of the record. */
export async function makeVerification(
  db: Database,
  job: { readonly domainId: number; readonly kind?: CheckKind; readonly request?: string },
  said: (host: Name) => SaidWorld | Promise<SaidWorld>,
  {
    now = Date.now(),
    unverifiedMaxMs = UNVERIFIED_MAX_MS,
    frozen = false,
    sendsMail = false,
  }: MadeVerification = {},
): Promise<VerifyOutcome> {
  let outcome: VerifyOutcome | undefined;
  const verify = createVerifier({
    db,
    resolver: {
      observeTxt: async (host) => txtEvidenceOf(host, { at: now, ...(await said(host)) }),
    },
    unverifiedMaxMs,
    breaker: { isFrozen: () => frozen },
    sendsMail,
    onOutcome: (came) => {
      outcome = came;
    },
    random: () => 0.5,
    now: () => now,
  });
  await verify({ kind: 'manual', ...job }, { signal: new AbortController().signal, again: false });
  return outcome as VerifyOutcome;
}
