// The records of a domain: edited in place, and saved together as one change.

import './records.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useDraft } from '../../app/drafts.ts';
import { copyTable } from '../../parts/copy-table.ts';
import { Failure, Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { quickAdd } from '../../words/quick-add.ts';
import { records } from '../../words/records.ts';
import { Arrival } from './arrival.tsx';
import { NO_PROBLEMS } from './batch.ts';
import { ChosenBar } from './chosen-bar.tsx';
import { addRow, deleteRows, isEmpty, type RowKey } from './draft.ts';
import { EmptyRecords } from './empty-records.tsx';
import { QUICK_ADD_ID, QuickAddLine } from './quick-add-line.tsx';
import { RecordTable } from './record-table.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import { warningsByRow } from './row-warnings.ts';
import { NO_FILTER, type Row, rowsOf } from './rows.ts';
import { SaveBar } from './save-bar.tsx';
import { Toolbar, useFilter } from './toolbar.tsx';
import type { Typed } from './typed.ts';
import { useCheck } from './use-check.ts';
import { useEditor } from './use-editor.ts';
import { useLive } from './use-live.ts';
import { useSave } from './use-save.ts';
import { useZonePaste } from './use-zone-paste.ts';
import { WarningList } from './warning-list.tsx';

export default function RecordsScreen() {
  const editor = useEditor();
  const save = useSave(editor);
  const { draft, canEdit, loaded, sorted, byId, conflicts } = editor;
  const checked = useCheck(editor.domain, draft, canEdit && !save.isUnanswered && !save.isBusy);
  const [filter, setFilter] = useFilter();
  const [open, setOpenKeys] = useState<ReadonlySet<RowKey>>(new Set());
  const [chosen, setChosen] = useState<ReadonlySet<RowKey>>(new Set());
  const [line, setLine] = useDraft(`quick-add ${editor.domain}`, '');
  const paste = useZonePaste(canEdit, (pasted) => {
    setLine(pasted);
    document.getElementById(QUICK_ADD_ID)?.focus();
  });
  const [goTo, setGoTo] = useState<{ readonly key: RowKey }>();
  const rows = useMemo(
    () => rowsOf(sorted, draft, filter),
    [sorted, draft, filter.text, filter.type, filter.proxied, filter.isChangedOnly],
  );
  const problems = save.problems === NO_PROBLEMS ? checked.problems : save.problems;
  const warnings = useMemo(
    () => warningsByRow([...checked.warnings, ...save.warnings], rows, editor.domain),
    [checked.warnings, save.warnings, rows, editor.domain],
  );
  const conflictByKey = useMemo(() => new Map(conflicts.map((each) => [each.key, each])), [conflicts]);
  const typesThere = useMemo(() => new Set(sorted.map(({ type }) => type)), [sorted]);
  useLive(editor.domain, save.saved?.changeId, () => {
    if (!save.isBusy) void editor.refresh();
  });
  useUndoKeys(editor.undo, editor.redo);

  const setOpen = (key: RowKey, isOpen: boolean) => setOpenKeys(withKey(open, key, isOpen));
  const goToRow = (key: RowKey) => {
    setOpenKeys(withKey(open, key, true));
    setGoTo({ key });
  };
  const add = (typed: Partial<Typed> = {}) => {
    editor.change((before) => addRow(before, typed));
    goToRow(`n${draft.made + 1}`);
  };
  const wrongKeys = new Set([...problems.keys(), ...conflictByKey.keys()]);
  const showWrong = () => {
    const first =
      rows.find(({ key }) => wrongKeys.has(key)) ??
      rowsOf(sorted, draft, NO_FILTER).find(({ key }) => wrongKeys.has(key));
    if (first === undefined) return save.review(); // the record no longer exists: the dialog shows it
    if (!rows.includes(first)) setFilter(NO_FILTER);
    goToRow(first.key);
  };
  const gone = conflicts.filter(({ kind }) => kind === 'deleted').length;

  return (
    <div class="rec">
      <Loading of={loaded}>
        {() => (
          <>
            {save.saved !== undefined && (
              <Arrival domain={editor.domain} changeId={save.saved.changeId} sentMs={save.saved.sentMs} />
            )}
            <WarningList warnings={save.warnings} />
            {save.isUnanswered && !save.isBusy && !isEmpty(draft) && (
              <Note tone="warn">{records.unanswered}</Note>
            )}
            {!save.isReviewing && <Failure error={save.error} />}
            {gone > 0 && <Note tone="warn">{records.goneMeanwhile(gone)}</Note>}
            <Toolbar
              domain={editor.domain}
              canEdit={canEdit}
              hasChanges={!isEmpty(draft)}
              filter={filter}
              setFilter={setFilter}
              shown={rows.length}
              all={sorted.length}
              typesThere={typesThere}
              onAdd={() => add(filter.type === '' ? {} : { type: filter.type })}
              onCopy={() => void copyRows(rows)}
            />
            {chosen.size > 0 && (
              <ChosenBar
                count={chosen.size}
                all={rows.length}
                onAll={() =>
                  setChosen(
                    new Set(rows.flatMap(({ key, record }) => (record?.editable === false ? [] : [key]))),
                  )
                }
                onNone={() => setChosen(new Set())}
                onDelete={() => {
                  editor.change((before) => deleteRows(before, [...chosen], byId));
                  setChosen(new Set());
                }}
              />
            )}
            {canEdit && (
              <QuickAddLine
                text={line}
                setText={setLine}
                onAdd={(typed) => editor.change((before) => addRow(before, typed))}
                onLines={paste.review}
              />
            )}
            {paste.isOver && <p class="rec-drop-here">{quickAdd.drop}</p>}
            {sorted.every(({ editable }) => !editable) && draft.creates.length === 0 && (
              <EmptyRecords domain={editor.domain} canEdit={canEdit} />
            )}
            {rows.length > 0 ? (
              <RecordTable
                editor={editor}
                rows={rows}
                problems={problems}
                warnings={warnings}
                conflicts={conflictByKey}
                open={open}
                setOpen={setOpen}
                chosen={chosen}
                choose={(key, isChosen) => setChosen(withKey(chosen, key, isChosen))}
                goTo={goTo}
              />
            ) : (
              sorted.length > 0 && <p class="empty">{records.noMatch}</p>
            )}
            {canEdit && (
              <SaveBar
                editor={editor}
                checked={checked}
                save={save}
                wrong={problems.size}
                marked={wrongKeys.size}
                onShowWrong={() => void showWrong()}
              />
            )}
            {save.isReviewing && <ReviewDialog editor={editor} save={save} checked={checked} />}
          </>
        )}
      </Loading>
    </div>
  );
}

function withKey(keys: ReadonlySet<RowKey>, key: RowKey, isIn: boolean): ReadonlySet<RowKey> {
  const next = new Set(keys);
  if (isIn) next.add(key);
  else next.delete(key);
  return next;
}

/** In an input, the browser's own undo takes precedence. */
function useUndoKeys(undo: (() => void) | undefined, redo: (() => void) | undefined): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping =
        (event.target as HTMLElement).closest('input:not([type=checkbox]), textarea, dialog') !== null;
      if (isTyping || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return;
      const turn = event.shiftKey ? redo : undo;
      if (turn === undefined) return;
      event.preventDefault();
      turn();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [undo, redo]);
}

/** The shown records: the saved ones with the draft applied. */
function copyRows(rows: readonly Row[]): Promise<void> {
  const { name, type, value, ttl, proxied } = records.columns;
  return copyTable(
    [name, type, value, records.fields.comment, ttl, proxied],
    rows.map(({ typed }) => [
      typed.name,
      typed.type,
      [typed.mx_priority, typed.destination].filter(Boolean).join(' '),
      typed.comment,
      typed.ttl,
      typed.proxied ? records.proxied : '',
    ]),
  );
}
