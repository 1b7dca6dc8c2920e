// Loads the orders of `zonefleet zone notify` for a node.

import type { Name } from '../../dns/name.ts';
import type { Connection } from '../postgres/connection.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

interface NotifyOrder {
  readonly id: number;
  readonly zoneId: number;
  readonly apex: Name;
}

/** Returns the orders of the last minute, because those with lower ids may commit later. */
export async function loadNotifyOrders(connection: Connection): Promise<NotifyOrder[]> {
  const rows = await connection.query(
    `select o.id, o.zone_id, z.name from notify_orders o join zones z on z.id = o.zone_id
     where o.at > now() - interval '1 minute' order by o.id`,
  );
  return rows.map(([id, zoneId, name]) => ({
    id: id as number,
    zoneId: zoneId as number,
    apex: decodeNameColumn(name as string),
  }));
}
