// A group of radio buttons with its legend and its error.

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface RadioProps {
  readonly legend: string;
  readonly choices: readonly {
    readonly value: string;
    readonly label: ComponentChildren;
    readonly hint?: string | undefined;
    /** True to use all columns of a grid. */
    readonly isWide?: boolean;
  }[];
  readonly value: string;
  readonly problem?: string | undefined;
  /** True to show the choices in columns. */
  readonly isGrid?: boolean;
  readonly onChange: (value: string) => void;
}

export function RadioField({ legend, choices, value, problem, isGrid = false, onChange }: RadioProps) {
  const id = useId();
  return (
    <fieldset class="mail-choices" aria-describedby={problem === undefined ? undefined : `${id}-problem`}>
      <legend class="label">{legend}</legend>
      <div class={isGrid ? 'mail-grid' : ''}>
        {choices.map((choice) => (
          <label key={choice.value} class={choice.isWide === true ? 'wide' : ''}>
            <input
              type="radio"
              name={id}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            <span>
              {choice.label}
              {choice.hint !== undefined && <span class="quiet mail-hint">{choice.hint}</span>}
            </span>
          </label>
        ))}
      </div>
      {problem !== undefined && (
        <span class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      )}
    </fieldset>
  );
}
