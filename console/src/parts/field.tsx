// A labelled input with its hint and its error, connected for screen readers.

import type {
  AllHTMLAttributes,
  ComponentChildren,
  InputHTMLAttributes,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
}

/** Options without `label`, which is an attribute of other elements. */
type AttributesOf<E extends EventTarget> = Omit<AllHTMLAttributes<E>, 'label' | 'role'>;
type InputProps = FieldProps & AttributesOf<HTMLInputElement>;

export function TextField({ label, hint, problem, ...input }: InputProps) {
  return (
    <Around label={label} hint={hint} problem={problem}>
      {(tied) => <input {...(input as InputHTMLAttributes)} {...tied} />}
    </Around>
  );
}

export function TextArea({ label, hint, problem, ...area }: FieldProps & AttributesOf<HTMLTextAreaElement>) {
  return (
    <Around label={label} hint={hint} problem={problem}>
      {(tied) => <textarea {...(area as TextareaHTMLAttributes)} {...tied} />}
    </Around>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
  /** Shown, but cannot be selected. */
  readonly isShut?: boolean;
}

export function SelectField({
  label,
  hint,
  problem,
  choices,
  ...select
}: FieldProps & { readonly choices: readonly Choice[] } & AttributesOf<HTMLSelectElement>) {
  return (
    <Around label={label} hint={hint} problem={problem}>
      {(tied) => (
        <select {...(select as SelectHTMLAttributes)} {...tied}>
          {choices.map(({ value, label, isShut }) => (
            <option key={value} value={value} disabled={isShut}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Around>
  );
}

export function CheckField({ label, hint, ...input }: InputProps) {
  return (
    <label class="field">
      <input {...({ ...input, type: 'checkbox' } as InputHTMLAttributes)} /> <span>{label}</span>
      {hint !== undefined && <span class="hint">{hint}</span>}
    </label>
  );
}

interface Tied {
  readonly id: string;
  readonly 'aria-invalid'?: 'true' | undefined;
  readonly 'aria-describedby'?: string | undefined;
}

function Around({
  label,
  hint,
  problem,
  children,
}: FieldProps & { readonly children: (tied: Tied) => ComponentChildren }) {
  const id = useId();
  const about = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`];
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {children({
        id,
        ...(problem !== undefined && { 'aria-invalid': 'true' }),
        'aria-describedby': about.filter(Boolean).join(' ') || undefined,
      })}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {problem !== undefined && (
        <span class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}
