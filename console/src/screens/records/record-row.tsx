// One record in the table. Its buttons are for pointers; the row handles the keys.

import { Component } from 'preact';
import { Button } from '../../parts/button.tsx';
import { Badge } from '../../parts/status.tsx';
import { words } from '../../words/words.ts';
import type { RowProblem } from './batch.ts';
import type { Conflict } from './conflicts.ts';
import { readableName } from './punycode.ts';
import type { Row } from './rows.ts';
import { summaryOf } from './summary.ts';
import { ttlText } from './ttl.ts';
import { canBeProxied } from './typed.ts';

export interface SharedRowProps {
  readonly row: Row;
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly problems: readonly RowProblem[] | undefined;
  readonly conflict: Conflict | undefined;
}

interface RecordRowProps extends SharedRowProps {
  readonly height: number;
  readonly canEdit: boolean;
  readonly isChosen: boolean;
  readonly actions: RowActions;
}

/** A stable object, so that rows of unchanged records are not rendered again. */
export interface RowActions {
  readonly choose: (row: Row, isChosen: boolean) => void;
  readonly open: (row: Row) => void;
  readonly remove: (row: Row) => void;
  readonly undo: (row: Row) => void;
}

/** Renders again only if the shown data changes, because scrolling passes thousands of rows. */
export class RecordRow extends Component<RecordRowProps> {
  override shouldComponentUpdate(next: RecordRowProps): boolean {
    const { row, ...others }: RecordRowProps = this.props;
    const isSameRow =
      row.typed === next.row.typed &&
      row.state === next.row.state &&
      row.isFirst === next.row.isFirst &&
      row.record === next.row.record;
    const keys = Object.keys(others) as Exclude<keyof RecordRowProps, 'row'>[];
    return !isSameRow || keys.some((key) => others[key as keyof typeof others] !== next[key]);
  }

  override render() {
    return <ShownRow {...this.props} />;
  }
}

function ShownRow(props: RecordRowProps) {
  const { row, index, top, height, isActive, problems, conflict, canEdit, isChosen } = props;
  const { typed, state, record, isFirst } = row;
  const isManaged = record?.editable === false;
  const tabIndex = isActive ? 0 : -1;
  const say = words.records;
  const isWrong = (problems?.length ?? 0) > 0 || conflict !== undefined;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot be rendered in parts
    // biome-ignore lint/a11y/useKeyWithClickEvents: the table handles the keys of all rows
    <div
      class={`rec-row ${state} ${isFirst ? 'first' : ''} ${isWrong ? 'wrong' : ''} ${isChosen ? 'chosen' : ''}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={canEdit ? isChosen : undefined}
      data-key={row.key}
      tabIndex={tabIndex}
      style={{ top: `${top}px`, height: `${height}px` }}
      onClick={(event) => {
        if ((event.target as HTMLElement).closest('button, input, label, a') !== null) return;
        if (getSelection()?.isCollapsed !== false) props.actions.open(row);
      }}
    >
      <Cell kind="name">
        {canEdit && !isManaged && (
          <label class="rec-choose">
            <input
              type="checkbox"
              tabIndex={tabIndex}
              checked={isChosen}
              onChange={(event) => props.actions.choose(row, event.currentTarget.checked)}
            />
            <span class="only-read">{say.choose(typed.name, typed.type)}</span>
          </label>
        )}
        <span class="rec-name" title={record?.name ?? typed.name}>
          {readableName(typed.name === '' ? '@' : typed.name)}
        </span>
      </Cell>
      <Cell kind="type">{typed.type}</Cell>
      <Cell kind="value">
        <span class="rec-value" title={typed.destination}>
          {summaryOf(typed)}
        </span>
        {typed.comment !== '' && (
          <span class="rec-comment" title={typed.comment}>
            {typed.comment}
          </span>
        )}
      </Cell>
      <Cell kind="ttl">
        <span title={typed.ttl === '' ? undefined : say.seconds(typed.ttl)}>{ttlText(typed.ttl)}</span>
      </Cell>
      <Cell kind="proxied">
        {isManaged ? (
          <Badge>{say.managed}</Badge>
        ) : canBeProxied(typed.type) ? (
          <Badge tone={typed.proxied ? 'good' : ''}>{typed.proxied ? say.proxied : say.direct}</Badge>
        ) : (
          ''
        )}
      </Cell>
      <Cell kind="actions">
        {isWrong ? (
          <Badge tone="bad">{conflict === undefined ? say.problem : say.conflict}</Badge>
        ) : (
          state !== 'same' && <Badge tone={state === 'deleted' ? 'bad' : 'warn'}>{say.states[state]}</Badge>
        )}
        {canEdit && !isManaged && state === 'same' && (
          <Button
            kind="bare"
            tabIndex={tabIndex}
            aria-label={say.deleteOf(typed.name, typed.type)}
            onClick={() => props.actions.remove(row)}
          >
            ✕
          </Button>
        )}
        {canEdit && state !== 'same' && (
          <Button
            kind="bare"
            tabIndex={tabIndex}
            aria-label={say.undoOf(typed.name, typed.type)}
            onClick={() => props.actions.undo(row)}
          >
            ↶
          </Button>
        )}
      </Cell>
    </div>
  );
}

function Cell({ kind, children }: { readonly kind: string; readonly children: preact.ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: rows take the focus
    <div class={`rec-cell rec-cell-${kind}`} role="gridcell">
      {children}
    </div>
  );
}
