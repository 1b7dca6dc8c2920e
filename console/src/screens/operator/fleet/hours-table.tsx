// Results of checks by parent zone and hour.

import type { components } from '../../../api/admin-schema.d.ts';
import { serverNowMs } from '../../../api/clock.ts';
import { Sparkline } from '../../../parts/sparkline.tsx';
import { Table } from '../../../parts/table.tsx';
import { count } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { turnedByHour } from './node-rates.ts';
import { shareText } from './share-text.ts';

type RegistryHours = components['schemas']['RegistryHours'];
const say = operator.registries;
/** Minimum scale of a curve, so that a few lost domains do not look like a peak. */
const LEAST_TOP = 0.1;

export function HoursTable({ registries }: { readonly registries: readonly RegistryHours[] }) {
  if (registries.length === 0) return <p class="quiet">{say.noHours}</p>;
  const nameOf = ({ parent }: RegistryHours) => parent ?? say.overall;
  const sumOf = ({ hours }: RegistryHours, of: 'checked' | 'turned') =>
    hours.reduce((sum, hour) => sum + hour[of], 0);
  const shares = new Map(registries.map((row) => [row, turnedByHour(row.hours, serverNowMs())]));
  const sharesOf = (row: RegistryHours) => shares.get(row) ?? [];
  const top = Math.max(LEAST_TOP, ...[...shares.values()].flat());
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
              values={sharesOf(row)}
              top={top}
              label={say.turnedByHour(shareText(Math.max(...sharesOf(row))))}
            />
          ),
          text: (row) =>
            sharesOf(row)
              .map((share) => share.toFixed(3))
              .join(' '),
        },
      ]}
    />
  );
}
