// The nameservers with the figures that they report.

import type { components } from '../../../api/admin-schema.d.ts';
import { Empty } from '../../../parts/failure.tsx';
import { Badge } from '../../../parts/status.tsx';
import { Table } from '../../../parts/table.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { IMAGE_LOOK, imageShare } from './find-problems.ts';
import type { Rates } from './node-rates.ts';
import { ShareBar } from './share-bar.tsx';

type Node = components['schemas']['Node'];
const say = operator.fleet;

type State = keyof typeof say.states;
const TONES = { live: 'good', loading: 'warn', silent: 'bad', left: '' } as const;
/** Nodes with problems come first. */
const ORDER: readonly State[] = ['silent', 'loading', 'live', 'left'];

const stateOf = ({ state, loaded }: Node): State => (state === 'live' && !loaded ? 'loading' : state);
const unservedOf = ({ unserved_zones }: Node) =>
  unserved_zones === undefined ? say.over : count(unserved_zones);

interface NodeTableProps {
  readonly nodes: readonly Node[];
  /** By node name. */
  readonly rates: ReadonlyMap<string, Rates>;
}

export function NodeTable({ nodes, rates }: NodeTableProps) {
  if (nodes.length === 0) {
    return (
      <Empty title={say.noNodes}>
        <p>{say.noNodesText}</p>
      </Empty>
    );
  }
  const rateOf = ({ name }: Node, of: keyof Rates) => {
    const rate = rates.get(name)?.[of];
    return rate === undefined ? '—' : count(Math.round(rate));
  };
  const rows = [...nodes].sort(
    (a, b) => ORDER.indexOf(stateOf(a)) - ORDER.indexOf(stateOf(b)) || a.name.localeCompare(b.name),
  );
  return (
    <Table<Node>
      caption={say.nodes}
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        { key: 'name', title: say.columns.name, cell: ({ name }) => name, text: ({ name }) => name },
        {
          key: 'state',
          title: say.columns.state,
          cell: (node) => <Badge tone={TONES[stateOf(node)]}>{say.states[stateOf(node)]}</Badge>,
          text: (node) => say.states[stateOf(node)],
        },
        {
          key: 'zones',
          title: say.columns.zones,
          isNumber: true,
          cell: ({ zones }) => count(zones),
          text: ({ zones }) => zones,
        },
        {
          key: 'position',
          title: say.columns.position,
          isNumber: true,
          cell: ({ position }) => (position === undefined ? '—' : count(position)),
          text: ({ position }) => position,
        },
        {
          key: 'lag',
          title: say.columns.lag,
          isNumber: true,
          cell: ({ lag_seconds }) => (lag_seconds === undefined ? '—' : say.lag(lag_seconds)),
          text: ({ lag_seconds }) => lag_seconds,
        },
        {
          key: 'unserved',
          title: say.columns.unserved,
          isNumber: true,
          cell: unservedOf,
          text: unservedOf,
        },
        {
          key: 'held',
          title: say.columns.held,
          isNumber: true,
          cell: ({ held }) => count(held?.zones ?? 0),
          text: ({ held }) => held?.zones ?? 0,
        },
        {
          key: 'answered',
          title: say.columns.answered,
          isNumber: true,
          cell: (node) => rateOf(node, 'answered'),
          text: ({ name }) => rates.get(name)?.answered.toFixed(1),
        },
        {
          key: 'dropped',
          title: say.columns.dropped,
          isNumber: true,
          cell: (node) => rateOf(node, 'dropped'),
          text: ({ name }) => rates.get(name)?.dropped.toFixed(1),
        },
        {
          key: 'image',
          title: say.columns.image,
          isNumber: true,
          cell: (node) => {
            const share = imageShare(node);
            return share === undefined ? '—' : <ShareBar share={share} isMuch={share >= IMAGE_LOOK} />;
          },
          text: (node) => imageShare(node)?.toFixed(3),
        },
        {
          key: 'version',
          title: say.columns.version,
          cell: ({ version, commit }) => <span title={commit}>{version || '—'}</span>,
          text: ({ version }) => version,
        },
        {
          key: 'uptime',
          title: say.columns.uptime,
          isNumber: true,
          cell: ({ state, uptime_seconds }) => (state === 'left' ? '—' : say.duration(uptime_seconds)),
          text: ({ uptime_seconds }) => uptime_seconds,
        },
        {
          key: 'seen',
          title: say.columns.seen,
          cell: ({ seen_at }) => <Time at={seen_at} />,
          text: ({ seen_at }) => seen_at,
        },
      ]}
    />
  );
}
