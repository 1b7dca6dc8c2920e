// Numbers of jobs in each queue.

import type { components } from '../../../api/admin-schema.d.ts';
import { Badge } from '../../../parts/status.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { count } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { conditionOf } from './find-problems.ts';

type Queue = components['schemas']['Queue'];
const TONES = { away: 'bad', stuck: 'bad', dead: 'warn', fine: 'good' } as const;
const say = operator.queues;

function counted(key: 'waiting' | 'active' | 'delayed' | 'dead'): Column<Queue> {
  return {
    key,
    title: say.columns[key],
    isNumber: true,
    cell: ({ [key]: amount }) => (amount === undefined ? '—' : count(amount)),
    text: ({ [key]: amount }) => amount,
  };
}

export function QueueTable({ queues }: { readonly queues: readonly Queue[] }) {
  return (
    <Table<Queue>
      caption={words.frame.operatorPages.queues}
      rows={queues}
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
          cell: (queue) => <Badge tone={TONES[conditionOf(queue)]}>{say.states[conditionOf(queue)]}</Badge>,
          text: (queue) => say.states[conditionOf(queue)],
        },
        counted('waiting'),
        counted('active'),
        counted('delayed'),
        counted('dead'),
      ]}
    />
  );
}
