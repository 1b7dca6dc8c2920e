// Orders of `zonefleet zone notify`. The thread carries out each of them once, or again if it is restarted within a minute.

import type { Connection } from '../../store/postgres/connection.ts';
import { loadNotifyOrders } from '../../store/transfers/load-notify-orders.ts';
import type { ChangedZone } from './messages.ts';

export class NotifyOrders {
  #known = new Set<number>();

  /** Returns the zones of new orders. */
  async take(connection: Connection): Promise<ChangedZone[]> {
    const orders = await loadNotifyOrders(connection);
    const fresh = orders.filter(({ id }) => !this.#known.has(id));
    this.#known = new Set(orders.map(({ id }) => id));
    return fresh.map(({ zoneId, apex }) => ({ id: zoneId, apex }));
  }
}
