// What checks saw below each zone, hour by hour.

import type { components } from '../../../api/admin-schema.d.ts';
import { Sparkline } from '../../../parts/sparkline.tsx';
import { Table } from '../../../parts/table.tsx';
import { count } from '../../../parts/time.tsx';
import { words } from '../../../words/words.ts';
import { turnedByHour } from './node-rates.ts';

type RegistryHours = components['schemas']['RegistryHours'];
const say = words.operator.registries;

export function HoursTable({ registries }: { readonly registries: readonly RegistryHours[] }) {
  if (registries.length === 0) return <p class="quiet">{say.noHours}</p>;
  const nameOf = ({ parent }: RegistryHours) => parent ?? say.overall;
  const sumOf = ({ hours }: RegistryHours, of: 'checked' | 'turned') =>
    hours.reduce((sum, hour) => sum + hour[of], 0);
  return (
    <Table<RegistryHours>
      caption={say.hours}
      rows={registries}
      keyOf={nameOf}
      columns={[
        { key: 'parent', title: say.columns.parent, cell: nameOf, text: nameOf },
        {
          key: 'checked',
          title: say.columns.checked,
          isNumber: true,
          cell: (row) => count(sumOf(row, 'checked')),
          text: (row) => sumOf(row, 'checked'),
        },
        {
          key: 'turned',
          title: say.columns.turned,
          isNumber: true,
          cell: (row) => count(sumOf(row, 'turned')),
          text: (row) => sumOf(row, 'turned'),
        },
        {
          key: 'hours',
          title: say.byHour,
          cell: (row) => (
            <Sparkline
              counts={turnedByHour(row.hours, Date.now())}
              label={say.turnedByHour(count(sumOf(row, 'turned')))}
            />
          ),
          text: (row) => turnedByHour(row.hours, Date.now()).join(' '),
        },
      ]}
    />
  );
}
