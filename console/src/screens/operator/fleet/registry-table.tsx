// Results of checks in the last 15 minutes by parent zone.

import { Badge } from '../../../parts/status.tsx';
import { Table } from '../../../parts/table.tsx';
import { count } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import type { RegistryRow } from './registry-rows.ts';
import { ShareBar } from './share-bar.tsx';

const TONES = { held: 'bad', many: 'warn', some: '', fine: 'good' } as const;
const say = operator.registries;

export function RegistryTable({ rows }: { readonly rows: readonly RegistryRow[] }) {
  const nameOf = ({ parent }: RegistryRow) => parent ?? say.overall;
  return (
    <Table<RegistryRow>
      caption={say.caption}
      rows={rows}
      keyOf={nameOf}
      columns={[
        { key: 'parent', title: say.columns.parent, cell: nameOf, text: nameOf },
        {
          key: 'state',
          title: say.columns.state,
          cell: ({ condition }) => <Badge tone={TONES[condition]}>{say.states[condition]}</Badge>,
          text: ({ condition }) => say.states[condition],
        },
        {
          key: 'checked',
          title: say.columns.checked,
          isNumber: true,
          cell: ({ checked }) => count(checked),
          text: ({ checked }) => checked,
        },
        {
          key: 'turned',
          title: say.columns.turned,
          isNumber: true,
          cell: ({ turned }) => count(turned),
          text: ({ turned }) => turned,
        },
        {
          key: 'share',
          title: say.columns.share,
          isNumber: true,
          cell: ({ share, condition }) => (
            <ShareBar share={share} isMuch={condition === 'held' || condition === 'many'} />
          ),
          text: ({ share }) => share.toFixed(3),
        },
      ]}
    />
  );
}
