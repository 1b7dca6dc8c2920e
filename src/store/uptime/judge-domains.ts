// Judges one minute of some domains: what edges counted, against what is suspected, and notes what follows, in one transaction.

import { judgeMinute, type UptimeState } from '../../edge/uptime/judge-minute.ts';
import { isMonitored } from '../../edge/uptime/monitored-hosts.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { loadMonitored, loadWatched, type WatchedDomain } from './load-uptime.ts';
import { beginIncident, endIncident, saveUptimeState } from './save-uptime.ts';
import { tellBegin, tellEnd } from './tell-outage.ts';

export interface HostMinute {
  readonly domainId: number;
  /** In lower case. */
  readonly host: string;
  readonly requests: number;
  readonly failures: number;
}

interface JudgedMinute {
  /** Since 1970. */
  readonly minute: number;
  readonly domainIds: readonly number[];
  /** Of these domains. */
  readonly hosts: readonly HostMinute[];
  /** False: it is too long ago to tell anybody. */
  readonly tells: boolean;
  readonly sendsMail: boolean;
}

export interface Outages {
  readonly begun: number;
  readonly ended: number;
}

export async function judgeDomains(db: Database, judged: JudgedMinute): Promise<Outages> {
  return await inTransaction(db, async (trx) => {
    const { minute, domainIds, hosts } = judged;
    const watched = await loadWatched(trx, domainIds);
    const apexes = new Map(watched.filter((domain) => domain.isMonitored).map(({ id, name }) => [id, name]));
    const seen = hosts.flatMap((each) => {
      const apex = apexes.get(each.domainId);
      return apex === undefined ? [] : [{ ...each, apex }];
    });
    const monitored = await loadMonitored(trx, seen);
    const counted = new Map<number, { requests: number; failures: number }>();
    for (const { domainId, apex, host, requests, failures } of seen) {
      if (!isMonitored(host, apex, monitored.get(domainId) ?? new Map())) continue;
      const sum = counted.get(domainId) ?? { requests: 0, failures: 0 };
      counted.set(domainId, { requests: sum.requests + requests, failures: sum.failures + failures });
    }
    let begun = 0;
    let ended = 0;
    for (const domain of watched) {
      if (domain.judged !== null && domain.judged >= minute) continue; // by a worker that was lost on the way
      const outcome = domain.isMonitored
        ? await judgeOne(trx, domain, { minute, ...(counted.get(domain.id) ?? NOTHING) }, judged)
        : await forget(trx, domain, minute);
      if (outcome === 'begun') begun++;
      if (outcome === 'ended') ended++;
    }
    return { begun, ended };
  });
}

const NOTHING = { requests: 0, failures: 0 };

async function judgeOne(
  trx: Database,
  { id: domainId, rules, state, outageAlerts }: WatchedDomain,
  minute: { readonly minute: number; readonly requests: number; readonly failures: number },
  { tells, sendsMail }: JudgedMinute,
): Promise<'begun' | 'ended' | undefined> {
  const next = judgeMinute(state, minute, rules);
  if (next.state === undefined && state === undefined) return undefined;
  if (next.state === state) return undefined;
  const begun =
    next.began === true && next.state?.kind === 'incident'
      ? await beginIncident(trx, { domainId, ...next.state })
      : undefined;
  const ended =
    next.ended === undefined
      ? undefined
      : await endIncident(trx, { domainId, at: next.ended.at, counted: next.ended });
  await saveUptimeState(trx, domainId, minute.minute, next.state satisfies UptimeState);
  const told = { domainId, sendsMail };
  if (begun !== undefined && tells && outageAlerts) await tellBegin(trx, { ...told, incident: begun });
  if (ended !== undefined && outageAlerts) await tellEnd(trx, { ...told, incident: ended });
  return begun !== undefined ? 'begun' : ended !== undefined ? 'ended' : undefined;
}

/** Of a domain that is monitored no more: an incident that goes on ends, and nobody is told that the origins are well. */
async function forget(
  trx: Database,
  { id: domainId, state }: WatchedDomain,
  minute: number,
): Promise<'ended' | undefined> {
  if (state === undefined) return undefined;
  const ended = await endIncident(trx, { domainId, at: minute });
  await saveUptimeState(trx, domainId, minute, undefined);
  return ended === undefined ? undefined : 'ended';
}
