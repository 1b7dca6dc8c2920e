// Slow API calls, with their routes and accounts.

import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Link } from '../../../app/place.tsx';
import { Empty } from '../../../parts/failure.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { Table } from '../../../parts/table.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { Freshness, useEvery10s } from '../fresh.tsx';

type SlowCall = components['schemas']['SlowCall'];
const say = operator.calls;

export default function CallsPage() {
  const calls = useLoad('slow calls', (signal) => dataOf(admin.GET('/admin/slow-calls', { signal })));
  useEvery10s(calls.reload);
  return (
    <div class="stack">
      <div class="head">
        <h1>{words.frame.operatorPages.calls}</h1>
        <div class="actions">
          <Freshness of={calls} />
        </div>
      </div>
      <p class="quiet">{say.text}</p>
      <Loading of={calls}>{(rows) => (rows.length === 0 ? <None /> : <CallTable calls={rows} />)}</Loading>
    </div>
  );
}

function None() {
  return (
    <Empty title={say.none}>
      <p>{say.noneText}</p>
    </Empty>
  );
}

function CallTable({ calls }: { readonly calls: readonly SlowCall[] }) {
  const routeOf = ({ method, route }: SlowCall) => `${method} ${route}`;
  return (
    <Table<{ readonly place: number; readonly call: SlowCall }>
      caption={words.frame.operatorPages.calls}
      rows={calls.map((call, place) => ({ place, call }))}
      keyOf={({ place }) => place}
      columns={[
        {
          key: 'at',
          title: say.columns.at,
          cell: ({ call }) => <Time at={call.at} />,
          text: ({ call }) => call.at,
        },
        {
          key: 'route',
          title: say.columns.route,
          cell: ({ call }) => <code>{routeOf(call)}</code>,
          text: ({ call }) => routeOf(call),
        },
        {
          key: 'status',
          title: say.columns.status,
          isNumber: true,
          cell: ({ call }) => call.status,
          text: ({ call }) => call.status,
        },
        {
          key: 'took',
          title: say.columns.took,
          isNumber: true,
          cell: ({ call }) => count(call.milliseconds),
          text: ({ call }) => call.milliseconds,
        },
        {
          key: 'account',
          title: say.columns.account,
          cell: ({ call: { user_id: id } }) =>
            id === undefined ? '—' : <Link to={`/operator/accounts/${id}`}>{String(id)}</Link>,
          text: ({ call }) => call.user_id,
        },
      ]}
    />
  );
}
