// A diff of records: added and removed ones, and changed fields. Marked by signs, text and colours.

import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { records } from '../../words/records.ts';
import type { Difference } from './diff.ts';
import { readableName } from './punycode.ts';
import { summaryOf } from './summary.ts';
import { ttlText } from './ttl.ts';
import type { Field, Typed } from './typed.ts';

const FIRST = 100;

interface DiffProps {
  readonly differences: readonly Difference[];
  readonly label: string;
  /** Maximum number of lines that are shown initially. */
  readonly first?: number;
}

export function DiffList({ differences, label, first = FIRST }: DiffProps) {
  const [shown, setShown] = useState(first);
  return (
    <div class="rec-diff">
      <ul class="plain" aria-label={label}>
        {differences.slice(0, shown).map((difference) => (
          <Line key={difference.key} difference={difference} />
        ))}
      </ul>
      {differences.length > shown && (
        <Button kind="bare" onClick={() => setShown(shown + 10 * FIRST)}>
          {records.moreDifferences(differences.length - shown)}
        </Button>
      )}
    </div>
  );
}

const SIGNS = { create: '+', update: '~', delete: '−' } as const;

function Line({ difference }: { readonly difference: Difference }) {
  const { op, before, after, fields } = difference;
  const shown = after ?? before;
  if (shown === undefined) return null;
  const old = before !== undefined && (fields.includes('name') || fields.includes('type')) ? before : shown;
  return (
    <li class={`rec-diff-line ${op}`}>
      <span class="rec-diff-sign" aria-hidden="true">
        {SIGNS[op]}
      </span>
      <span class="only-read">{records.ops[op]}</span>
      <span class="rec-diff-name">
        {readableName(old.name)} <b>{old.type}</b>
      </span>
      <span class="rec-diff-what">
        {op !== 'update' ? (
          <Whole typed={shown} isGone={op === 'delete'} />
        ) : (
          <Fields {...{ before, after, fields }} />
        )}
      </span>
    </li>
  );
}

function Whole({ typed, isGone }: { readonly typed: Typed; readonly isGone: boolean }) {
  const notes = [
    typed.ttl === '' ? '' : ttlText(typed.ttl),
    typed.proxied ? records.proxied : '',
    typed.comment,
  ].filter((note) => note !== '');
  return (
    <>
      {isGone ? <del>{summaryOf(typed)}</del> : <ins>{summaryOf(typed)}</ins>}
      {notes.length > 0 && <span class="quiet"> {notes.join(' · ')}</span>}
    </>
  );
}

function Fields({ before, after, fields }: Pick<Difference, 'before' | 'after' | 'fields'>) {
  if (before === undefined || after === undefined) return null;
  const isSameValue = !fields.includes('destination');
  return (
    <>
      {isSameValue && <span class="quiet">{summaryOf(after)}</span>}
      {fields.map((field) => (
        <span key={field} class="rec-diff-field">
          <span class="quiet">{records.fields[field]}</span> <del>{valueText(before, field)}</del>{' '}
          <span aria-hidden="true" class="rec-arrow">
            →
          </span>{' '}
          <ins>{valueText(after, field)}</ins>
        </span>
      ))}
    </>
  );
}

export function valueText(typed: Typed, field: Field): string {
  const value = typed[field];
  if (typeof value === 'boolean') return value ? records.yes : records.no;
  if (value === '') return records.none;
  return field === 'ttl' ? ttlText(value) : field === 'name' ? readableName(value) : value;
}
