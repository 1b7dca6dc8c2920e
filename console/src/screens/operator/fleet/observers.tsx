// The observers in other networks, which confirm status changes.

import type { components } from '../../../api/admin-schema.d.ts';
import { Table } from '../../../parts/table.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';

type Vantage = components['schemas']['Vantage'];

export function Observers({ vantages }: { readonly vantages: readonly Vantage[] }) {
  const say = operator.fleet;
  const advice =
    vantages.length === 0
      ? say.noObservers
      : vantages.length === 1
        ? `${say.observersText} ${say.oneObserver}`
        : say.observersText;
  return (
    <section>
      <h2>{say.observers}</h2>
      <p class="quiet">{advice}</p>
      {vantages.length > 0 && (
        <Table<Vantage>
          caption={say.observers}
          rows={vantages}
          keyOf={({ name }) => name}
          columns={[
            { key: 'name', title: say.observer.name, cell: ({ name }) => name, text: ({ name }) => name },
            {
              key: 'network',
              title: say.observer.network,
              cell: ({ network }) => network,
              text: ({ network }) => network,
            },
            {
              key: 'address',
              title: say.observer.address,
              cell: ({ address }) => address ?? '—',
              text: ({ address }) => address,
            },
            {
              key: 'answers',
              title: say.observer.answers,
              isNumber: true,
              cell: ({ answers }) => count(answers),
              text: ({ answers }) => answers,
            },
            {
              key: 'dropped',
              title: say.observer.dropped,
              isNumber: true,
              cell: ({ dropped }) => count(dropped),
              text: ({ dropped }) => dropped,
            },
            {
              key: 'seen',
              title: say.observer.seen,
              cell: ({ seen_at }) => <Time at={seen_at} />,
              text: ({ seen_at }) => seen_at,
            },
          ]}
        />
      )}
    </section>
  );
}
