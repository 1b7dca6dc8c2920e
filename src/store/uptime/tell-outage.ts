// Tells the owner of a domain, and its webhooks, that an incident began or ended. What flaps is told a few times an hour.

import { sql } from 'kysely';
import { errorPct } from '../../edge/uptime/judge-minute.ts';
import type { Database } from '../postgres/database.ts';
import { orderEvent } from '../webhooks/order-event.ts';
import type { NotedIncident } from './save-uptime.ts';

/** Beginnings that are told within an hour for one domain; those after them are noted only. An end is told if its beginning was. */
const MOST_AN_HOUR = 3;

interface Outage {
  readonly domainId: number;
  readonly incident: NotedIncident;
  /** False: there is no mail server, and no mail is ordered. */
  readonly sendsMail: boolean;
}

/** Call it in the transaction that notes the incident. False: there were enough. */
export async function tellBegin(trx: Database, { domainId, incident, sendsMail }: Outage): Promise<boolean> {
  const { rows } = await sql<{ isLast: boolean }>`
    update uptime_incidents i set told = true from (
      select count(*) as told from uptime_incidents
      where domain_id = ${domainId} and told and noted_at > clock_timestamp() - interval '1 hour') lately
    where i.id = ${incident.id} and lately.told < ${MOST_AN_HOUR}
    returning lately.told + 1 = ${MOST_AN_HOUR} as "isLast"`.execute(trx);
  const [told] = rows;
  if (told === undefined) return false;
  const collapse = told.isLast ? ' If it goes on like this, we tell you no more about it for an hour.' : '';
  const message = `Since ${at(incident.startedAt)} your origins do not answer as they should: ${errorPct(incident)} % of the requests that edges passed on to them failed.${collapse}`;
  await tell(trx, { domainId, incident, sendsMail }, message);
  return true;
}

export async function tellEnd(trx: Database, outage: Outage): Promise<boolean> {
  const { incident } = outage;
  if (!incident.told || incident.endedAt === null) return false;
  const message = `Your origins answer again. They did not from ${at(incident.startedAt)} to ${at(incident.endedAt)}: ${errorPct(incident)} % of the requests that edges passed on to them failed.`;
  await tell(trx, outage, message);
  return true;
}

async function tell(
  trx: Database,
  { domainId, incident, sendsMail }: Outage,
  message: string,
): Promise<void> {
  const { id, startedAt, endedAt } = incident;
  const data = {
    incident: {
      id,
      started_at: startedAt.toISOString(),
      ...(endedAt !== null && { ended_at: endedAt.toISOString() }),
      error_pct: errorPct(incident),
    },
  };
  const event = endedAt === null ? 'outage.begun' : 'outage.ended';
  await orderEvent(trx, { domainId, event, data });
  if (sendsMail)
    await sql`
      select order_outage_mail(${domainId}::bigint, ${message}::text, ${endedAt !== null}::boolean)`.execute(
      trx,
    );
}

function at(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
