// A chart over time with its table.

import type { ComponentChildren } from 'preact';
import { type Column, Table } from '../../parts/table.tsx';
import { count } from '../../parts/time.tsx';
import { traffic } from '../../words/traffic.ts';
import { Plot } from './plot.tsx';
import { bucketText } from './series.ts';

const text = traffic;

interface OverTimeProps {
  readonly title: string;
  readonly bucket: 'minute' | 'hour' | 'day';
  readonly timestamps: readonly string[];
  readonly lines: readonly { readonly label: string; readonly counts: readonly number[] }[];
  readonly children?: ComponentChildren;
}

export function OverTime({ title, bucket, timestamps, lines, children }: OverTimeProps) {
  const columns: readonly Column<number>[] = [
    {
      key: 'time',
      title: text.time,
      cell: (i) => bucketText(timestamps[i] ?? '', bucket),
      text: (i) => bucketText(timestamps[i] ?? '', bucket),
    },
    ...lines.map(({ label, counts }) => ({
      key: label,
      title: label,
      isNumber: true,
      cell: (i: number) => count(counts[i] ?? 0),
      text: (i: number) => counts[i],
    })),
  ];
  const newestFirst = timestamps.map((_, i) => timestamps.length - 1 - i);
  return (
    <section class="card traffic-time">
      <h2>{title}</h2>
      {children}
      <Plot title={title} bucket={bucket} timestamps={timestamps} lines={lines} />
      <details>
        <summary>{text.asTable(title)}</summary>
        <Table caption={title} columns={columns} rows={newestFirst} keyOf={(i) => timestamps[i] ?? i} />
      </details>
    </section>
  );
}
