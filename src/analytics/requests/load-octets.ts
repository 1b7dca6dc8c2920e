// The traffic of many domains at once, each in hours of its own.

import { type Asking, ask } from './asked-requests.ts';

interface OwnHours {
  readonly domainId: number;
  readonly from: Date;
  readonly until: Date;
}

const seconds = (at: Date) => at.getTime() / 1000;

/** By domain, each of which is given once; one without traffic is missing. */
export async function loadOctets(asking: Asking, domains: readonly OwnHours[]): Promise<Map<number, number>> {
  if (domains.length === 0) return new Map();
  const rows = await ask<{ id: number | string; sent: number | string }>(
    asking,
    `select domain_id as id, sum(octets) as sent from requests_hourly
     where domain_id in {ids:Array(UInt64)}
       and hour >= toDateTime({first:UInt32}, 'UTC') and hour < toDateTime({last:UInt32}, 'UTC')
       and toUnixTimestamp(hour) >= transform(domain_id, {ids:Array(UInt64)}, {from:Array(UInt32)}, toUInt32(4294967295))
       and toUnixTimestamp(hour) < transform(domain_id, {ids:Array(UInt64)}, {until:Array(UInt32)}, toUInt32(0))
     group by id`,
    {
      ids: domains.map(({ domainId }) => domainId),
      from: domains.map(({ from }) => seconds(from)),
      until: domains.map(({ until }) => seconds(until)),
      first: Math.min(...domains.map(({ from }) => seconds(from))),
      last: Math.max(...domains.map(({ until }) => seconds(until))),
    },
  );
  return new Map(rows.map(({ id, sent }) => [Number(id), Number(sent)]));
}
