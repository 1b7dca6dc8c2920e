// Filters that are stored in the URL.

import { useEffect, useRef, useState } from 'preact/hooks';
import { usePlace } from '../../app/place.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { operator } from '../../words/operator.ts';

const REST_MS = 250;

interface TextFilterProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'search' | 'date' | 'text';
  /** Pattern of accepted text. Other text is not applied yet. */
  readonly pattern?: RegExp;
}

/** Applies the input after a short pause. */
export function TextFilter({ name, label, hint, type = 'text', pattern }: TextFilterProps) {
  const { query, setQuery } = usePlace();
  const held = query[name] ?? '';
  const [text, setText] = useState(held);
  const latest = useRef(setQuery);
  latest.current = setQuery;
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === held || (wanted !== '' && pattern !== undefined && !pattern.test(wanted))) return;
    const timer = setTimeout(() => latest.current({ [name]: wanted }), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (held !== text.trim()) setText(held);
  }, [held]);
  return (
    <TextField
      label={label}
      placeholder={hint}
      type={type}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}

interface ChoiceFilterProps {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
  /** Label for no selection. */
  readonly first?: string;
}

export function ChoiceFilter({ name, label, choices, first = operator.all }: ChoiceFilterProps) {
  const { query, setQuery } = usePlace();
  return (
    <SelectField
      label={label}
      value={query[name] ?? ''}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
      choices={[{ value: '', label: first }, ...choices.map(([value, label]) => ({ value, label }))]}
    />
  );
}

/** Returns a member of the query if it is one of these values. */
export function oneOf<T extends string>(wanted: string | undefined, values: readonly T[]): T | undefined {
  return values.find((each) => each === wanted);
}

/** Returns the id of an account or domain in the query. */
export function idIn(text: string | undefined): number | undefined {
  return text !== undefined && ID.test(text) ? Number(text) : undefined;
}

export const ID = /^[1-9]\d{0,14}$/;
