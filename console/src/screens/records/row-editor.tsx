// The editor of one record, in its row: an input for every field of its type, with errors at the inputs.

import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { records } from '../../words/records.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { ConflictNote } from './conflict-note.tsx';
import { DestinationBoxes } from './destination-boxes.tsx';
import { editRow } from './draft.ts';
import { EdgeBoxes } from './edge-boxes.tsx';
import { fullNameOf } from './owner-name.ts';
import type { SharedRowProps } from './record-row.tsx';
import { COMMON_TTLS, ttlText } from './ttl.ts';
import { canBeProxied, type Field, type RecordType, type Typed, typesWith } from './typed.ts';
import type { Editor } from './use-editor.ts';

interface RowEditorProps extends SharedRowProps {
  readonly editor: Editor;
  readonly measure: (element: HTMLElement | null) => void;
  readonly onDone: () => void;
  readonly onRemove: () => void;
  readonly onUndo: () => void;
}

export function RowEditor(props: RowEditorProps) {
  const { editor, row, index, top, measure, problems = [], warnings = [], conflict } = props;
  const { typed, state, record } = row;
  const say = records;
  const element = useRef<HTMLDivElement>(null);
  const id = useId();
  const { domain } = useDomain();
  useEffect(() => measure(element.current), [measure]);
  const isFixed = !editor.canEdit || record?.editable === false || state === 'deleted';
  const set = (change: Partial<Typed>) => {
    const about = `${row.key} ${Object.keys(change)[0]}`;
    editor.change((draft) => editRow(draft, row.key, record, change), about);
  };
  const problemOf = (field: Field) => problems.find((problem) => problem.field === field)?.message;
  const whole = problems.filter(({ field }) => field === undefined || !isShown(field, typed));

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot be rendered in parts
    <div
      class={`rec-open ${state} ${problems.length > 0 ? 'wrong' : ''}`}
      role="row"
      aria-rowindex={index + 2}
      data-key={row.key}
      tabIndex={props.isActive ? 0 : -1}
      ref={element}
      style={{ top: `${top}px` }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: its inputs take the focus */}
      <div role="gridcell" aria-colspan={6}>
        <form
          aria-label={say.editing(typed.name, typed.type)}
          onSubmit={(event) => {
            event.preventDefault();
            props.onDone();
          }}
        >
          {conflict !== undefined && <ConflictNote editor={editor} conflict={conflict} />}
          {isFixed && (
            <p class="quiet">
              {record?.editable === false
                ? say.managedWhy
                : state === 'deleted'
                  ? say.deletedWhy
                  : say.readOnly}
            </p>
          )}
          <fieldset class="rec-boxes" disabled={isFixed}>
            <legend class="only-read">{say.editing(typed.name, typed.type)}</legend>
            <div class="rec-box-name">
              <TextField
                label={say.fields.name}
                placeholder="@"
                hint={fullNameOf(typed.name, domain.name_unicode)}
                autocomplete="off"
                spellcheck={false}
                value={typed.name}
                problem={problemOf('name')}
                onInput={(event) => set({ name: event.currentTarget.value })}
              />
            </div>
            <div class="rec-box-type field">
              <label class="label" for={id}>
                {say.fields.type}
              </label>
              <select
                id={id}
                value={typed.type}
                aria-invalid={problemOf('type') === undefined ? undefined : 'true'}
                onChange={(event) => set({ type: event.currentTarget.value })}
              >
                {typesWith(typed.type).map((type) => (
                  <option key={type} value={type}>
                    {type} – {say.types[type as RecordType] ?? say.otherType}
                  </option>
                ))}
              </select>
            </div>
            <DestinationBoxes typed={typed} problems={problems} set={set} />
            <div class="rec-box-ttl">
              <TextField
                label={say.fields.ttl}
                list={`${id}-ttls`}
                inputMode="numeric"
                autocomplete="off"
                placeholder={say.ttlDefault}
                hint={typed.ttl === '' ? undefined : ttlText(typed.ttl)}
                value={typed.ttl}
                problem={problemOf('ttl')}
                onInput={(event) => set({ ttl: event.currentTarget.value })}
              />
              <datalist id={`${id}-ttls`}>
                {COMMON_TTLS.map((ttl) => (
                  <option key={ttl} value={ttl}>
                    {ttlText(ttl)}
                  </option>
                ))}
              </datalist>
            </div>
            {canBeProxied(typed.type) && <EdgeBoxes typed={typed} problemOf={problemOf} set={set} />}
            <div class="rec-box-comment">
              <TextField
                label={say.fields.comment}
                hint={say.commentHint}
                value={typed.comment}
                problem={problemOf('comment')}
                onInput={(event) => set({ comment: event.currentTarget.value })}
              />
            </div>
          </fieldset>
          {whole.map(({ message }) => (
            <p key={message} class="problem" role="alert">
              {message}
            </p>
          ))}
          {warnings.map((message) => (
            <p key={message} class="rec-note warn">
              <strong>{say.noteTones.warn}</strong> {message}
            </p>
          ))}
          <div class="row">
            <Button type="submit">{isFixed ? words.common.close : say.done}</Button>
            {state !== 'same' && (
              <Button onClick={props.onUndo}>{state === 'new' ? say.dropRow : say.undoRow}</Button>
            )}
            {!isFixed && state !== 'new' && (
              <Button kind="danger" onClick={props.onRemove}>
                {words.common.delete}
              </Button>
            )}
            {(record?.proxied === true || record?.type === 'ANAME') && (
              <Published content={record.dns_content} />
            )}
          </div>
        </form>
      </div>
    </div>
  );
}

function Published({ content }: { readonly content: string }) {
  return (
    <span class="quiet rec-published">
      {content === '' ? records.publishesNothing : records.publishes(content)}
    </span>
  );
}

/** True if a field of this record has an input that shows its problem. */
function isShown(field: Field, typed: Typed): boolean {
  if (field === 'mx_priority') return typed.type === 'MX';
  if (field === 'proxied') return false;
  const isEdge = ['scheme', 'port', 'host_header', 'timeout', 'dest_country'].includes(field);
  return isEdge
    ? canBeProxied(typed.type) && typed.proxied
    : field !== 'captcha' && field !== 'monitor' && field !== 'type';
}
