// How much each queue of the workers has to do.

import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Empty } from '../../../parts/failure.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { Badge } from '../../../parts/status.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { count, now } from '../../../parts/time.tsx';
import { words } from '../../../words/words.ts';
import { Freshness, useEvery10s } from '../fresh.tsx';
import { conditionOf, findTroubles } from './find-troubles.ts';
import { TroubleList } from './trouble-list.tsx';

type Queue = components['schemas']['Queue'];
/** A page of the API, not of the console: it opens beside it. */
const BOARD = '/console/queues/';
const TONES = { away: 'bad', stuck: 'bad', dead: 'warn', fine: 'good' } as const;
const say = words.operator.queues;

function counted(key: 'waiting' | 'active' | 'delayed' | 'dead'): Column<Queue> {
  return {
    key,
    title: say.columns[key],
    isNumber: true,
    cell: ({ [key]: amount }) => (amount === undefined ? '—' : count(amount)),
    text: ({ [key]: amount }) => amount,
  };
}

export default function QueuesPage() {
  const queues = useLoad('queues', (signal) => dataOf(admin.GET('/admin/queues', { signal })));
  useEvery10s(queues.reload);
  return (
    <div class="stack">
      <div class="head">
        <h1>{words.operator.pages.queues}</h1>
        <div class="actions">
          <Freshness of={queues} />
        </div>
      </div>
      <p class="quiet">
        {say.text}{' '}
        <a href={BOARD} target="_blank" rel="noopener">
          {say.board}
        </a>
      </p>
      <Loading of={queues}>
        {(rows) => {
          const troubles = findTroubles({ queues: rows }, now.value);
          if (rows.length === 0) {
            return (
              <Empty title={say.none}>
                <p>{say.noneText}</p>
              </Empty>
            );
          }
          return (
            <>
              {troubles.length > 0 && (
                <TroubleList troubles={troubles} onMended={() => void queues.reload()} />
              )}
              <Table<Queue>
                caption={words.operator.pages.queues}
                rows={rows}
                keyOf={({ name }) => name}
                columns={[
                  {
                    key: 'name',
                    title: say.columns.name,
                    cell: ({ name }) => name,
                    text: ({ name }) => name,
                  },
                  {
                    key: 'state',
                    title: say.columns.state,
                    cell: (queue) => (
                      <Badge tone={TONES[conditionOf(queue)]}>{say.states[conditionOf(queue)]}</Badge>
                    ),
                    text: (queue) => say.states[conditionOf(queue)],
                  },
                  counted('waiting'),
                  counted('active'),
                  counted('delayed'),
                  counted('dead'),
                ]}
              />
            </>
          );
        }}
      </Loading>
    </div>
  );
}
