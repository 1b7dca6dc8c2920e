// Earlier holds of the breaker.

import type { components } from '../../../api/admin-schema.d.ts';
import { Table } from '../../../parts/table.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';

type Trip = components['schemas']['BreakerTrip'];

export function TripTable({ trips }: { readonly trips: readonly Trip[] }) {
  const say = operator.registries;
  if (trips.length === 0) return <p class="quiet">{say.noTrips}</p>;
  const causeOf = ({ frozen_by, reason = '' }: Trip) =>
    frozen_by === undefined ? say.trip.checks : say.trip.hand(frozen_by, reason);
  const zoneOf = ({ parent }: Trip) => parent ?? say.overall;
  return (
    <Table<Trip>
      caption={say.trips}
      rows={trips}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'since',
          title: say.trip.since,
          cell: ({ since }) => <Time at={since} />,
          text: ({ since }) => since,
        },
        { key: 'parent', title: say.trip.parent, cell: zoneOf, text: zoneOf },
        { key: 'cause', title: say.trip.cause, cell: causeOf, text: causeOf },
        {
          key: 'turned',
          title: say.trip.turned,
          isNumber: true,
          cell: ({ turned }) => count(turned),
          text: ({ turned }) => turned,
        },
        {
          key: 'checked',
          title: say.trip.checked,
          isNumber: true,
          cell: ({ checked }) => count(checked),
          text: ({ checked }) => checked,
        },
        {
          key: 'released',
          title: say.trip.released,
          cell: ({ released_at }) => <Time at={released_at} />,
          text: ({ released_at }) => released_at,
        },
        {
          key: 'by',
          title: say.trip.by,
          cell: ({ released_by }) => released_by ?? '—',
          text: ({ released_by }) => released_by,
        },
        {
          key: 'ended',
          title: say.trip.ended,
          cell: ({ ended_at }) => <Time at={ended_at} />,
          text: ({ ended_at }) => ended_at,
        },
      ]}
    />
  );
}
