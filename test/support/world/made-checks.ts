// Checks like those of workers, of an internet described in a few words: everything from the evaluation on is real.

import type { Evidence, ServerEvidence } from '../../../src/checks/delegation/evidence.ts';
import { type Name, parentOf, parseName, ROOT } from '../../../src/dns/name.ts';
import type { CheckKind } from '../../../src/jobs/jobs.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { type CheckOutcome, createChecker } from '../../../workers/jobs/check-delegation.ts';
import { RULES } from './made-claims.ts';

/** Answer of both servers of the parent: NS names with a trailing dot, or an outcome without any. */
export type Said = readonly string[] | Exclude<ServerEvidence['outcome'], 'referral' | 'answer'>;

export function evidenceOf(domain: Name, said: Said, more: Partial<ServerEvidence> = {}): Evidence {
  const parent = parentOf(domain);
  const at = Date.now();
  const isSilent = said === 'timeout';
  const servers = ['a.nic.test.', 'b.nic.test.'].map(
    (server, i): ServerEvidence => ({
      server: parseName(server),
      address: `192.0.2.${53 + i}`,
      transport: 'udp',
      askedAt: at,
      rttMs: isSilent ? undefined : 12,
      outcome: typeof said === 'string' ? said : 'referral',
      rcode: isSilent ? undefined : said === 'nxdomain' ? 3 : 0,
      aa: isSilent ? undefined : typeof said === 'string',
      ns: typeof said === 'string' ? [] : said.map((name) => parseName(name)),
      ttl: isSilent ? undefined : 3600,
      ds: [],
      error: isSilent ? 'no answer' : undefined,
      ...more,
    }),
  );
  return {
    domain,
    parent,
    walk: [
      { zone: ROOT, servers: [parseName('a.root.')], cached: true },
      { zone: parent, servers: servers.map(({ server }) => server), cached: false },
    ],
    servers,
    parentAddresses: 2,
    failure: undefined,
    queries: 2,
    startedAt: at,
    finishedAt: at + 12,
  };
}

export async function makeCheck(
  db: Database,
  job: { readonly domainId: number; readonly kind?: CheckKind; readonly request?: string },
  observed: (domain: Name) => Evidence,
  { sendsMail = false }: { readonly sendsMail?: boolean } = {},
): Promise<CheckOutcome> {
  let outcome: CheckOutcome | undefined;
  const check = createChecker({
    db,
    resolver: { observeDelegation: async (domain) => observed(domain) },
    rules: RULES,
    breaker: { isFrozen: () => false, count: () => {} },
    sendsMail,
    onOutcome: (came) => {
      outcome = came;
    },
  });
  await check({ kind: 'manual', ...job }, { signal: new AbortController().signal, again: false });
  return outcome as CheckOutcome;
}
