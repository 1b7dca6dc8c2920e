// The table of records. Only visible rows are rendered. Arrow keys move, Enter opens a row, Delete marks it.

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { records } from '../../words/records.ts';
import type { Problems } from './batch.ts';
import type { Conflict } from './conflicts.ts';
import { deleteRows, type RowKey, undoRow } from './draft.ts';
import { RecordRow, type RowActions } from './record-row.tsx';
import { RowEditor } from './row-editor.tsx';
import { noteOf } from './row-note.ts';
import type { RowWarnings } from './row-warnings.ts';
import type { Row } from './rows.ts';
import { useDrawnRows } from './use-drawn-rows.ts';
import type { Editor } from './use-editor.ts';
import { useFocusKept } from './use-focus-kept.ts';
import { useNarrow } from './use-narrow.ts';
import { useOpenHeights } from './use-open-heights.ts';
import { heightOf, offsetOf } from './window-rows.ts';

const WIDE_ROW_PX = 42;
const NARROW_ROW_PX = 76;
/** Height of the line with a warning or an error. */
const NOTE_PX = 26;
const PAGE_ROWS = 12;

interface TableProps {
  readonly editor: Editor;
  readonly rows: readonly Row[];
  readonly problems: Problems;
  readonly warnings: RowWarnings;
  readonly conflicts: ReadonlyMap<RowKey, Conflict>;
  readonly open: ReadonlySet<RowKey>;
  readonly setOpen: (key: RowKey, isOpen: boolean) => void;
  readonly chosen: ReadonlySet<RowKey>;
  readonly choose: (key: RowKey, isChosen: boolean) => void;
  /** A row to scroll to, set after rows were added. */
  readonly goTo: { readonly key: RowKey } | undefined;
}

export function RecordTable(props: TableProps) {
  const { editor, rows, problems, warnings, conflicts, open, setOpen, chosen, choose, goTo } = props;
  const table = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow(table);
  const [active, setActive] = useState<RowKey>();
  const focusWanted = useRef(false);
  const rowHeight = isNarrow ? NARROW_ROW_PX : WIDE_ROW_PX;
  const indexOf = useMemo(() => new Map(rows.map(({ key }, i) => [key, i])), [rows]);
  const heights = useOpenHeights();

  const shownFor = (key: RowKey) => ({
    problems: problems.get(key),
    warnings: warnings.get(key),
    conflict: conflicts.get(key),
  });
  const extraOf = (key: RowKey) => {
    if (open.has(key)) return heights.of(key, rowHeight * 3) - rowHeight;
    return noteOf(shownFor(key)) === undefined ? 0 : NOTE_PX;
  };
  const tall = [...new Set([...open, ...problems.keys(), ...warnings.keys(), ...conflicts.keys()])]
    .flatMap((key) => {
      const index = indexOf.get(key);
      return index === undefined ? [] : [{ index, extra: extraOf(key) }];
    })
    .sort((a, b) => a.index - b.index);
  const list = { count: rows.length, rowHeight, tall };

  const activeIndex = (active === undefined ? undefined : indexOf.get(active)) ?? 0;
  const drawn = useDrawnRows({
    body,
    list,
    rows,
    always: [
      ...[...open].flatMap((key) => indexOf.get(key) ?? []),
      ...(rows.length > 0 ? [activeIndex] : []),
    ],
  });

  useFocusKept(body);
  const focusRow = useCallback((key: RowKey) => {
    focusWanted.current = true;
    setActive(key);
  }, []);
  useLayoutEffect(() => {
    if (!focusWanted.current) return;
    const row = body.current?.querySelector<HTMLElement>(`[data-key="${active}"]`);
    if (row === null || row === undefined) return;
    focusWanted.current = false;
    const first = open.has(active ?? '') ? row.querySelector<HTMLElement>('input, select, textarea') : null;
    (first ?? row).focus();
    row.scrollIntoView({ block: 'nearest' });
  });
  useEffect(() => {
    if (goTo !== undefined) focusRow(goTo.key);
  }, [goTo]);

  const close = (key: RowKey) => {
    setOpen(key, false);
    focusRow(key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const row = rows[activeIndex];
    if (event.key === 'Escape' && row !== undefined && open.has(row.key)) return close(row.key);
    if (target.getAttribute('role') !== 'row' || row === undefined) return;
    const to = moves(event.key, activeIndex, rows.length);
    const next = to === undefined ? undefined : rows[to];
    if (next !== undefined) focusRow(next.key);
    else if (event.key === 'Enter' || event.key === 'F2') openRow(row);
    else if (event.key === 'Delete' && editor.canEdit) remove(row);
    else if (event.key === ' ' && editor.canEdit) choose(row.key, !chosen.has(row.key));
    else return;
    event.preventDefault();
  };
  const openRow = (row: Row) => {
    setOpen(row.key, true);
    focusRow(row.key);
  };
  const remove = (row: Row) => editor.change((draft) => deleteRows(draft, [row.key], editor.byId));
  const undo = (row: Row) => editor.change((draft) => undoRow(draft, row.key));
  const latest = useRef<RowActions>(undefined as never);
  latest.current = { open: openRow, remove, undo, choose: (row, isChosen) => choose(row.key, isChosen) };
  const actions = useMemo<RowActions>(
    () => ({
      open: (row) => latest.current.open(row),
      remove: (row) => latest.current.remove(row),
      undo: (row) => latest.current.undo(row),
      choose: (row, isChosen) => latest.current.choose(row, isChosen),
    }),
    [],
  );

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot be rendered in parts
    <div
      ref={table}
      class={isNarrow ? 'rec-table narrow' : 'rec-table'}
      role="grid"
      aria-label={records.table}
      aria-rowcount={rows.length + 1}
      aria-colcount={6}
      aria-multiselectable={editor.canEdit}
      onKeyDown={onKeyDown}
    >
      <Head />
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div
        class="rec-body"
        role="rowgroup"
        ref={body}
        style={{ height: `${heightOf(list)}px` }}
        onFocusIn={(event) => {
          const key = (event.target as HTMLElement).closest<HTMLElement>('[data-key]')?.dataset.key;
          if (key !== undefined && key !== active) setActive(key);
        }}
      >
        {drawn.map((index) => {
          const row = rows[index] as Row;
          const isOpen = open.has(row.key);
          const shared = {
            row,
            index,
            top: offsetOf(list, index),
            isActive: index === activeIndex,
            ...shownFor(row.key),
          };
          return isOpen ? (
            <RowEditor
              key={row.key}
              {...shared}
              editor={editor}
              measure={heights.measure}
              onDone={() => close(row.key)}
              onRemove={() => remove(row)}
              onUndo={() => undo(row)}
            />
          ) : (
            <RecordRow
              key={row.key}
              {...shared}
              height={rowHeight + extraOf(row.key)}
              canEdit={editor.canEdit}
              isChosen={chosen.has(row.key)}
              actions={actions}
            />
          );
        })}
      </div>
    </div>
  );
}

function Head() {
  const { columns } = records;
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: a header cannot be focused
    <div class="rec-row rec-head" role="row" aria-rowindex={1}>
      {[columns.name, columns.type, columns.value, columns.ttl, columns.proxied, columns.actions].map(
        (title) => (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: as above
          <span key={title} role="columnheader">
            {title}
          </span>
        ),
      )}
    </div>
  );
}

function moves(key: string, from: number, count: number): number | undefined {
  const to = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    PageDown: from + PAGE_ROWS,
    PageUp: from - PAGE_ROWS,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined ? undefined : Math.min(count - 1, Math.max(0, to));
}
