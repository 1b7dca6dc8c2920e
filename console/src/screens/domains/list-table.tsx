// The rows of the list. On a narrow screen each row is a card whose cells are labelled by `data-label`.

import { domainPath, Link } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { copyTable } from '../../parts/copy-table.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { StatusBadge } from '../../parts/status.tsx';
import { count, exact, short, Time } from '../../parts/time.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { delegationLine } from './domain-query.ts';
import { type DomainRow, nameInPath } from './domain-row.ts';
import { sentenceOf } from './sentence.ts';
import type { Queries, Sparklines } from './use-sparklines.ts';

type Chosen = ReadonlyMap<number, DomainRow>;

interface ListTableProps {
  readonly rows: readonly DomainRow[];
  readonly sparklines: Sparklines;
  /** Absent if rows cannot be selected. */
  readonly chosen: Chosen | undefined;
  readonly onChoose: (chosen: Chosen) => void;
}

export function ListTable({ rows, sparklines, chosen, onChoose }: ListTableProps) {
  const { columns } = domains;
  const areAllChosen = chosen !== undefined && rows.every(({ id }) => chosen.has(id));
  const toggle = (toggled: readonly DomainRow[], isOn: boolean) => {
    const next = new Map(chosen);
    for (const row of toggled) {
      if (isOn) next.set(row.id, row);
      else next.delete(row.id);
    }
    onChoose(next);
  };
  const copy = async () => {
    const lines = rows.map((row) => [
      row.name,
      row.status,
      sentenceOf(delegationLine(row)),
      row.records,
      exact(row.changed_at),
      sparklines.byId.get(row.id)?.total,
    ]);
    const head = [
      columns.name,
      columns.status,
      columns.delegation,
      columns.records,
      columns.changed,
      columns.queries,
    ];
    await copyTable(head, lines);
  };
  return (
    <>
      <table class="domains-list">
        <caption class="only-read">{words.frame.domains}</caption>
        <thead>
          <tr>
            {chosen !== undefined && (
              <th scope="col" class="domains-choose">
                <label>
                  <input
                    type="checkbox"
                    aria-label={domains.chooseAll}
                    checked={areAllChosen}
                    onChange={(event) => toggle(rows, event.currentTarget.checked)}
                  />
                  <span class="domains-choose-all">{domains.chooseAll}</span>
                </label>
              </th>
            )}
            <th scope="col">{columns.name}</th>
            <th scope="col">{columns.status}</th>
            <th scope="col">{columns.delegation}</th>
            <th scope="col" class="number">
              {columns.records}
            </th>
            <th scope="col">{columns.changed}</th>
            <th scope="col" class="number">
              {columns.queries}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.id}
              row={row}
              queries={sparklines.byId.get(row.id)}
              isChosen={chosen?.has(row.id)}
              onToggle={(isOn) => toggle([row], isOn)}
            />
          ))}
        </tbody>
      </table>
      <p class="row spread quiet">
        <Button kind="bare" onClick={copy}>
          {words.copy.table}
        </Button>
        {sparklines.isAway && <span role="status">{domains.queriesAway}</span>}
      </p>
    </>
  );
}

interface RowProps {
  readonly row: DomainRow;
  readonly queries: Queries | undefined;
  readonly isChosen: boolean | undefined;
  readonly onToggle: (isOn: boolean) => void;
}

function Row({ row, queries, isChosen, onToggle }: RowProps) {
  const { columns, modes, roles } = domains;
  const line = delegationLine(row);
  const path = domainPath(nameInPath(row), row.status === 'active' ? 'records' : 'delegation');
  return (
    <tr>
      {isChosen !== undefined && (
        <td class="domains-choose">
          <input
            type="checkbox"
            aria-label={domains.choose(row.name_unicode)}
            checked={isChosen}
            onChange={(event) => onToggle(event.currentTarget.checked)}
          />
        </td>
      )}
      <th scope="row" class="domains-name">
        <Link to={path}>{row.name_unicode}</Link>
        {row.name !== row.name_unicode && <code class="quiet">{row.name}</code>}
        {(row.dns_mode === 'external' || row.my_role !== 'owner') && (
          <span class="quiet">
            {[
              row.dns_mode === 'external' && modes.external,
              row.my_role !== 'owner' && domains.sharedAs(roles[row.my_role]),
            ]
              .filter(Boolean)
              .join(' · ')}
          </span>
        )}
      </th>
      <td data-label={columns.status}>
        <StatusBadge status={row.status} />
        {row.suspended && <span class="quiet"> {domains.suspended}</span>}
      </td>
      <td data-label={columns.delegation} title={line.servers.join(', ')}>
        {sentenceOf(line)}
        {row.status === 'active' && row.findings.length > 0 && (
          <span class="domains-findings" title={row.findings.map(({ message }) => message).join('\n')}>
            {domains.findings(row.findings.length)}
          </span>
        )}
      </td>
      <td data-label={columns.records} class="number">
        {count(row.records)}
      </td>
      <td data-label={columns.changed}>
        <Time at={row.changed_at} />
      </td>
      <td data-label={columns.queries} class="number">
        {queries === undefined ? (
          <span class="quiet">—</span>
        ) : (
          <span class="domains-queries" title={count(queries.total)}>
            <Sparkline
              values={queries.counts}
              top={Math.max(1, ...queries.counts)}
              label={domains.queriesIn24h(count(queries.total))}
            />
            {short(queries.total)}
          </span>
        )}
      </td>
    </tr>
  );
}
