// The steps of a process, and the current one.

import { words } from '../words/words.ts';

interface StepsProps {
  readonly label: string;
  readonly titles: readonly string[];
  /** Index of the current step. Their number if all are done. */
  readonly at: number;
}

export function Steps({ label, titles, at }: StepsProps) {
  return (
    <ol class="plain steps" aria-label={label}>
      {titles.map((title, i) => {
        const state = i < at ? 'done' : i === at ? 'now' : 'next';
        return (
          <li key={title} class={state} aria-current={state === 'now' ? 'step' : undefined}>
            <span class="step" aria-hidden="true">
              {state === 'done' ? '✓' : words.figures.grouped(i + 1)}
            </span>
            <span>
              {title} <span class="only-read">({words.common.steps[state]})</span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}
