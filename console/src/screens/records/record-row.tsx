// One record in the table. The row handles the keys; its buttons do the same for pointers and screen readers.

import { Component, type ComponentChildren } from 'preact';
import { Badge } from '../../parts/status.tsx';
import { records } from '../../words/records.ts';
import type { RowProblem } from './batch.ts';
import type { Conflict } from './conflicts.ts';
import { readableName } from './punycode.ts';
import { RowButtons } from './row-buttons.tsx';
import { noteOf, type RowNote } from './row-note.ts';
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
  readonly warnings: readonly string[] | undefined;
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
  const say = records;
  const isWrong = (problems?.length ?? 0) > 0 || conflict !== undefined;
  const note = noteOf(props);
  const classes = [
    'rec-row',
    state,
    isFirst && 'first',
    isWrong && 'wrong',
    isChosen && 'chosen',
    note && 'noted',
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot be rendered in parts
    // biome-ignore lint/a11y/useKeyWithClickEvents: the table handles the keys of all rows
    <div
      class={classes.filter(Boolean).join(' ')}
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
        {canEdit &&
          (isManaged ? (
            <span class="rec-choose" />
          ) : (
            <label class="rec-choose">
              <input
                type="checkbox"
                aria-label={say.choose(typed.name, typed.type)}
                tabIndex={tabIndex}
                checked={isChosen}
                onChange={(event) => props.actions.choose(row, event.currentTarget.checked)}
              />
            </label>
          ))}
        <span class="rec-name ltr" title={record?.name ?? typed.name}>
          {readableName(typed.name === '' ? '@' : typed.name)}
        </span>
      </Cell>
      <Cell kind="type">{typed.type}</Cell>
      <Cell kind="value">
        <span class="rec-value ltr" title={typed.destination}>
          {summaryOf(typed)}
        </span>
        {typed.comment !== '' && (
          <span class="rec-comment" title={typed.comment}>
            {typed.comment}
          </span>
        )}
      </Cell>
      <Cell kind="ttl" title={typed.ttl === '' ? undefined : say.seconds(typed.ttl)}>
        {ttlText(typed.ttl)}
      </Cell>
      <Cell kind="proxied">
        {canBeProxied(typed.type) && (
          <Badge tone={typed.proxied ? 'good' : ''}>{typed.proxied ? say.proxied : say.direct}</Badge>
        )}
      </Cell>
      <Cell kind="actions">
        <StateBadge
          state={state}
          isManaged={isManaged}
          isConflict={conflict !== undefined}
          isWrong={isWrong}
        />
        <RowButtons
          row={row}
          canEdit={canEdit}
          isManaged={isManaged}
          tabIndex={tabIndex}
          actions={props.actions}
        />
      </Cell>
      {note !== undefined && <NoteCell note={note} />}
    </div>
  );
}

interface StateProps {
  readonly state: Row['state'];
  readonly isManaged: boolean;
  readonly isConflict: boolean;
  readonly isWrong: boolean;
}

function StateBadge({ state, isManaged, isConflict, isWrong }: StateProps) {
  const say = records;
  if (isManaged) return <Badge>{say.managed}</Badge>;
  if (isWrong) return <Badge tone="bad">{isConflict ? say.conflict : say.problem}</Badge>;
  if (state === 'same') return null;
  return <Badge tone={state === 'deleted' ? 'bad' : 'warn'}>{say.states[state]}</Badge>;
}

/** The first message, on one line. The row's editor shows all of them. */
function NoteCell({ note: { tone, messages } }: { readonly note: RowNote }) {
  const [first = ''] = messages;
  const text = records.noteText(first, messages.length - 1);
  return (
    <Cell kind="note">
      <span class={`rec-note ${tone}`} title={messages.join('\n')}>
        <strong>{records.noteTones[tone]}</strong> {text}
      </span>
    </Cell>
  );
}

interface CellProps {
  readonly kind: string;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}

function Cell({ kind, title, children }: CellProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: rows take the focus
    <div class={`rec-cell rec-cell-${kind}`} role="gridcell" title={title}>
      {children}
    </div>
  );
}
