// A table of counts by kind, with bars for their shares.

import { useEffect, useRef } from 'preact/hooks';
import { type Column, Table } from '../../parts/table.tsx';
import { count } from '../../parts/time.tsx';
import { traffic } from '../../words/traffic.ts';

export interface Share {
  readonly key: string;
  readonly label: string;
  readonly count: number;
}

interface SharesProps {
  readonly title: string;
  /** Heading of the rows' names. */
  readonly kind: string;
  readonly rows: readonly Share[];
  /** Total of which the rows are a part. */
  readonly total: number;
  readonly isEstimate?: boolean;
  readonly hint?: string;
  readonly empty: string;
}

export function Shares({ title, kind, rows, total, isEstimate = false, hint, empty }: SharesProps) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  const columns: readonly Column<Share>[] = [
    {
      key: 'label',
      title: kind,
      cell: ({ label, count: amount }) => (
        <div class="traffic-name">
          <span>{label}</span>
          <Bar part={amount / most} />
        </div>
      ),
      text: ({ label }) => label,
    },
    {
      key: 'count',
      title: isEstimate ? traffic.estimate : traffic.count,
      isNumber: true,
      cell: ({ count: amount }) => (isEstimate ? `≈ ${count(amount)}` : count(amount)),
      text: ({ count: amount }) => amount,
    },
    ...(total > 0
      ? [
          {
            key: 'share',
            title: traffic.share,
            isNumber: true,
            cell: ({ count: amount }: Share) => traffic.percent(amount / total),
            text: ({ count: amount }: Share) => traffic.percent(amount / total),
          },
        ]
      : []),
  ];
  return (
    <section class="card">
      <h2>{title}</h2>
      {hint !== undefined && <p class="quiet">{hint}</p>}
      {rows.length === 0 ? (
        <p>{empty}</p>
      ) : (
        <Table caption={title} columns={columns} rows={rows} keyOf={({ key }) => key} />
      )}
    </section>
  );
}

function Bar({ part }: { readonly part: number }) {
  const bar = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (bar.current !== null) bar.current.style.width = `${Math.max(1, part * 100)}%`;
  }, [part]);
  return <span ref={bar} class="traffic-bar" aria-hidden="true" />;
}
